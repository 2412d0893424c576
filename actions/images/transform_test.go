package images_test

import (
	"bytes"
	"context"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"testing"

	"hasura-storage/actions/images"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// transform fails the test on an error, and on a result that is not what it says.
func transform(t testing.TB, name string, s images.Spec) images.Result {
	t.Helper()
	res, err := images.Transform(context.Background(), sample(t, name), s, images.DefaultLimits())
	if err != nil {
		t.Fatalf("%s as %s: %v", name, s.Canonical(), err)
	}
	if info, err := images.Probe(res.Bytes); err != nil || info.Width != res.Width || info.Height != res.Height || info.Format != res.Format {
		t.Fatalf("%s as %s: result says %dx%d %s, its header %dx%d %s (%v)", name, s.Canonical(), res.Width, res.Height, res.Format, info.Width, info.Height, info.Format, err)
	}
	return res
}

func decoded(t testing.TB, b []byte) image.Image {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEveryKindComesOutInEveryFormat(t *testing.T) {
	for _, name := range kinds(t) {
		for _, f := range []images.Format{images.Same, images.JPEG, images.PNG, images.WebP, images.GIF, images.AVIF} {
			if f == images.AVIF && testing.Short() {
				continue
			}
			res := transform(t, name, images.Spec{Width: 100, Format: f})
			if want := 100; res.Width != want && name != "one_pixel.png" {
				t.Errorf("%s as %s is %d wide, want %d", name, f, res.Width, want)
			}
			if dir := os.Getenv("IMAGES_OUT"); dir != "" {
				os.WriteFile(filepath.Join(dir, name+"_"+string(f)+"."+string(res.Format)), res.Bytes, 0o644)
			}
		}
	}
}

// kinds returns the samples that can be transformed.
func kinds(t testing.TB) []string {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".jpg", ".png", ".webp", ".gif", ".avif":
		default:
			continue
		}
		switch e.Name() {
		case "empty.jpg", "text_named.jpg", "truncated.jpg", "bomb_30000x30000.png":
			continue
		}
		out = append(out, e.Name())
	}
	return out
}
