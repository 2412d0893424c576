package baseline_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"hasura-storage/actions/images/internal/baseline"
	"hasura-storage/actions/images/internal/planes"
)

// photo returns a window of a sample as planes, and the same as an image.
func photo(tb testing.TB, w, h int) ([]planes.Plane, *image.YCbCr) {
	tb.Helper()
	b, err := os.ReadFile("../../testdata/photo_03mp.jpg")
	if err != nil {
		tb.Fatal(err)
	}
	m, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	y := m.(*image.YCbCr).SubImage(image.Rect(0, 0, w, h)).(*image.YCbCr)
	cw, ch := (w+1)/2, (h+1)/2
	return []planes.Plane{
		{W: w, H: h, Stride: y.YStride, Pix: y.Y},
		{W: cw, H: ch, Stride: y.CStride, Pix: y.Cb},
		{W: cw, H: ch, Stride: y.CStride, Pix: y.Cr},
	}, y
}

// distance is the root of the mean squared difference of the luma of a file and the original.
func distance(t *testing.T, file []byte, want planes.Plane) float64 {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if m.Bounds().Dx() != want.W || m.Bounds().Dy() != want.H {
		t.Fatalf("decoded as %v, want %dx%d", m.Bounds(), want.W, want.H)
	}
	at := func(x, y int) uint8 { return m.(*image.Gray).GrayAt(x, y).Y }
	if c, ok := m.(*image.YCbCr); ok {
		at = func(x, y int) uint8 { return c.YCbCrAt(x, y).Y }
	}
	sum := 0.0
	for y := range want.H {
		for x, v := range want.Row(y) {
			d := float64(at(x, y)) - float64(v)
			sum += d * d
		}
	}
	return math.Sqrt(sum / float64(want.W*want.H))
}

func TestFilesAreAsGoodAsThoseOfTheStandardLibrary(t *testing.T) {
	for _, quality := range []int{1, 10, 50, 85, 100} {
		p, m := photo(t, 720, 405)
		var std bytes.Buffer
		if err := jpeg.Encode(&std, m, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
		ours := baseline.Encode(p, quality, nil)
		got, want := distance(t, ours, p[0]), distance(t, std.Bytes(), p[0])
		if got > want*1.01+0.01 {
			t.Errorf("quality %d: distance %.3f, image/jpeg's %.3f", quality, got, want)
		}
		if len(ours) > std.Len()+std.Len()/50+64 {
			t.Errorf("quality %d: %d bytes, image/jpeg's file has %d", quality, len(ours), std.Len())
		}
	}
}

func TestEverySizeDecodes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 5}, {8, 8}, {9, 7}, {16, 16}, {17, 19}, {33, 2}, {2, 33}} {
		p, _ := photo(t, size[0], size[1])
		for _, channels := range []int{1, 3} {
			if d := distance(t, baseline.Encode(p[:channels], 95, nil), p[0]); d > 6 {
				t.Errorf("%v with %d channels: distance %.2f", size, channels, d)
			}
		}
	}
}

func TestNoiseSurvives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := planes.New(64, 64)
	for i := range p.Pix {
		p.Pix[i] = uint8(r.IntN(2) * 255)
	}
	if d := distance(t, baseline.Encode([]planes.Plane{p}, 100, nil), p); d > 1.5 {
		t.Errorf("distance %.2f", d)
	}
}

func BenchmarkEncode(b *testing.B) {
	p, m := photo(b, 600, 338)
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			baseline.Encode(p, 85, nil)
		}
	})
	b.Run("image/jpeg", func(b *testing.B) {
		for range b.N {
			var out bytes.Buffer
			jpeg.Encode(&out, m, &jpeg.Options{Quality: 85})
		}
	})
}
