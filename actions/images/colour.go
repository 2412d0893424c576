package images

import (
	"image"

	"hasura-storage/actions/images/internal/planes"
)

// limitedToFull maps VP8's range, 16 to 235 for luma and 16 to 240 for chroma, to that of JFIF. The standard decoder hands such samples out as
// if they had the full range, which lifts the blacks (golang.org/issue/40173).
var limitedLuma, limitedChroma = rangeTable(16, 255.0/219, 0), rangeTable(128, 255.0/224, 128)

// fullLuma and fullChroma lead back.
var fullLuma, fullChroma = rangeTable(0, 219.0/255, 16), rangeTable(128, 224.0/255, 128)

func rangeTable(from int, gain float64, to int) *[256]uint8 {
	var t [256]uint8
	for i := range t {
		v := float64(i-from)*gain + float64(to) + 0.5
		t[i] = uint8(min(max(v, 0), 255))
	}
	return &t
}

// toFullRange turns vp8 into ycc, in place.
func (p *picture) toFullRange() {
	if p.colours != vp8 {
		return
	}
	p.planes[0].Map(limitedLuma)
	p.planes[1].Map(limitedChroma)
	p.planes[2].Map(limitedChroma)
	p.colours = ycc
}

// yccToRGB is JFIF's conversion with 16 bits of fraction.
func yccToRGB(y, cb, cr uint8) (r, g, b uint8) {
	yy := int32(y)<<16 + 1<<15
	u, v := int32(cb)-128, int32(cr)-128
	return clampByte((yy + 91881*v) >> 16), clampByte((yy - 22554*u - 46802*v) >> 16), clampByte((yy + 116130*u) >> 16)
}

// rgbToYCC is JFIF's conversion the other way.
func rgbToYCC(r, g, b uint8) (y, cb, cr uint8) {
	rr, gg, bb := int32(r), int32(g), int32(b)
	y = uint8((19595*rr + 38470*gg + 7471*bb + 1<<15) >> 16)
	cb = clampByte((-11056*rr - 21712*gg + 32768*bb + 257<<15 - 1) >> 16)
	cr = clampByte((32768*rr - 27440*gg - 5328*bb + 257<<15 - 1) >> 16)
	return y, cb, cr
}

func clampByte(v int32) uint8 {
	if uint32(v) <= 255 {
		return uint8(v)
	}
	return uint8(^(v >> 31))
}

// toRGB changes gray and ycc, whose planes must be of one size, into rgb.
func (p *picture) toRGB() {
	switch p.colours {
	case gray:
		p.planes = []planes.Plane{p.planes[0], p.planes[0].Clone(), p.planes[0].Clone()}
	case ycc:
		p.pixelwise(yccToRGB)
	default:
	}
	p.colours = rgb
}

// toYCC changes rgb without alpha into ycc of one size.
func (p *picture) toYCC() {
	if p.colours == rgb {
		p.pixelwise(rgbToYCC)
		p.colours = ycc
	}
}

// pixelwise replaces the three samples of each pixel, in place.
func (p *picture) pixelwise(f func(a, b, c uint8) (x, y, z uint8)) {
	for y := range p.planes[0].H {
		r0, r1, r2 := p.planes[0].Row(y), p.planes[1].Row(y), p.planes[2].Row(y)
		for x := range r0 {
			r0[x], r1[x], r2[x] = f(r0[x], r1[x], r2[x])
		}
	}
}

// toGray keeps the luma alone. A profile for colours has no meaning afterwards.
func (p *picture) toGray() {
	if p.colours == rgb {
		for y := range p.planes[0].H {
			r0, r1, r2 := p.planes[0].Row(y), p.planes[1].Row(y), p.planes[2].Row(y)
			for x := range r0 {
				r0[x], _, _ = rgbToYCC(r0[x], r1[x], r2[x])
			}
		}
	}
	if p.colours != gray {
		p.profile = nil
	}
	p.colours, p.planes = gray, p.planes[:1]
}

// halveChroma brings ycc to half the chroma resolution, rounded up, if it has the full one.
func (p *picture) halveChroma() {
	w, h := p.size()
	cw, ch := (w+1)/2, (h+1)/2
	for i := 1; i < len(p.planes); i++ {
		if c := p.planes[i]; c.W != cw || c.H != ch {
			p.planes[i] = c.Resample(cw, ch, planes.Box{W: float64(2 * cw), H: float64(2 * ch)}, planes.Triangle())
		}
	}
}

// fromNYCbCrA multiplies the colours by alpha: only so can they be resized without a dark or bright rim.
func fromNYCbCrA(m *image.NYCbCrA) *picture {
	p := newPicture(rgb, m.Rect.Dx(), m.Rect.Dy(), true)
	for y := range p.height {
		red, green, blue, alpha := p.planes[0].Row(y), p.planes[1].Row(y), p.planes[2].Row(y), p.alpha.Row(y)
		for x := range red {
			px, py := m.Rect.Min.X+x, m.Rect.Min.Y+y
			yi, ci := m.YOffset(px, py), m.COffset(px, py)
			r, g, b := yccToRGB(limitedLuma[m.Y[yi]], limitedChroma[m.Cb[ci]], limitedChroma[m.Cr[ci]])
			a := m.A[m.AOffset(px, py)]
			red[x], green[x], blue[x], alpha[x] = times255(r, a), times255(g, a), times255(b, a), a
		}
	}
	return p
}

// inks are the colours of the sixteen ways to print cyan, magenta, yellow and black over each other in full, C the lowest bit, on coated
// paper. What lies between is interpolated, which is how press colours were predicted before profiles (Neugebauer, 1937). Profiles of
// CMYK files are not used.
var inks = [16][3]float64{
	{255, 255, 255}, {0, 174, 239}, {236, 0, 140}, {46, 49, 146}, {255, 242, 0}, {0, 166, 81}, {237, 28, 36}, {54, 54, 57},
	{35, 31, 32}, {0, 15, 24}, {27, 0, 11}, {8, 5, 18}, {32, 28, 0}, {0, 18, 8}, {26, 4, 3}, {0, 0, 0},
}

// fromCMYK converts at full size; such files are rare and, for the web, small.
func fromCMYK(m *image.CMYK) *picture {
	p := newPicture(rgb, m.Rect.Dx(), m.Rect.Dy(), false)
	var last [4]uint8
	r, g, b := printed(last)
	for y := range p.height {
		src := m.Pix[y*m.Stride:]
		red, green, blue := p.planes[0].Row(y), p.planes[1].Row(y), p.planes[2].Row(y)
		for x := range red {
			if now := [4]uint8(src[4*x:]); now != last {
				last = now
				r, g, b = printed(now)
			}
			red[x], green[x], blue[x] = r, g, b
		}
	}
	return p
}

// printed returns the colour of an amount of each ink.
func printed(cmyk [4]uint8) (r, g, b uint8) {
	table := inks
	for i, n := 3, 8; i >= 0; i, n = i-1, n/2 {
		share := float64(cmyk[i]) / 255
		for j := range n {
			for c := range 3 {
				table[j][c] += (table[j+n][c] - table[j][c]) * share
			}
		}
	}
	return uint8(table[0][0] + 0.5), uint8(table[0][1] + 0.5), uint8(table[0][2] + 0.5)
}
