package images_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
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

func rgba(r, g, b uint8) color.NRGBA { return color.NRGBA{R: r, G: g, B: b, A: 255} }

// transform fails the test on an error, and on a result that is not what it says.
func transform(t testing.TB, name string, s images.Spec) images.Result {
	t.Helper()
	return transformed(t, sample(t, name), s)
}

func transformed(t testing.TB, src []byte, s images.Spec) images.Result {
	t.Helper()
	res, err := images.Transform(context.Background(), src, s, images.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", s.Canonical(), err)
	}
	if info, err := images.Probe(res.Bytes); err != nil || info.Width != res.Width || info.Height != res.Height || info.Format != res.Format || info.Orientation != 1 {
		t.Fatalf("%s: result says %dx%d %s, its header %+v (%v)", s.Canonical(), res.Width, res.Height, res.Format, info, err)
	}
	return res
}

// keep writes a result to the folder named by IMAGES_OUT, to be looked at.
func keep(t testing.TB, name string, res images.Result) {
	if dir := os.Getenv("IMAGES_OUT"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+"."+string(res.Format)), res.Bytes, 0o600); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryKindComesOutInEveryFormat(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	for _, name := range kinds(t) {
		for _, f := range []images.Format{images.Same, images.JPEG, images.PNG, images.WebP, images.GIF, images.AVIF} {
			if f == images.AVIF && name != "rgba.png" && name != "gray.jpg" {
				continue // slow
			}
			res := transform(t, name, images.Spec{Width: 100, Format: f})
			keep(t, name+"_"+string(f), res)
			if res.Width != 100 && name != "one_pixel.png" {
				t.Errorf("%s as %s is %d wide, want 100", name, f, res.Width)
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
	out := make([]string, 0, len(entries))
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

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	for _, f := range []images.Format{images.JPEG, images.PNG, images.WebP, images.GIF} {
		s := images.Spec{Width: 123, Height: 77, Gravity: images.Smart, Blur: 0.7, Format: f}
		if !bytes.Equal(transform(t, "photo_3mp.jpg", s).Bytes, transform(t, "photo_3mp.jpg", s).Bytes) {
			t.Errorf("%s differs from one time to the next", f)
		}
	}
}

func TestNothingOfTheMetadataIsLeft(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	for _, f := range []images.Format{images.JPEG, images.PNG, images.WebP, images.GIF, images.AVIF} {
		res := transform(t, "orient_6.jpg", images.Spec{Width: 100, Format: f})
		for _, mark := range []string{"Exif", "EXIF", "eXIf", "GPS", "http://ns.adobe.com"} {
			if f != images.AVIF && bytes.Contains(res.Bytes, []byte(mark)) {
				t.Errorf("%s holds %q", f, mark)
			}
		}
	}
}

func TestTheSmallSideIsNeverZero(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 1000, 3))
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	if res := transformed(t, b.Bytes(), images.Spec{Width: 50}); res.Width != 50 || res.Height != 1 {
		t.Errorf("%dx%d, want 50x1", res.Width, res.Height)
	}
}

// disc is a white disc on a transparent ground whose hidden colour is black.
func disc(t *testing.T) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 200, 200))
	for y := range 200 {
		for x := range 200 {
			if (x-100)*(x-100)+(y-100)*(y-100) < 80*80 {
				m.SetNRGBA(x, y, rgba(255, 255, 255))
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTransparentEdgesGetNoRim(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	for _, f := range []images.Format{images.PNG, images.WebP} {
		for _, s := range []images.Spec{{Width: 61}, {Width: 61, Blur: 2}, {Width: 300, Enlarge: true}, {Width: 61, Rotate: 30}} {
			s.Format = f
			m, ok := seen(t, transformed(t, disc(t), s)).(*image.NRGBA)
			if !ok {
				t.Fatalf("%s: the result has no transparency", s.Canonical())
			}
			floor := uint8(250)
			if f == images.WebP {
				floor = 225 // lossy
			}
			for i := 0; i < len(m.Pix); i += 4 {
				if m.Pix[i+3] > 8 && m.Pix[i] < floor {
					t.Errorf("%s: a pixel of opacity %d is %d dark", s.Canonical(), m.Pix[i+3], m.Pix[i])
					break
				}
			}
		}
	}
}

func TestBackgroundShowsThroughWhatIsTransparent(t *testing.T) {
	at := func(s images.Spec) color.NRGBA {
		return color.NRGBAModel.Convert(seen(t, transformed(t, disc(t), s)).At(1, 1)).(color.NRGBA)
	}
	for name, c := range map[string]struct {
		spec images.Spec
		want color.NRGBA
	}{
		"white in JPEG, if nothing is said":      {images.Spec{Format: images.JPEG}, rgba(255, 255, 255)},
		"a colour in JPEG":                       {images.Spec{Format: images.JPEG, Background: rgba(10, 200, 30)}, rgba(10, 200, 30)},
		"half a colour in JPEG, over white":      {images.Spec{Format: images.JPEG, Background: color.NRGBA{R: 0, G: 0, B: 0, A: 128}}, rgba(127, 127, 127)},
		"a colour in PNG":                        {images.Spec{Background: rgba(10, 200, 30)}, rgba(10, 200, 30)},
		"transparent in PNG, if nothing is said": {images.Spec{}, color.NRGBA{}},
		"half a colour in PNG":                   {images.Spec{Background: color.NRGBA{R: 200, A: 128}}, color.NRGBA{R: 200, A: 128}},
	} {
		got := at(c.spec)
		for i, d := range []int{int(got.R) - int(c.want.R), int(got.G) - int(c.want.G), int(got.B) - int(c.want.B), int(got.A) - int(c.want.A)} {
			if d < -3 || d > 3 {
				t.Errorf("%s: %v, want %v (sample %d)", name, got, c.want, i)
				break
			}
		}
	}
}

func TestSmartFindsWhatThereIsToSee(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 600, 200))
	for y := range 200 {
		for x := range 600 {
			m.SetNRGBA(x, y, rgba(200, 200, 200))
			if x > 420 && x < 560 && (x/7+y/7)%2 == 0 {
				m.SetNRGBA(x, y, rgba(200, 30, 20))
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	got := onWhite(seen(t, transformed(t, b.Bytes(), images.Spec{Width: 100, Height: 100, Gravity: images.Smart})))
	red := 0
	for i := 0; i < len(got.Pix); i += 4 {
		if got.Pix[i+1] < 150 {
			red++
		}
	}
	if red < 2500 {
		t.Errorf("%d of 10000 pixels show the pattern", red)
	}
}

func TestAnEndedContextEndsTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"photo_3mp.jpg", "rgb.png", "lossy.webp", "animated.gif"} {
		if _, err := images.Transform(ctx, sample(t, name), images.Spec{Width: 50}, images.DefaultLimits()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
