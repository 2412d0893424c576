package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"hasura-storage/actions/images/internal/planes"
	"hasura-storage/actions/images/internal/scaled"
)

// source is a picture that passed the limits and waits to be decoded.
type source struct {
	ctx    context.Context //nolint:containedctx // a source lives for one call
	src    []byte
	info   Info
	limits Limits
	// shrink is how many of the file's pixels will go into one of the result: a decoder may take that as leave to decode smaller.
	shrink float64
	// fullChroma tells that the result will not subsample chroma.
	fullChroma bool
}

// decode returns the picture as it lies in the file.
func (s source) decode() (p *picture, err error) {
	switch s.info.Format {
	case JPEG:
		p, err = s.jpeg()
	case PNG:
		p, err = s.image(png.Decode)
	case GIF:
		p, err = s.image(s.firstFrame)
	case WebP:
		p, err = s.webp()
	case AVIF:
		p, err = s.avif()
	case HEIC:
		p, err = s.heic()
	default:
		return nil, ErrNotImage
	}
	if err != nil {
		return nil, s.explain(err)
	}
	if w, h := s.info.stored(); p.width != w || p.height != h {
		return nil, fmt.Errorf("%w: the header says %dx%d, the pixels are %dx%d", ErrDamaged, w, h, p.width, p.height)
	}
	p.profile = s.info.profile
	if s.info.packed != nil {
		p.profile = inflateProfile(s.info.packed)
	}
	return p, nil
}

// explain makes one of our errors of a decoder's.
func (s source) explain(err error) error {
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.Is(err, ErrNotImage) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file ends early (truncated)", damaged(s.info.Format, err))
	}
	return damaged(s.info.Format, err)
}

// jpeg decodes no larger than necessary. The header decides whether it is left to the standard decoder, which needs far more memory: a file that turns out to
// be damaged must not get there.
func (s source) jpeg() (*picture, error) {
	if n := scaled.Scans(s.src, s.limits.MaxScans+1); n > s.limits.MaxScans {
		return nil, fmt.Errorf("%w: more than the maximum of %d scans", ErrTooLarge, s.limits.MaxScans)
	}
	if s.info.foreign {
		return s.image(jpeg.Decode)
	}
	m, err := scaled.Decode(s.ctx, s.src, scaled.Options{Denominator: denominator(s.shrink), FullChroma: s.fullChroma})
	if err != nil {
		return nil, err
	}
	p := &picture{colours: gray, planes: m.Planes, width: m.Width, height: m.Height, scaleX: m.ScaleX, scaleY: m.ScaleY}
	if len(m.Planes) == 3 {
		p.colours = ycc
	}
	return p, nil
}

// leastShrink is what must be left for the resize to do after a scaled decode: with less the result gets visibly softer than from the full one.
const leastShrink = 1.7

// denominator returns by how much a JPEG can be decoded smaller.
func denominator(shrink float64) int {
	for d := 8; d > 1; d /= 2 {
		if shrink/float64(d) >= leastShrink {
			return d
		}
	}
	return 1
}

// image decodes with a decoder for one format.
func (s source) image(decode func(io.Reader) (image.Image, error)) (*picture, error) {
	m, err := decode(bytes.NewReader(s.src))
	if err != nil {
		return nil, err
	}
	if s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	return fromImage(m), nil
}

// firstFrame places the first frame of a GIF on its screen. Those behind it are not decoded, but must be there.
func (s source) firstFrame(r io.Reader) (image.Image, error) {
	if !s.info.ended {
		return nil, io.ErrUnexpectedEOF
	}
	frame, err := gif.Decode(r)
	if err != nil {
		return nil, err
	}
	screen := image.NewRGBA(image.Rect(0, 0, s.info.Width, s.info.Height))
	draw.Draw(screen, frame.Bounds(), frame, frame.Bounds().Min, draw.Over)
	return screen, nil
}

// webp decodes a still WebP, or the first frame of an animated one.
func (s source) webp() (*picture, error) {
	src, at, err := stillWebP(s.src, s.info)
	if err != nil {
		return nil, err
	}
	m, err := webp.Decode(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	p := fromImage(m)
	if p.colours == ycc {
		p.colours = vp8
	}
	if w, h := s.info.stored(); p.width != w || p.height != h {
		return p.onCanvas(w, h, at), nil
	}
	return p, nil
}

// onCanvas places a picture on a transparent one.
func (p *picture) onCanvas(w, h int, at image.Point) *picture {
	p.fullChroma()
	p.toRGB()
	out := newPicture(rgb, w, h, true)
	for i := range out.planes {
		out.planes[i].Paste(p.planes[i], at.X, at.Y)
	}
	if p.alpha == nil {
		a := planes.New(p.width, p.height)
		a.Fill(255)
		p.alpha = &a
	}
	out.alpha.Paste(*p.alpha, at.X, at.Y)
	return out
}

// fullChroma brings the chroma planes to the size of luma.
func (p *picture) fullChroma() {
	p.toFullRange()
	w, h := p.size()
	for i := 1; i < len(p.planes); i++ {
		if c := p.planes[i]; c.W != w || c.H != h {
			box := planes.Box{W: float64(p.width) * p.scaleX[i], H: float64(p.height) * p.scaleY[i]}
			p.planes[i] = c.Resample(w, h, box, planes.Triangle())
		}
	}
}

func (s source) avif() (*picture, error) {
	if err := checkAVIF(s.src, s.info.coded, s.limits.MaxPixels); err != nil {
		return nil, err
	}
	return s.image(decodeAVIF)
}

func (s source) heic() (*picture, error) {
	if heicDecode == nil {
		return nil, fmt.Errorf("%w: this program does not decode heic; it reads jpeg, png, webp, gif and avif", ErrNotImage)
	}
	m, err := heicDecode(s.src)
	if err != nil {
		return nil, err
	}
	return fromImage(m), nil
}
