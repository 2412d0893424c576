package images_test

import (
	"bytes"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"testing"

	"github.com/disintegration/imaging"

	"hasura-storage/actions/images"
)

// upright is the picture that most samples were made of.
func upright(tb testing.TB) image.Image {
	tb.Helper()
	return pngOf(tb, sample(tb, "rgb.png"))
}

func pngOf(tb testing.TB, b []byte) image.Image {
	tb.Helper()
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// seen decodes a result as a browser would, straight from its bytes where the standard library can.
func seen(tb testing.TB, res images.Result) image.Image {
	tb.Helper()
	var m image.Image
	var err error
	switch res.Format {
	case images.JPEG:
		m, err = jpeg.Decode(bytes.NewReader(res.Bytes))
	case images.GIF:
		m, err = gif.Decode(bytes.NewReader(res.Bytes))
	case images.PNG:
		m, err = png.Decode(bytes.NewReader(res.Bytes))
	default:
		m = pngOf(tb, transformed(tb, res.Bytes, images.Spec{Format: images.PNG}).Bytes)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// onWhite is a picture as seen on a white page.
func onWhite(m image.Image) *image.RGBA {
	b := m.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, m, b.Min, draw.Over)
	return out
}

// difference is the root of the mean squared difference of two pictures on white, over all samples; infinite if their sizes differ.
func difference(a, b image.Image) float64 {
	if a.Bounds().Size() != b.Bounds().Size() {
		return math.Inf(1)
	}
	x, y := onWhite(a), onWhite(b)
	sum := 0.0
	for i := range x.Pix {
		d := float64(x.Pix[i]) - float64(y.Pix[i])
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(x.Pix)*3/4))
}

// tolerance is how far a result may be from a reference that was made otherwise and not encoded, by its format.
var tolerance = map[images.Format]float64{images.JPEG: 8, images.PNG: 4, images.WebP: 8, images.AVIF: 10, images.GIF: 12}

// cases are specs with what imaging makes of the same picture, upright and whole.
var cases = map[string]struct {
	spec images.Spec
	want func(image.Image) image.Image
}{
	"the width alone": {images.Spec{Width: 200}, func(m image.Image) image.Image {
		return imaging.Resize(m, 200, 110, imaging.Lanczos)
	}},
	"the height alone": {images.Spec{Height: 77}, func(m image.Image) image.Image {
		return imaging.Resize(m, 140, 77, imaging.Lanczos)
	}},
	"both, covered": {images.Spec{Width: 120, Height: 120}, func(m image.Image) image.Image {
		return imaging.Fill(m, 120, 120, imaging.Center, imaging.Lanczos)
	}},
	"covered from the north-west": {images.Spec{Width: 60, Height: 120, Gravity: images.NorthWest}, func(m image.Image) image.Image {
		return imaging.Fill(m, 60, 120, imaging.TopLeft, imaging.Lanczos)
	}},
	"covered from the south-east": {images.Spec{Width: 60, Height: 120, Gravity: images.SouthEast}, func(m image.Image) image.Image {
		return imaging.Fill(m, 60, 120, imaging.BottomRight, imaging.Lanczos)
	}},
	"covered around a focal point at the left edge": {images.Spec{Width: 60, Height: 120, Gravity: images.Focal, Focal: &images.Point{X: 0, Y: .5}}, func(m image.Image) image.Image {
		return imaging.Fill(m, 60, 120, imaging.Left, imaging.Lanczos)
	}},
	"inside": {images.Spec{Width: 100, Height: 100, Fit: images.Inside}, func(m image.Image) image.Image {
		return imaging.Resize(m, 100, 55, imaging.Lanczos)
	}},
	"outside": {images.Spec{Width: 100, Height: 100, Fit: images.Outside}, func(m image.Image) image.Image {
		return imaging.Resize(m, 182, 100, imaging.Lanczos)
	}},
	"stretched": {images.Spec{Width: 90, Height: 130, Fit: images.Fill}, func(m image.Image) image.Image {
		return imaging.Resize(m, 90, 130, imaging.Lanczos)
	}},
	"contained on a colour": {images.Spec{Width: 100, Height: 101, Fit: images.Contain, Background: rgba(0, 128, 255)}, func(m image.Image) image.Image {
		return imaging.Paste(imaging.New(100, 101, rgba(0, 128, 255)), imaging.Resize(m, 100, 55, imaging.Lanczos), image.Pt(0, 23))
	}},
	"padded": {images.Spec{Width: 100, Padding: 7, Background: rgba(255, 255, 0)}, func(m image.Image) image.Image {
		return imaging.Paste(imaging.New(114, 69, rgba(255, 255, 0)), imaging.Resize(m, 100, 55, imaging.Lanczos), image.Pt(7, 7))
	}},
	"cropped": {images.Spec{Width: 100, Crop: &images.Rect{X: 37, Y: 11, Width: 200, Height: 150}}, func(m image.Image) image.Image {
		return imaging.Resize(imaging.Crop(m, image.Rect(37, 11, 237, 161)), 100, 75, imaging.Lanczos)
	}},
	"cropped beyond the edge": {images.Spec{Crop: &images.Rect{X: 300, Y: 100, Width: 999, Height: 999}}, func(m image.Image) image.Image {
		return imaging.Crop(m, image.Rect(300, 100, 400, 220))
	}},
	"two pixels a CSS pixel": {images.Spec{Width: 60, DPR: 2}, func(m image.Image) image.Image {
		return imaging.Resize(m, 120, 66, imaging.Lanczos)
	}},
	"a quarter turn": {images.Spec{Width: 110, Rotate: 90}, func(m image.Image) image.Image {
		return imaging.Resize(imaging.Rotate270(m), 110, 200, imaging.Lanczos)
	}},
	"three quarter turns, odd sizes": {images.Spec{Width: 111, Rotate: -90}, func(m image.Image) image.Image {
		return imaging.Resize(imaging.Rotate90(m), 111, 202, imaging.Lanczos)
	}},
	"upside down, odd sizes": {images.Spec{Width: 101, Rotate: 180}, func(m image.Image) image.Image {
		return imaging.Resize(imaging.Rotate180(m), 101, 56, imaging.Lanczos)
	}},
	"mirrored, odd sizes": {images.Spec{Width: 101, Flip: images.Horizontal}, func(m image.Image) image.Image {
		return imaging.Resize(imaging.FlipH(m), 101, 56, imaging.Lanczos)
	}},
	"mirrored top to bottom": {images.Spec{Width: 101, Flip: images.Vertical}, func(m image.Image) image.Image {
		return imaging.Resize(imaging.FlipV(m), 101, 56, imaging.Lanczos)
	}},
	"blurred": {images.Spec{Width: 200, Blur: 3}, func(m image.Image) image.Image {
		return imaging.Blur(imaging.Resize(m, 200, 110, imaging.Lanczos), 3)
	}},
	"blurred beyond recognition": {images.Spec{Width: 200, Blur: 20}, func(m image.Image) image.Image {
		return imaging.Blur(imaging.Resize(m, 200, 110, imaging.Lanczos), 20)
	}},
	"sharpened": {images.Spec{Width: 200, Sharpen: 1}, func(m image.Image) image.Image {
		return imaging.Sharpen(imaging.Resize(m, 200, 110, imaging.Lanczos), 1)
	}},
	"without colours": {images.Spec{Width: 200, Grayscale: true}, func(m image.Image) image.Image {
		return imaging.Grayscale(imaging.Resize(m, 200, 110, imaging.Lanczos))
	}},
	"enlarged": {images.Spec{Width: 500, Enlarge: true}, func(m image.Image) image.Image {
		return imaging.Resize(m, 500, 275, imaging.Lanczos)
	}},
	"not enlarged": {images.Spec{Width: 500}, func(m image.Image) image.Image { return m }},
	"covered, not enlarged": {images.Spec{Width: 800, Height: 800}, func(m image.Image) image.Image {
		return imaging.CropCenter(m, 220, 220)
	}},
}

func TestOperationsAreThoseOfIndependentTools(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	m := upright(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := c.want(m)
			for _, f := range []images.Format{images.PNG, images.JPEG} {
				s := c.spec
				s.Format = f
				res := transform(t, "rgb.png", s)
				// The file is the same picture, saved as JPEG after it had been turned.
				turned := transform(t, "orient_6.jpg", s)
				for from, r := range map[string]images.Result{"rgb.png": res, "orient_6.jpg": turned} {
					limit := tolerance[f]
					if from != "rgb.png" {
						limit += 6
					}
					if s.Sharpen > 0 {
						limit += 6 // imaging sharpens chroma too
					}
					if s.Background.A > 0 && f == images.JPEG {
						limit += 8 // the edge of a strong colour, at half the resolution
					}
					if d := difference(seen(t, r), want); d > limit {
						keep(t, name+" "+from, r)
						t.Errorf("%s as %s is %dx%d, %.1f from the reference of %v", from, f, r.Width, r.Height, d, want.Bounds().Size())
					}
				}
			}
		})
	}
}

