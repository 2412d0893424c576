//go:build heic

package images_test

import (
	"testing"

	"hasura-storage/actions/images"
)

func TestHEICShowsThePhoto(t *testing.T) {
	want := seen(t, transform(t, "photo_03mp.jpg", images.Spec{Width: 200, Format: images.PNG}))
	res := transform(t, "photo_03mp.heic", images.Spec{Width: 200})
	if res.Format != images.JPEG {
		t.Errorf("it came out as %s", res.Format)
	}
	if d := difference(seen(t, res), want); d > 10 {
		keep(t, "heic", res)
		t.Errorf("%.1f from the photo", d)
	}
}
