package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"strings"

	"github.com/disintegration/imaging"

	"hasura-storage/actions/images"
)

// plain is what a Go program does that knows only the standard library and imaging.
func plain(src []byte, s images.Spec) ([]byte, error) {
	m, err := decode(src)
	if err != nil {
		return nil, err
	}
	m = imaging.Resize(m, s.Width, 0, imaging.Lanczos)
	var out bytes.Buffer
	if s.Format == images.PNG {
		err = png.Encode(&out, m)
	} else {
		err = jpeg.Encode(&out, m, &jpeg.Options{Quality: max(s.Quality, images.JPEG.DefaultQuality())})
	}
	return out.Bytes(), err
}

func decode(src []byte) (image.Image, error) {
	if images.Sniff(src) == images.PNG {
		return png.Decode(bytes.NewReader(src))
	}
	return jpeg.Decode(bytes.NewReader(src))
}

// likeness returns the structural similarity of results, the files behind the first, to a resize of the whole first file that was never encoded.
func likeness(s images.Spec, files []string) string {
	b, err := os.ReadFile(files[0])
	if err != nil {
		return "–"
	}
	whole, err := decode(b)
	if err != nil {
		return "–"
	}
	reference := luma(imaging.Resize(whole, s.Width, 0, imaging.Lanczos))
	var out []string
	for _, name := range files[1:] {
		m, err := result(name)
		if err != nil || m.Bounds() != reference.Bounds() {
			out = append(out, "–")
			continue
		}
		out = append(out, fmt.Sprintf("%.4f", ssim(luma(m), reference)))
	}
	return strings.Join(out, ", ")
}

// result decodes what a candidate made, as a viewer would: WebP by way of this package, which gets its colours right.
func result(name string) (image.Image, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	res, err := images.Transform(context.Background(), b, images.Spec{Format: images.PNG}, images.DefaultLimits())
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(res.Bytes))
}

func luma(m image.Image) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(g, g.Rect, m, m.Bounds().Min, draw.Src)
	return g
}

// ssim is the mean structural similarity over windows of 8x8 pixels, 4 apart.
func ssim(a, b *image.Gray) float64 {
	const side, step = 8, 4
	sum, n := 0.0, 0
	for y := 0; y+side <= a.Rect.Dy(); y += step {
		for x := 0; x+side <= a.Rect.Dx(); x += step {
			sum += window(a, b, x, y, side)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func window(a, b *image.Gray, x0, y0, side int) float64 {
	var sa, sb, saa, sbb, sab float64
	for y := y0; y < y0+side; y++ {
		for x := x0; x < x0+side; x++ {
			va, vb := float64(a.Pix[y*a.Stride+x]), float64(b.Pix[y*b.Stride+x])
			sa, sb, saa, sbb, sab = sa+va, sb+vb, saa+va*va, sbb+vb*vb, sab+va*vb
		}
	}
	n := float64(side * side)
	ma, mb := sa/n, sb/n
	va, vb, cov := saa/n-ma*ma, sbb/n-mb*mb, sab/n-ma*mb
	const c1, c2 = 6.5025, 58.5225
	return (2*ma*mb + c1) * (2*cov + c2) / ((ma*ma + mb*mb + c1) * (va + vb + c2))
}
