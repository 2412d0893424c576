package images_test

import (
	"bytes"
	"errors"
	"testing"

	"hasura-storage/actions/images"
)

func TestAVIFsOfAllKindsShowTheirPicture(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	for _, name := range []string{"avif_irot1.avif", "avif_irot3_imir1.avif", "avif_10bit.avif", "avif_grid.avif"} {
		res := transform(t, name, images.Spec{Format: images.PNG})
		if d := difference(seen(t, res), upright(t)); d > 10 {
			keep(t, name, res)
			t.Errorf("%s is %dx%d, %.1f from the picture", name, res.Width, res.Height, d)
		}
	}
}

func TestAnAVIFThatLiesAboutItsSizeIsRefused(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	src := sample(t, "avif_10bit.avif")
	ispe := []byte("ispe\x00\x00\x00\x00")
	at := bytes.Index(src, ispe) + len(ispe)
	lying := bytes.Clone(src)
	copy(lying[at:], []byte{0, 0, 0, 10, 0, 0, 0, 10})
	l := images.DefaultLimits()
	l.MaxPixels = 400*220 - 1
	if _, err := images.Transform(t.Context(), lying, images.Spec{Width: 5}, l); !errors.Is(err, images.ErrTooLarge) {
		t.Errorf("more pixels than its property says, and than the limit: %v", err)
	}
	l.MaxPixels = 400 * 220
	for _, name := range []string{"avif_10bit.avif", "avif_grid.avif"} {
		if _, err := images.Transform(t.Context(), sample(t, name), images.Spec{Width: 5}, l); err != nil {
			t.Errorf("%s, just within the limit: %v", name, err)
		}
	}
}
