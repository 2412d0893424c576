package images_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"hasura-storage/actions/images"
)

func gifOf(tb testing.TB, b []byte) *gif.GIF {
	tb.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestAnAnimationStaysOne(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	before := gifOf(t, sample(t, "animated.gif"))
	res := transform(t, "animated.gif", images.Spec{Width: 50})
	after := gifOf(t, res.Bytes)
	if len(after.Image) != len(before.Image) || res.Frames != len(before.Image) {
		t.Errorf("%d frames, says %d, want %d", len(after.Image), res.Frames, len(before.Image))
	}
	for i := range after.Delay {
		if after.Delay[i] != before.Delay[i] {
			t.Errorf("frame %d takes %d, want %d", i, after.Delay[i], before.Delay[i])
		}
	}
	if after.LoopCount != before.LoopCount || after.Config.Width != 50 {
		t.Errorf("loops %d and width %d, want %d and 50", after.LoopCount, after.Config.Width, before.LoopCount)
	}
	for _, f := range []images.Format{images.JPEG, images.WebP, images.PNG} {
		if res := transform(t, "animated.gif", images.Spec{Width: 50, Format: f}); res.Frames != 1 {
			t.Errorf("%s has %d frames", f, res.Frames)
		}
	}
}

// squares is an animation on a screen of 40x40: a red ground, then a green square that goes away by the given disposal, then a blue one elsewhere.
func squares(tb testing.TB, disposal byte) []byte {
	tb.Helper()
	colours := color.Palette{color.NRGBA{}, rgba(255, 0, 0), rgba(0, 255, 0), rgba(0, 0, 255)}
	frame := func(r image.Rectangle, c uint8) *image.Paletted {
		m := image.NewPaletted(r, colours)
		for i := range m.Pix {
			m.Pix[i] = c
		}
		return m
	}
	g := &gif.GIF{
		Image:    []*image.Paletted{frame(image.Rect(0, 0, 40, 40), 1), frame(image.Rect(0, 0, 20, 20), 2), frame(image.Rect(20, 20, 40, 40), 3)},
		Delay:    []int{5, 7, 9},
		Disposal: []byte{gif.DisposalNone, disposal, gif.DisposalNone},
		Config:   image.Config{Width: 40, Height: 40, ColorModel: colours},
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestFramesAreShownAsTheFileSays(t *testing.T) {
	for name, c := range map[string]struct {
		disposal byte
		corner   color.NRGBA // what the third frame shows where the second was
	}{
		"left in place":             {gif.DisposalNone, rgba(0, 255, 0)},
		"cleared to the background": {gif.DisposalBackground, color.NRGBA{}},
		"undone":                    {gif.DisposalPrevious, rgba(255, 0, 0)},
	} {
		res := transformed(t, squares(t, c.disposal), images.Spec{Width: 20})
		third := gifOf(t, res.Bytes).Image[2]
		if got := third.At(4, 4); !near(got, c.corner) {
			t.Errorf("%s: %v, want %v", name, got, c.corner)
		}
		if got := third.At(15, 15); !near(got, rgba(0, 0, 255)) {
			t.Errorf("%s: the new square is %v", name, got)
		}
	}
}

// near allows for what a reduction to 256 colours changes.
func near(got color.Color, want color.NRGBA) bool {
	g := color.NRGBAModel.Convert(got).(color.NRGBA)
	for _, d := range []int{int(g.R) - int(want.R), int(g.G) - int(want.G), int(g.B) - int(want.B), int(g.A) - int(want.A)} {
		if d < -3 || d > 3 {
			return false
		}
	}
	return true
}

func TestTooManyFramesAreRefused(t *testing.T) {
	g := gifOf(t, squares(t, gif.DisposalNone))
	for len(g.Image) < 300 {
		g.Image, g.Delay, g.Disposal = append(g.Image, g.Image[1]), append(g.Delay, 1), append(g.Disposal, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	if _, err := images.Transform(t.Context(), b.Bytes(), images.Spec{Width: 20}, images.DefaultLimits()); !errors.Is(err, images.ErrTooLarge) {
		t.Errorf("300 frames: %v", err)
	}
}

// TestFramesCannotHide puts before the frames an extension that a strict reader takes for the end of the file.
func TestFramesCannotHide(t *testing.T) {
	plain := squares(t, gif.DisposalNone)
	info, err := images.Probe(plain)
	if err != nil {
		t.Fatal(err)
	}
	start := 13 + 3*4 // behind the colours
	hide := func(extension ...byte) []byte { return slices.Concat(plain[:start], extension, plain[start:]) }
	for name, src := range map[string][]byte{
		"application":       hide(append([]byte{0x21, 0xff, 0, ';'}, make([]byte, ';'+1)...)...),
		"text":              hide(append([]byte{0x21, 0x01, 0, ';'}, make([]byte, 12)...)...),
		"a proper one":      hide(append([]byte{0x21, 0x01, 12}, make([]byte, 13)...)...),
		"a comment":         hide(0x21, 0xfe, 1, ';', 0),
		"an empty comment":  hide(0x21, 0xfe, 0),
		"one of Netscape's": hide(append([]byte{0x21, 0xff, 11}, "NETSCAPE2.0\x03\x01\x00\x00\x00"...)...),
	} {
		if n := len(gifOf(t, src).Image); n != info.Frames {
			t.Fatalf("%s: the decoder finds %d frames of %d", name, n, info.Frames)
		}
		if got, err := images.Probe(src); err == nil && got.Frames != info.Frames || err != nil && !errors.Is(err, images.ErrDamaged) {
			t.Errorf("%s: %d frames of %d are counted, %v", name, got.Frames, info.Frames, err)
		}
	}
}

// animation has n frames of w x h; noise fills them all, otherwise one pixel changes, which makes the file small.
func animation(tb testing.TB, w, h, n int, noise bool) []byte {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var colours color.Palette
	for range 256 {
		colours = append(colours, rgba(uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256))))
	}
	g := &gif.GIF{Config: image.Config{Width: w, Height: h, ColorModel: colours}}
	for i := range n {
		m := image.NewPaletted(image.Rect(0, 0, w, h), colours)
		if i > 0 && !noise {
			m = image.NewPaletted(image.Rect(0, 0, 1, 1), colours)
		}
		for p := range m.Pix {
			if noise {
				m.Pix[p] = uint8(r.IntN(256))
			}
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestAnAnimationIsBoundedByItsWork gives the limits small files that say much.
func TestAnAnimationIsBoundedByItsWork(t *testing.T) {
	long, small := animation(t, 600, 600, 255, false), animation(t, 100, 100, 255, false)
	for name, c := range map[string]struct {
		src  []byte
		spec images.Spec
		says string
	}{
		"in the source": {long, images.Spec{Width: 10}, "the animation has 255 frames of 600x600, together 91800000 pixels, more than the maximum of 8000000"},
		"in the result": {small, images.Spec{Width: 300, Enlarge: true}, "the result would have 255 frames of 300x300, together 22950000 pixels, more than the maximum of 8000000"},
	} {
		_, err := images.Transform(t.Context(), c.src, c.spec, images.DefaultLimits())
		if !errors.Is(err, images.ErrTooLarge) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	usual := images.Info{Format: images.GIF, Width: 480, Height: 270, Frames: 60}
	if err := images.DefaultLimits().Admit(1<<20, usual, images.Spec{}); err != nil {
		t.Errorf("a usual one: %v", err)
	}
}

// TestTheFirstFrameCostsOne makes still pictures of an animation that is too long to be made another.
func TestTheFirstFrameCostsOne(t *testing.T) {
	src := animation(t, 600, 600, 255, false)
	one, all := images.Info{Format: images.GIF, Width: 600, Height: 600, Frames: 1}, images.Info{Format: images.GIF, Width: 600, Height: 600, Frames: 255}
	for _, f := range []images.Format{images.JPEG, images.PNG, images.WebP} {
		s := images.Spec{Width: 50, Format: f}
		if a, b := images.Cost(one, s), images.Cost(all, s); a != b {
			t.Errorf("%s: %d MiB for one frame, %d for the first of many", f, a>>20, b>>20)
		}
		if res := transformed(t, src, s); res.Frames != 1 || res.Width != 50 {
			t.Errorf("%s: %d frames of width %d", f, res.Frames, res.Width)
		}
	}
	if facts, err := images.ReadFacts(t.Context(), src, images.DefaultLimits()); err != nil || facts.Blurhash == "" {
		t.Errorf("facts: %+v, %v", facts, err)
	}
	for _, cut := range []int{1, 2, len(src) / 2} {
		if _, err := images.Transform(t.Context(), src[:len(src)-cut], images.Spec{Width: 50, Format: images.PNG}, images.DefaultLimits()); !errors.Is(err, images.ErrDamaged) {
			t.Errorf("%d bytes less: %v", cut, err)
		}
	}
}

// TestAnAnimationHoldsWhatItCosts watches the heap, with a collector that lets it grow by hardly more than what is alive.
func TestAnAnimationHoldsWhatItCosts(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("too slow")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	for _, noise := range []bool{false, true} {
		src := animation(t, 480, 270, 30, noise)
		info, err := images.Probe(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []images.Spec{{Width: 100}, {}} {
			debug.FreeOSMemory()
			before := heapInUse()
			stop, peak := make(chan struct{}), make(chan uint64)
			go watchHeap(stop, peak)
			transformed(t, src, s)
			close(stop)
			used, cost := int64(<-peak)-int64(before), images.Cost(info, s)
			if used > cost || noise && cost > 4*used {
				t.Errorf("noise %t as %s: %.1f MiB were in use, the estimate is %.1f", noise, s.Canonical(), float64(used)/(1<<20), float64(cost)/(1<<20))
			}
		}
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