func TestAllOrientationsComeOutUpright(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	m := upright(t)
	for name, c := range map[string]struct {
		spec images.Spec
		want image.Image
	}{
		"unchanged":        {images.Spec{}, m},
		"the width alone":  {images.Spec{Width: 100}, imaging.Resize(m, 100, 55, imaging.Lanczos)},
		"the height alone": {images.Spec{Height: 100}, imaging.Resize(m, 182, 100, imaging.Lanczos)},
		"both":             {images.Spec{Width: 90, Height: 91}, imaging.Fill(m, 90, 91, imaging.Center, imaging.Lanczos)},
		"odd sizes":        {images.Spec{Width: 99}, imaging.Resize(m, 99, 54, imaging.Lanczos)},
	} {
		for o := 1; o <= 8; o++ {
			file := "orient_" + string(rune('0'+o)) + ".jpg"
			for _, f := range []images.Format{images.Same, images.WebP, images.PNG} {
				c.spec.Format = f
				res := transform(t, file, c.spec)
				got := seen(t, res)
				if d := difference(got, c.want); d > 12 {
					keep(t, name+" "+file, res)
					t.Errorf("%s, %s: %v, %.1f from upright", file, name, got.Bounds().Size(), d)
				}
				if c.spec.Height > 0 && c.spec.Width > 0 {
					continue // the mark is cut off
				}
				if r, g, b, _ := got.At(2, 2).RGBA(); r < 0xd000 || g > 0x4000 || b > 0x4000 {
					t.Errorf("%s, %s: the top left corner is %x %x %x, not red", file, name, r>>8, g>>8, b>>8)
				}
			}
		}
	}
}

