package scaled_test

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"hasura-storage/actions/images/internal/planes"
	"hasura-storage/actions/images/internal/scaled"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// standard decodes with image/jpeg and returns the planes of the result.
func standard(t testing.TB, src []byte) []planes.Plane {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	b := m.Bounds()
	switch m := m.(type) {
	case *image.Gray:
		return []planes.Plane{{W: b.Dx(), H: b.Dy(), Stride: m.Stride, Pix: m.Pix}}
	case *image.YCbCr:
		y := planes.Plane{W: b.Dx(), H: b.Dy(), Stride: m.YStride, Pix: m.Y}
		one := image.NewYCbCr(b, m.SubsampleRatio)
		cw, ch := one.CStride, len(one.Cb)/one.CStride
		return []planes.Plane{y, {W: cw, H: ch, Stride: m.CStride, Pix: m.Cb}, {W: cw, H: ch, Stride: m.CStride, Pix: m.Cr}}
	}
	t.Fatalf("image/jpeg gave a %T", m)
	return nil
}

func sameSamples(t *testing.T, got, want []planes.Plane) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d planes, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].W != want[i].W || got[i].H != want[i].H {
			t.Fatalf("plane %d is %dx%d, want %dx%d", i, got[i].W, got[i].H, want[i].W, want[i].H)
		}
		for y := range want[i].H {
			if !bytes.Equal(got[i].Row(y), want[i].Row(y)) {
				t.Fatalf("plane %d differs in row %d", i, y)
			}
		}
	}
}

func TestFullDecodeIsThatOfTheStandardLibrary(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/*.jpg")
	for _, path := range names {
		name := filepath.Base(path)
		switch name {
		case "empty.jpg", "text_named.jpg", "truncated.jpg", "cmyk.jpg":
			continue
		}
		t.Run(name, func(t *testing.T) {
			src := sample(t, name)
			got, err := scaled.Decode(context.Background(), src, scaled.Options{Denominator: 1})
			if err != nil {
				t.Fatal(err)
			}
			sameSamples(t, got.Planes, standard(t, src))
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"photo_12mp.jpg", "photo_3mp.jpg", "seeding_16mp_progressive.jpg"} {
		src := sample(b, name)
		for _, d := range []int{1, 2, 4, 8} {
			b.Run(name+"/"+string(rune('0'+d)), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					if _, err := scaled.Decode(context.Background(), src, scaled.Options{Denominator: d}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(name+"/std", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				standard(b, src)
			}
		})
	}
}
