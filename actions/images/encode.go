package images

import (
	"bytes"
	"fmt"
	"image"
	"image/png"

	"hasura-storage/actions/images/internal/baseline"
	"hasura-storage/actions/images/internal/planes"
)

// encode writes the picture in the given format, with its profile where the format can hold one.
func (p *picture) encode(f Format, quality int) ([]byte, error) {
	if quality == 0 {
		quality = f.DefaultQuality()
	}
	switch f {
	case JPEG:
		return p.encodeJPEG(quality)
	case PNG:
		return p.encodePNG()
	case WebP:
		return p.encodeWebP(quality)
	case AVIF:
		return encodeAVIF(p.rgba(), quality)
	case GIF:
		return p.encodeGIF()
	default:
	}
	return nil, fmt.Errorf("%w: format %q cannot be written", ErrInvalidSpec, f)
}

func (p *picture) encodeJPEG(quality int) ([]byte, error) {
	p.toYCC()
	p.halveChroma()
	return baseline.Encode(p.planes, quality, jpegProfile(p.profile)), nil
}

func (p *picture) encodePNG() ([]byte, error) {
	w, h := p.size()
	var m image.Image
	if p.colours == gray && p.alpha == nil {
		m = &image.Gray{Pix: p.planes[0].Pix, Stride: p.planes[0].Stride, Rect: image.Rect(0, 0, w, h)}
	} else {
		m = p.nrgba()
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, m); err != nil {
		return nil, err
	}
	return pngWithProfile(out.Bytes(), p.profile), nil
}

// encodeWebP hands the encoder planes in VP8's own form, or straight pixels where some are transparent.
func (p *picture) encodeWebP(quality int) ([]byte, error) {
	w, h := p.size()
	var m image.Image
	if p.alpha != nil {
		m = p.nrgba()
	} else {
		m = p.nyCbCrA()
	}
	out, err := encodeWebP(m, quality)
	if err != nil || p.profile == nil || p.colours == gray {
		return out, err
	}
	return webpWithProfile(out, p.profile, w, h, p.alpha != nil), nil
}

// nyCbCrA lays the planes into one piece of memory, as the encoder wants them, opaque, in VP8's range.
func (p *picture) nyCbCrA() *image.NYCbCrA {
	w, h := p.size()
	m := image.NewNYCbCrA(image.Rect(0, 0, w, h), image.YCbCrSubsampleRatio420)
	for i := range m.A {
		m.A[i] = 255
	}
	p.toYCC()
	p.halveChroma()
	pack(m.Y, p.planes[0], fullLuma)
	if p.colours == gray {
		fill(m.Cb, 128)
		fill(m.Cr, 128)
		return m
	}
	pack(m.Cb, p.planes[1], fullChroma)
	pack(m.Cr, p.planes[2], fullChroma)
	return m
}

func pack(dst []uint8, src planes.Plane, table *[256]uint8) {
	for y := range src.H {
		row := dst[y*src.W:]
		for x, v := range src.Row(y) {
			row[x] = table[v]
		}
	}
}

func fill(dst []uint8, v uint8) {
	for i := range dst {
		dst[i] = v
	}
}

// rgba joins the planes; colours are multiplied by alpha.
func (p *picture) rgba() *image.RGBA {
	w, h := p.size()
	p.fullSize()
	p.toRGB()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		dst := m.Pix[y*m.Stride : y*m.Stride+4*w]
		red, green, blue := p.planes[0].Row(y), p.planes[1].Row(y), p.planes[2].Row(y)
		for x := range red {
			d := dst[4*x : 4*x+4 : 4*x+4]
			d[0], d[1], d[2], d[3] = red[x], green[x], blue[x], 255
		}
		if p.alpha != nil {
			for x, a := range p.alpha.Row(y) {
				d := dst[4*x : 4*x+4 : 4*x+4]
				d[0], d[1], d[2], d[3] = min(d[0], a), min(d[1], a), min(d[2], a), a
			}
		}
	}
	return m
}

// nrgba joins the planes and divides the colours by alpha.
func (p *picture) nrgba() *image.NRGBA {
	m := p.rgba()
	if p.alpha != nil {
		for i := 0; i < len(m.Pix); i += 4 {
			straighten(m.Pix[i : i+4 : i+4])
		}
	}
	return &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
}

func straighten(px []uint8) {
	a := uint32(px[3])
	if a == 0 || a == 255 {
		return
	}
	for c := range 3 {
		px[c] = uint8(min(255, (uint32(px[c])*255+a/2)/a))
	}
}

// fullSize brings chroma to the size of luma in a picture of the result's size.
func (p *picture) fullSize() {
	if p.colours == ycc {
		w, h := p.size()
		p.width, p.height = w, h
		if p.planes[1].W != w || p.planes[1].H != h {
			p.scaleX, p.scaleY = [3]float64{1, .5, .5}, [3]float64{1, .5, .5}
			p.fullChroma()
		}
	}
}