// kindsOfOnePicture all show what rgb.png shows, or a photo.
func TestEveryKindShowsItsPicture(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	photo := pngOf(t, transform(t, "photo_03mp.jpg", images.Spec{Width: 200, Format: images.PNG}).Bytes)
	marked := imaging.Resize(upright(t), 200, 110, imaging.Lanczos)
	for name, limit := range map[string]float64{
		"rgb.png": 2, "rgb16.png": 2, "interlaced.png": 2, "lossless.webp": 2, "lossy.webp": 6, "static.gif": 9, "orient_1.jpg": 6,
		"photo_12mp.jpg": 8, "photo_3mp.jpg": 8, "photo_3mp_444.jpg": 8, "photo_3mp_progressive.jpg": 8, "photo_03mp.avif": 8, "seeding_16mp_progressive.jpg": 8,
	} {
		got := seen(t, transform(t, name, images.Spec{Width: 200, Format: images.PNG}))
		want := image.Image(marked)
		if name[:4] == "phot" || name[:4] == "seed" {
			want = photo
		}
		if got.Bounds().Dy() != want.Bounds().Dy() {
			want = imaging.Resize(want, 200, got.Bounds().Dy(), imaging.Lanczos)
		}
		if d := difference(got, want); d > limit {
			t.Errorf("%s is %.1f from what it shows", name, d)
		}
	}
}
