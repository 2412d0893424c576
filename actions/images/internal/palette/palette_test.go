package palette_test

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"hasura-storage/actions/images/internal/palette"
)

func TestFewColoursAreKeptAsTheyAre(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 40, 10))
	colours := []color.NRGBA{{R: 255, A: 255}, {G: 200, A: 255}, {B: 90, A: 255}, {R: 17, G: 17, B: 17, A: 255}}
	for x := range 40 {
		for y := range 10 {
			m.SetNRGBA(x, y, colours[x/10])
		}
	}
	p := palette.Of(m, 16)
	if len(p) != len(colours) {
		t.Errorf("%d colours, want %d", len(p), len(colours))
	}
	out := palette.Apply(m, p)
	for x := range 40 {
		if got := out.At(x, 5); got != color.Color(colours[x/10]) {
			t.Errorf("%v became %v", colours[x/10], got)
		}
	}
}

func TestManyColoursBecomeAsManyAsAreAllowed(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for x := range 256 {
		for y := range 256 {
			m.SetNRGBA(x, y, color.NRGBA{R: uint8(x), G: uint8(y), B: uint8(x ^ y), A: 255})
		}
	}
	for _, n := range []int{1, 2, 64, 256} {
		p := palette.Of(m, n)
		if len(p) != n {
			t.Errorf("%d colours, want %d", len(p), n)
		}
		if out := palette.Apply(m, p); len(out.Pix) != 256*256 {
			t.Errorf("%d pixels", len(out.Pix))
		}
	}
}

func TestNothingButTransparencyHasAPaletteToo(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	p := append(palette.Of(m, 255), color.NRGBA{})
	for _, i := range palette.Apply(m, p).Pix {
		if int(i) != len(p)-1 {
			t.Fatalf("a transparent pixel got colour %d", i)
		}
	}
}

// TestEveryPixelGetsTheNearestColour compares with a look at every colour, in palettes where many are equally near.
func TestEveryPixelGetsTheNearestColour(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(steps int) color.NRGBA {
		sample := func() uint8 { return uint8(r.IntN(steps) * 255 / (steps - 1)) }
		return color.NRGBA{R: sample(), G: sample(), B: sample(), A: 255}
	}
	for i := range 300 {
		p := color.Palette{}
		for range 1 + r.IntN(256) {
			p = append(p, random(2+i%15))
		}
		m := image.NewNRGBA(image.Rect(0, 0, 1, 1))
		px := random(2 + i%100)
		m.SetNRGBA(0, 0, px)
		best, least := 0, 1<<30
		for i, c := range p {
			c := c.(color.NRGBA)
			dr, dg, db := int(c.R)-int(px.R), int(c.G)-int(px.G), int(c.B)-int(px.B)
			if d := 2*dr*dr + 4*dg*dg + db*db; d < least {
				best, least = i, d
			}
		}
		if got := palette.Apply(m, p).Pix[0]; int(got) != best {
			t.Fatalf("%v became %v, want %v", px, p[got], p[best])
		}
	}
}
