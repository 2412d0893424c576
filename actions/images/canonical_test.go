package images_test

import (
	"image/color"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"hasura-storage/actions/images"
)

func TestEqualResultsHaveOneSpelling(t *testing.T) {
	for name, pair := range map[string][2]images.Spec{
		"DPR is worked in":                 {{Width: 300, DPR: 2}, {Width: 600}},
		"the default fit":                  {{Width: 1, Height: 2, Fit: images.Cover}, {Width: 1, Height: 2}},
		"a fit without two sides":          {{Width: 1, Fit: images.Fill}, {Width: 1}},
		"a gravity without two sides":      {{Width: 1, Gravity: images.North}, {Width: 1}},
		"the middle":                       {{Width: 1, Height: 2, Gravity: images.Center}, {Width: 1, Height: 2}},
		"a focal point that is not used":   {{Width: 1, Focal: &images.Point{X: .5}}, {Width: 1}},
		"the focal gravity without one":    {{Width: 1, Height: 2, Gravity: images.Focal}, {Width: 1, Height: 2}},
		"the default quality":              {{Format: images.JPEG, Quality: 85}, {Format: images.JPEG}},
		"a quality of PNG":                 {{Format: images.PNG, Quality: 3}, {Format: images.PNG}},
		"enlarging without a size":         {{Enlarge: true}, {}},
		"a turn backward":                  {{Rotate: -90}, {Rotate: 270}},
		"a full turn":                      {{Rotate: 360}, {}},
		"both flips are half a turn":       {{Flip: images.Both}, {Rotate: 180}},
		"both flips undo half a turn":      {{Flip: images.Both, Rotate: 180}, {}},
		"a background that is not seen":    {{Background: color.NRGBA{R: 9}}, {}},
		"a blur beyond a thousandth pixel": {{Blur: 1.0001}, {Blur: 1}},
	} {
		if a, b := pair[0].Canonical(), pair[1].Canonical(); a != b {
			t.Errorf("%s: %s and %s", name, a, b)
		}
	}
}

func TestSpellingsAreStable(t *testing.T) {
	for want, s := range map[string]images.Spec{
		"i1":                         {},
		"i1_w600":                    {Width: 600},
		"i1_w600_h400_fcontain_e1":   {Width: 600, Height: 400, Fit: images.Contain, Enlarge: true},
		"i1_w60_h40_gfocal_p0.25-1":  {Width: 60, Height: 40, Gravity: images.Focal, Focal: &images.Point{X: .25, Y: 1}},
		"i1_c1-2-30-40_owebp_q50":    {Crop: &images.Rect{X: 1, Y: 2, Width: 30, Height: 40}, Format: images.WebP, Quality: 50},
		"i1_b1.5_s0.5_r90_xvertical": {Blur: 1.5, Sharpen: .5, Rotate: 90, Flip: images.Vertical},
		"i1_m1_kff800080_n7":         {Grayscale: true, Background: color.NRGBA{R: 255, G: 128, A: 128}, Padding: 7},
	} {
		if got := s.Canonical(); got != want {
			t.Errorf("%+v is %s, want %s", s, got, want)
		}
	}
}

var keySafe = regexp.MustCompile(`^i1[a-z0-9_.-]*$`)

// anySpec draws a Spec that is valid.
func anySpec(t *rapid.T) images.Spec {
	pick := func(name string, n int) int { return rapid.IntRange(0, n).Draw(t, name) }
	s := images.Spec{
		Width: pick("width", 8000), Height: pick("height", 8000), Padding: pick("padding", 100), Quality: pick("quality", 100),
		Fit:       rapid.SampledFrom([]images.Fit{"", images.Cover, images.Contain, images.Fill, images.Inside, images.Outside}).Draw(t, "fit"),
		Gravity:   rapid.SampledFrom([]images.Gravity{"", images.Center, images.North, images.SouthEast, images.Focal, images.Smart}).Draw(t, "gravity"),
		Format:    rapid.SampledFrom([]images.Format{"", images.JPEG, images.PNG, images.WebP, images.AVIF, images.GIF}).Draw(t, "format"),
		Flip:      rapid.SampledFrom([]images.Flip{"", images.Horizontal, images.Vertical, images.Both}).Draw(t, "flip"),
		Rotate:    rapid.IntRange(-360, 360).Draw(t, "rotate"),
		Blur:      rapid.Float64Range(0, 250).Draw(t, "blur"),
		Sharpen:   rapid.Float64Range(0, 10).Draw(t, "sharpen"),
		Enlarge:   rapid.Bool().Draw(t, "enlarge"),
		Grayscale: rapid.Bool().Draw(t, "grayscale"),
	}
	if rapid.Bool().Draw(t, "focal") {
		s.Focal = &images.Point{X: rapid.Float64Range(0, 1).Draw(t, "x"), Y: rapid.Float64Range(0, 1).Draw(t, "y")}
	}
	if rapid.Bool().Draw(t, "crop") {
		s.Crop = &images.Rect{X: pick("cx", 5000), Y: pick("cy", 5000), Width: 1 + pick("cw", 5000), Height: 1 + pick("ch", 5000)}
	}
	if rapid.Bool().Draw(t, "background") {
		s.Background = color.NRGBA{R: uint8(pick("r", 255)), G: uint8(pick("g", 255)), B: uint8(pick("b", 255)), A: uint8(pick("a", 255))}
	}
	return s
}

func TestSpellingsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySpec(t)
		if err := s.Validate(images.DefaultLimits()); err != nil {
			t.Fatal(err)
		}
		text := s.Canonical()
		if !keySafe.MatchString(text) || len(text) > 200 {
			t.Fatalf("%q is no part of a key", text)
		}
		back, err := images.ParseCanonical(text)
		if err != nil {
			t.Fatal(err)
		}
		if again := back.Canonical(); again != text {
			t.Fatalf("%s became %s", text, again)
		}
		if err := back.Validate(images.DefaultLimits()); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	})
}

func FuzzParseCanonical(f *testing.F) {
	for _, text := range []string{"i1", "i1_w600_h400_gfocal_p0.5-0.25", "i1_c1-2-3-4_kff800080", "i0_w5", "i1_w-5", "i1__", "i1_wNaN", "i1_p1e9-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := images.ParseCanonical(text); err == nil && s.Canonical() != text {
			t.Errorf("%q was read as %s", text, s.Canonical())
		}
	})
}
