package images_test

import (
	"bytes"
	"context"
	"errors"
	"image/gif"
	"testing"

	"hasura-storage/actions/images"
)

// FuzzTransform looks for panics, for errors that say nothing, and for results that are not what they say. The WebAssembly codecs are left out: they are
// slow, and sandboxed.
func FuzzTransform(f *testing.F) {
	for _, name := range kinds(f) {
		if b := sample(f, name); len(b) < 20000 && images.Sniff(b) != images.AVIF {
			f.Add(b, "i1_w20")
			f.Add(b, "i1_w30_h20_gsmart_ojpeg_r90_k00ff0080_n3")
		}
	}
	f.Add(squares(f, 3), "i1_w10_b1.5_s2_r33")
	l := images.DefaultLimits()
	l.MaxPixels, l.MaxOutputPixels, l.MaxFramePixels = 1<<18, 1<<18, 1<<18
	f.Fuzz(func(t *testing.T, src []byte, text string) {
		s, err := images.ParseCanonical(text)
		if f := images.Sniff(src); err != nil || f == images.AVIF || f == images.HEIC || s.Format == images.WebP || s.Format == images.AVIF {
			return
		}
		if s.Format == images.Same && images.Sniff(src) == images.WebP {
			s.Format = images.PNG
		}
		res, err := images.Transform(context.Background(), src, s, l)
		if err != nil {
			for _, want := range []error{images.ErrNotImage, images.ErrTooLarge, images.ErrDamaged, images.ErrInvalidSpec} {
				if errors.Is(err, want) {
					return
				}
			}
			t.Fatalf("%s: %v", text, err)
		}
		if info, err := images.Probe(res.Bytes); err != nil || info.Width != res.Width || info.Height != res.Height {
			t.Fatalf("%s: %+v (%v), says %dx%d", text, info, err, res.Width, res.Height)
		}
	})
}

// FuzzProbe looks for panics in the readers of headers, of AVIF's in particular, and for frames of a GIF that the decoder finds and the count does not.
func FuzzProbe(f *testing.F) {
	for _, name := range kinds(f) {
		b := sample(f, name)
		f.Add(b[:min(len(b), 3000)])
	}
	f.Add(squares(f, gif.DisposalNone))
	f.Fuzz(func(t *testing.T, src []byte) {
		info, err := images.Probe(src)
		if err != nil {
			return
		}
		if info.Width <= 0 || info.Height <= 0 || info.Orientation < 1 || info.Orientation > 8 {
			t.Errorf("%+v", info)
		}
		if images.Cost(info, images.Spec{Width: 100}) <= 0 {
			t.Error("it costs nothing")
		}
		if info.Format != images.GIF || info.Width*info.Height > 1<<14 || len(src) > 1<<14 {
			return
		}
		if g, err := gif.DecodeAll(bytes.NewReader(src)); err == nil && len(g.Image) > info.Frames {
			t.Errorf("%d frames are decoded, %d counted", len(g.Image), info.Frames)
		}
	})
}
