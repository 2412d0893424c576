package images

import (
	"image"
	"image/color"

	"hasura-storage/actions/images/internal/planes"
)

// colours is what the planes of a picture mean.
type colours int

const (
	gray colours = iota // luma
	ycc                 // luma, blue and red difference, as JFIF has them: full range
	rgb                 // red, green, blue; multiplied by alpha, if there is one
	vp8                 // as ycc, with the limited range of VP8; becomes ycc when it is small
)

// picture is decoded pixels, one plane a channel. Chroma planes of ycc may be smaller than luma.
type picture struct {
	colours colours
	planes  []planes.Plane
	alpha   *planes.Plane // only with gray and rgb
	profile []byte        // ICC

	// A freshly decoded picture may be smaller than its file: width and height are the file's, and scale tells for each plane how many
	// samples stand for one of the file's pixels.
	width, height  int
	scaleX, scaleY [3]float64
}

func (p *picture) size() (w, h int) { return p.planes[0].W, p.planes[0].H }

// each calls f for every plane, alpha included, and puts what it returns in its place.
func (p *picture) each(f func(planes.Plane) planes.Plane) {
	for i := range p.planes {
		p.planes[i] = f(p.planes[i])
	}
	if p.alpha != nil {
		a := f(*p.alpha)
		p.alpha = &a
	}
}

// newPicture lays out planes of full size.
func newPicture(c colours, w, h int, alpha bool) *picture {
	n := 3
	if c == gray {
		n = 1
	}
	p := &picture{colours: c, width: w, height: h, scaleX: [3]float64{1, 1, 1}, scaleY: [3]float64{1, 1, 1}}
	for range n {
		p.planes = append(p.planes, planes.New(w, h))
	}
	if alpha {
		a := planes.New(w, h)
		p.alpha = &a
	}
	return p
}

// fromImage takes a decoded picture apart. It drops an alpha channel that is opaque everywhere.
func fromImage(m image.Image) *picture {
	switch m := m.(type) {
	case *image.Gray:
		return fromGray(m.Pix, m.Stride, 1, m.Rect)
	case *image.Gray16:
		return fromGray(m.Pix, m.Stride, 2, m.Rect)
	case *image.YCbCr:
		return fromYCbCr(m)
	case *image.NYCbCrA:
		return fromNYCbCrA(m)
	case *image.RGBA:
		return fromPixels(m.Pix, m.Stride, 1, m.Rect, false)
	case *image.NRGBA:
		return fromPixels(m.Pix, m.Stride, 1, m.Rect, true)
	case *image.RGBA64:
		return fromPixels(m.Pix, m.Stride, 2, m.Rect, false)
	case *image.NRGBA64:
		return fromPixels(m.Pix, m.Stride, 2, m.Rect, true)
	case *image.Paletted:
		return fromPalette(m)
	case *image.CMYK:
		return fromCMYK(m)
	}
	return fromAny(m)
}

// fromGray reads samples of the given number of bytes, of which the first is the high one.
func fromGray(pix []uint8, stride, bytes int, r image.Rectangle) *picture {
	p := newPicture(gray, r.Dx(), r.Dy(), false)
	for y := range r.Dy() {
		src, dst := pix[y*stride:], p.planes[0].Row(y)
		for x := range dst {
			dst[x] = src[x*bytes]
		}
	}
	return p
}

// fromYCbCr shares the samples of m.
func fromYCbCr(m *image.YCbCr) *picture {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	rx, ry := chromaStep(m.SubsampleRatio)
	cw, ch := (w+rx-1)/rx, (h+ry-1)/ry
	return &picture{colours: ycc, width: w, height: h,
		planes: []planes.Plane{
			{W: w, H: h, Stride: m.YStride, Pix: m.Y},
			{W: cw, H: ch, Stride: m.CStride, Pix: m.Cb},
			{W: cw, H: ch, Stride: m.CStride, Pix: m.Cr}},
		scaleX: [3]float64{1, 1 / float64(rx), 1 / float64(rx)},
		scaleY: [3]float64{1, 1 / float64(ry), 1 / float64(ry)},
	}
}

// chromaStep returns how many pixels share a chroma sample, each way.
func chromaStep(r image.YCbCrSubsampleRatio) (x, y int) {
	switch r {
	case image.YCbCrSubsampleRatio422:
		return 2, 1
	case image.YCbCrSubsampleRatio420:
		return 2, 2
	case image.YCbCrSubsampleRatio440:
		return 1, 2
	case image.YCbCrSubsampleRatio411:
		return 4, 1
	case image.YCbCrSubsampleRatio410:
		return 4, 2
	default:
		return 1, 1
	}
}

// fromPixels reads pixels of four samples of the given number of bytes. straight tells that colours are not yet multiplied by alpha.
func fromPixels(pix []uint8, stride, bytes int, r image.Rectangle, straight bool) *picture {
	p := newPicture(rgb, r.Dx(), r.Dy(), true)
	opaque := uint8(255)
	for y := range r.Dy() {
		src := pix[y*stride:]
		red, green, blue, alpha := p.planes[0].Row(y), p.planes[1].Row(y), p.planes[2].Row(y), p.alpha.Row(y)
		for x := range red {
			s := src[4*x*bytes:]
			a := s[3*bytes]
			opaque &= a
			red[x], green[x], blue[x], alpha[x] = s[0], s[bytes], s[2*bytes], a
			if straight && a != 255 {
				red[x], green[x], blue[x] = times255(s[0], a), times255(s[bytes], a), times255(s[2*bytes], a)
			}
		}
	}
	if opaque == 255 {
		p.alpha = nil
	}
	return p
}

// times255 multiplies two fractions of 255.
func times255(v, a uint8) uint8 {
	n := uint32(v)*uint32(a) + 127
	return uint8(n / 255)
}

func fromPalette(m *image.Paletted) *picture {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	var table [256]color.RGBA
	opaque := true
	for i, c := range m.Palette {
		r, g, b, a := c.RGBA()
		table[i&255] = color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: uint8(a >> 8)}
		opaque = opaque && a>>8 == 255
	}
	p := newPicture(rgb, w, h, !opaque)
	for y := range h {
		for x, i := range m.Pix[y*m.Stride : y*m.Stride+w] {
			c := table[i]
			p.planes[0].Row(y)[x], p.planes[1].Row(y)[x], p.planes[2].Row(y)[x] = c.R, c.G, c.B
			if !opaque {
				p.alpha.Row(y)[x] = c.A
			}
		}
	}
	return p
}

// fromAny is for kinds of images that no decoder of ours returns today.
func fromAny(m image.Image) *picture {
	r := m.Bounds()
	n := image.NewRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	for y := range r.Dy() {
		for x := range r.Dx() {
			n.Set(x, y, m.At(r.Min.X+x, r.Min.Y+y))
		}
	}
	return fromImage(n)
}
