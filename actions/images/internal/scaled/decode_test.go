package scaled_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"testing"

	"hasura-storage/actions/images/internal/planes"
	"hasura-storage/actions/images/internal/scaled"
)

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	return file(tb, filepath.Join("../../testdata", name))
}

func file(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// standard decodes with image/jpeg and returns the planes of the result.
func standard(tb testing.TB, src []byte) []planes.Plane {
	tb.Helper()
	m, err := jpeg.Decode(bytes.NewReader(src))
	if err != nil {
		tb.Fatal(err)
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
	tb.Fatalf("image/jpeg gave a %T", m)
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

// foreign are the samples that this decoder leaves to another.
var foreign = map[string]bool{"cmyk.jpg": true, "rgb.jpg": true, "arithmetic.jpg": true}

// damagedSamples are no JPEG files, or cut off.
var damagedSamples = map[string]bool{"empty.jpg": true, "text_named.jpg": true, "truncated.jpg": true}

func samples(tb testing.TB) []string {
	tb.Helper()
	var out []string
	for _, pattern := range []string{"../../testdata/*.jpg", "testdata/*.jpg"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			tb.Fatalf("no samples for %s: %v", pattern, err)
		}
		out = append(out, names...)
	}
	return out
}

func TestFullDecodeIsThatOfTheStandardLibrary(t *testing.T) {
	for _, path := range samples(t) {
		name := filepath.Base(path)
		if foreign[name] || damagedSamples[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			src := file(t, path)
			got, err := scaled.Decode(context.Background(), src, scaled.Options{Denominator: 1})
			if err != nil {
				t.Fatal(err)
			}
			if standardFailsOn[name] {
				return
			}
			sameSamples(t, got.Planes, standard(t, src))
		})
	}
}

// standardFailsOn lists valid files that image/jpeg does not decode rightly: it counts the restart intervals of scans with one component in
// units of several.
var standardFailsOn = map[string]bool{"noninterleaved_restart.jpg": true, "restart_progressive.jpg": true}

func TestUnknownKindsAndDamageAreToldApart(t *testing.T) {
	for _, path := range samples(t) {
		name := filepath.Base(path)
		want := scaled.ErrUnsupported
		if damagedSamples[name] {
			want = scaled.ErrDamaged
		}
		if foreign[name] || damagedSamples[name] {
			if _, err := scaled.Decode(context.Background(), file(t, path), scaled.Options{Denominator: 1}); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	}
}

func TestForeignKindsAreKnownByTheirHeader(t *testing.T) {
	for _, path := range samples(t) {
		if name := filepath.Base(path); !damagedSamples[name] && scaled.Handles(file(t, path)) == foreign[name] {
			t.Errorf("%s: foreign %v", name, !foreign[name])
		}
	}
}

// TestSmallDecodesLookLikeTheWhole compares a decode at a fraction with the mean of the full decode's samples.
func TestSmallDecodesLookLikeTheWhole(t *testing.T) {
	for _, path := range samples(t) {
		name := filepath.Base(path)
		if foreign[name] || damagedSamples[name] {
			continue
		}
		src := file(t, path)
		if len(src) > 1<<20 {
			continue // nothing new, and slow
		}
		whole, err := scaled.Decode(context.Background(), src, scaled.Options{Denominator: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []int{2, 4, 8} {
			small, err := scaled.Decode(context.Background(), src, scaled.Options{Denominator: d})
			if err != nil {
				t.Fatalf("%s at 1/%d: %v", name, d, err)
			}
			for i, p := range small.Planes {
				full := whole.Planes[i]
				if p.W != (full.W+d-1)/d || p.H != (full.H+d-1)/d {
					t.Fatalf("%s at 1/%d: plane %d is %dx%d of %dx%d", name, d, i, p.W, p.H, full.W, full.H)
				}
				if far := farFromMean(p, full, d); far > 12 {
					t.Errorf("%s at 1/%d: plane %d is %.1f off", name, d, i, far)
				}
			}
		}
	}
}

// farFromMean is the mean difference between the samples of p and the means of the squares of full that they stand for, where these are whole.
func farFromMean(p, full planes.Plane, d int) float64 {
	sum, n := 0.0, 0
	for y := range full.H / d {
		for x := range full.W / d {
			mean := 0.0
			for j := range d {
				for i := range d {
					mean += float64(full.Row(y*d + j)[x*d+i])
				}
			}
			sum += math.Abs(mean/float64(d*d) - float64(p.Row(y)[x]))
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func TestEveryCutIsRefused(t *testing.T) {
	for _, name := range []string{"base_2x2_17x19.jpg", "prog_2x2_17x19.jpg", "restart_blocks.jpg"} {
		src := file(t, "testdata/"+name)
		for n := range len(src) - 1 {
			if _, err := scaled.Decode(context.Background(), src[:n], scaled.Options{Denominator: 1}); err == nil {
				t.Fatalf("%s: the first %d of %d bytes decode", name, n, len(src))
			}
		}
	}
}

func TestAnEndedContextEndsADecode(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"photo_3mp.jpg", "photo_3mp_progressive.jpg"} {
		if _, err := scaled.Decode(ctx, sample(t, name), scaled.Options{Denominator: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pixels is the size that the first frame header of a file claims.
func pixels(src []byte) int {
	for s := scaled.NewSegments(src); ; {
		m, body, err := s.Next()
		if err != nil {
			return 0
		}
		if m >= scaled.SOF0 && m <= scaled.SOF2 && len(body) > 5 {
			return (int(body[1])<<8 | int(body[2])) * (int(body[3])<<8 | int(body[4]))
		}
	}
}

// FuzzDecode looks for panics, and for files that decode here in other samples than in the standard library.
func FuzzDecode(f *testing.F) {
	for _, path := range samples(f) {
		if b := file(f, path); len(b) < 4000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < 4 || pixels(src) > 1<<16 || scaled.Scans(src, 30) >= 30 {
			return
		}
		for _, d := range []int{8, 4, 2} {
			scaled.Decode(context.Background(), src, scaled.Options{Denominator: d, FullChroma: d == 2})
		}
		got, err := scaled.Decode(context.Background(), src, scaled.Options{Denominator: 1})
		if err != nil {
			return
		}
		if m, err := jpeg.Decode(bytes.NewReader(src)); err == nil && got.Width != m.Bounds().Dx() {
			t.Errorf("%d wide, image/jpeg says %d", got.Width, m.Bounds().Dx())
		}
	})
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
