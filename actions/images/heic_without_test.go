//go:build !heic

package images_test

import (
	"errors"
	"strings"
	"testing"

	"hasura-storage/actions/images"
)

func TestHEICIsRefusedByName(t *testing.T) {
	if images.HEIC.Readable() {
		t.Error("HEIC is said to be readable")
	}
	_, err := images.Transform(t.Context(), sample(t, "photo_03mp.heic"), images.Spec{}, images.DefaultLimits())
	if !errors.Is(err, images.ErrNotImage) || !strings.Contains(err.Error(), "heic") {
		t.Error(err)
	}
}
