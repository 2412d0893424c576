package images_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image/color"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions/images"
)

// pngHeader is a PNG that ends after its header, which claims a size.
func pngHeader(w, h uint32) []byte {
	ihdr := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)...)
	ihdr = append(ihdr, 8, 2, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), ihdr...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(ihdr))
}

// jpegHeader is a JPEG that ends after a frame header.
func jpegHeader(frame byte, w, h uint16, components ...byte) []byte {
	b := []byte{0xff, 0xd8, 0xff, frame, 0, byte(8 + 3*len(components)), 8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), byte(len(components))}
	for i, sampling := range components {
		b = append(b, byte(i+1), sampling, 0)
	}
	return append(b, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0)
}

// manyScans is a progressive JPEG of n scans with hardly any data.
func manyScans(n int) []byte {
	b := jpegHeader(0xc2, 4000, 4000, 0x11)
	b = b[:len(b)-10]
	for range n {
		b = append(b, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0)
	}
	return append(b, 0xff, 0xd9)
}

func TestWhatIsRefusedAndWhy(t *testing.T) {
	small := images.DefaultLimits()
	small.MaxSourceBytes = 1000
	for name, c := range map[string]struct {
		src    []byte
		spec   images.Spec
		limits images.Limits
		want   error
		says   string
	}{
		"nothing":                           {src: nil, want: images.ErrNotImage},
		"a text":                            {src: sample(t, "text_named.jpg"), want: images.ErrNotImage},
		"a web page":                        {src: sample(t, "page.html"), want: images.ErrNotImage},
		"SVG":                               {src: sample(t, "script.svg"), want: images.ErrNotImage},
		"TIFF, little-endian":               {src: []byte("II*\x00\x08\x00\x00\x00\x00\x00\x00\x00"), want: images.ErrNotImage},
		"TIFF, big-endian":                  {src: []byte("MM\x00*\x00\x00\x00\x08\x00\x00\x00\x00"), want: images.ErrNotImage},
		"BMP":                               {src: []byte("BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00"), want: images.ErrNotImage},
		"a JPEG that is cut off":            {src: sample(t, "truncated.jpg"), want: images.ErrDamaged, says: "truncated"},
		"a PNG that is cut off":             {src: sample(t, "rgb.png")[:9000], want: images.ErrDamaged},
		"a GIF that is cut off":             {src: sample(t, "static.gif")[:9000], want: images.ErrDamaged},
		"a WebP that is cut off":            {src: sample(t, "lossy.webp")[:5000], want: images.ErrDamaged},
		"an AVIF that is cut off":           {src: sample(t, "photo_03mp.avif")[:5000], want: images.ErrDamaged},
		"a JPEG of its header alone":        {src: sample(t, "photo_12mp.jpg")[:100], want: images.ErrDamaged},
		"a JPEG without height":             {src: jpegHeader(0xc0, 10, 0, 0x11), want: images.ErrDamaged},
		"a PNG without height":              {src: pngHeader(5, 0), want: images.ErrDamaged},
		"a PNG of negative width":           {src: pngHeader(1<<31+5, 5), want: images.ErrDamaged},
		"a bomb":                            {src: sample(t, "bomb_30000x30000.png"), want: images.ErrTooLarge, says: "30000x30000 is more than the maximum of 50000000 pixels"},
		"a JPEG of 64250x64250":             {src: jpegHeader(0xc0, 64250, 64250, 0x11), want: images.ErrTooLarge, says: "64250x64250"},
		"a PNG of 100000x100000":            {src: pngHeader(100000, 100000), want: images.ErrTooLarge},
		"a progressive JPEG of 16000":       {src: jpegHeader(0xc2, 16000, 16000, 0x22, 0x11, 0x11), want: images.ErrTooLarge},
		"a JPEG of too many scans":          {src: manyScans(200), want: images.ErrTooLarge, says: "100 scans"},
		"a file of too many bytes":          {src: sample(t, "photo_03mp.jpg"), limits: small, want: images.ErrTooLarge, says: "maximum of 1000"},
		"an odd sampling of a JPEG":         {src: jpegHeader(0xc0, 64, 64, 0x31, 0x11, 0x11), want: images.ErrDamaged},
		"too wide":                          {spec: images.Spec{Width: 9000}, want: images.ErrInvalidSpec, says: "width 9000 exceeds the maximum of 8000"},
		"too high":                          {spec: images.Spec{Width: 877, Height: 20000}, want: images.ErrInvalidSpec, says: "height 20000 exceeds the maximum of 8000"},
		"too wide by its DPR":               {spec: images.Spec{Width: 5000, DPR: 2}, want: images.ErrInvalidSpec, says: "width 10000"},
		"a result of too many pixels":       {spec: images.Spec{Width: 8000, Height: 8000, Enlarge: true}, want: images.ErrTooLarge, says: "8000x8000"},
		"a derived side without bounds":     {src: pngHeader(2, 40000), spec: images.Spec{Width: 8000, Enlarge: true}, want: images.ErrTooLarge},
		"a crop outside":                    {spec: images.Spec{Crop: &images.Rect{X: 720, Width: 1, Height: 1}}, want: images.ErrInvalidSpec, says: "crop lies outside of the picture, which is 720x405"},
		"an empty crop":                     {spec: images.Spec{Crop: &images.Rect{Width: 0, Height: 1}}, want: images.ErrInvalidSpec, says: "crop"},
		"a negative width":                  {spec: images.Spec{Width: -1}, want: images.ErrInvalidSpec, says: "width -1 is negative"},
		"an unknown fit":                    {spec: images.Spec{Fit: "squeeze"}, want: images.ErrInvalidSpec, says: "fit must be one of cover"},
		"an unknown gravity":                {spec: images.Spec{Gravity: "up"}, want: images.ErrInvalidSpec, says: "gravity"},
		"an unknown flip":                   {spec: images.Spec{Flip: "over"}, want: images.ErrInvalidSpec, says: "flip"},
		"an unknown format":                 {spec: images.Spec{Format: "bmp"}, want: images.ErrInvalidSpec, says: "format must be one of same, jpeg"},
		"HEIC as a result":                  {spec: images.Spec{Format: images.HEIC}, want: images.ErrInvalidSpec, says: "format"},
		"quality above all":                 {spec: images.Spec{Quality: 101}, want: images.ErrInvalidSpec, says: "quality 101 is outside of 1 to 100"},
		"a blur too wide":                   {spec: images.Spec{Blur: 251}, want: images.ErrInvalidSpec, says: "blur 251 is outside of 0 to 250"},
		"a sharpening too strong":           {spec: images.Spec{Sharpen: 11}, want: images.ErrInvalidSpec, says: "sharpen"},
		"more than a full turn":             {spec: images.Spec{Rotate: 361}, want: images.ErrInvalidSpec, says: "rotate 361"},
		"a DPR out of bounds":               {spec: images.Spec{DPR: 6}, want: images.ErrInvalidSpec, says: "dpr 6 is outside"},
		"a focal point outside":             {spec: images.Spec{Focal: &images.Point{X: 1.1}}, want: images.ErrInvalidSpec, says: "focal"},
		"padding beyond reason":             {spec: images.Spec{Padding: 8001}, want: images.ErrInvalidSpec, says: "padding 8001"},
		"a WebP larger than WebP can be":    {src: pngHeader(17000, 10), spec: images.Spec{Format: images.WebP}, want: images.ErrTooLarge, says: "16383"},
		"quality below all":                 {spec: images.Spec{Quality: -1}, want: images.ErrInvalidSpec, says: "quality"},
		"a sharpening that is not a number": {spec: images.Spec{Sharpen: nan()}, want: images.ErrInvalidSpec, says: "sharpen"},
	} {
		if c.src == nil && errors.Is(c.want, images.ErrInvalidSpec) || c.src == nil && strings.HasPrefix(name, "a result") {
			c.src = sample(t, "photo_03mp.jpg")
		}
		if c.limits == (images.Limits{}) {
			c.limits = images.DefaultLimits()
		}
		_, err := images.Transform(context.Background(), c.src, c.spec, c.limits)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %v, saying %q", name, err, c.want, c.says)
		}
		if field := (*images.FieldError)(nil); errors.Is(err, images.ErrInvalidSpec) && !errors.As(err, &field) {
			t.Errorf("%s: %T names no field", name, err)
		}
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestABombCostsNothing(t *testing.T) {
	src := sample(t, "bomb_30000x30000.png")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	if _, err := images.Transform(context.Background(), src, images.Spec{Width: 10}, images.DefaultLimits()); !errors.Is(err, images.ErrTooLarge) {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 50*time.Millisecond {
		t.Errorf("took %v", took)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("used %d bytes", used)
	}
}

// TestCostIsNoLessThanWhatIsUsed compares the estimate with all that a transform allocates, freed in between or not.
func TestCostIsNoLessThanWhatIsUsed(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	images.WarmUp()
	for _, name := range kinds(t) {
		src := sample(t, name)
		info, err := images.Probe(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []images.Spec{{Width: 100}, {}, {Width: 600, Format: images.PNG}, {Width: 300, Format: images.WebP}} {
			if len(src) > 1<<20 && s.Width == 0 {
				continue // slow, and like the others
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			transformed(t, src, s)
			runtime.ReadMemStats(&after)
			used, cost := int64(after.TotalAlloc-before.TotalAlloc), images.Cost(info, s)
			if used > cost+cost/2 {
				t.Errorf("%s as %s: allocated %.1f MiB, the estimate is %.1f", name, s.Canonical(), float64(used)/(1<<20), float64(cost)/(1<<20))
			}
		}
	}
}

// TestWhatIsDamagedCostsNoMore breaks a progressive file behind its first scan: no other decoder, which would need far more, must get hold of it.
func TestWhatIsDamagedCostsNoMore(t *testing.T) {
	src := bytes.Clone(sample(t, "photo_3mp_progressive.jpg"))
	scan := []byte{0xff, 0xda, 0}
	second := bytes.LastIndex(src, scan)
	if first := bytes.Index(src, scan); first == second {
		t.Fatal("there is one scan only")
	}
	src[second+4] = 9 // components
	info, err := images.Probe(src)
	if err != nil {
		t.Fatal(err)
	}
	s := images.Spec{Width: 100}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := images.Transform(t.Context(), src, s, images.DefaultLimits()); !errors.Is(err, images.ErrDamaged) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if used, cost := int64(after.TotalAlloc-before.TotalAlloc), images.Cost(info, s); used > cost {
		t.Errorf("allocated %d KiB, the estimate is %d", used>>10, cost>>10)
	}
}

// TestWhatWeighsMoreCostsMore compares estimates for pictures of one size.
func TestWhatWeighsMoreCostsMore(t *testing.T) {
	const pixels = 4000 * 3000
	for name, least := range map[string]int64{
		"gray.jpg": pixels * 3 / 16, "cmyk.jpg": 13 * pixels, "rgb.png": 9 * pixels, "rgb16.png": 13 * pixels, "interlaced.png": 13 * pixels, "animated.gif": 9 * pixels,
	} {
		info, err := images.Probe(sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		info.Width, info.Height = 4000, 3000
		if got := images.Cost(info, images.Spec{Width: 100}); got < least || got > least+least/2+16<<20 && name != "animated.gif" {
			t.Errorf("%s: %d MiB, want about %d", name, got>>20, least>>20)
		}
	}
}

func TestManyProfilesCostNothing(t *testing.T) {
	var packed bytes.Buffer
	packed.WriteString("icc\x00\x00")
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 3<<20))
	_ = z.Close()
	chunk := binary.BigEndian.AppendUint32(nil, uint32(packed.Len()))
	chunk = append(append(append(chunk, "iCCP"...), packed.Bytes()...), 0, 0, 0, 0)
	src := slices.Concat(sample(t, "rgb.png")[:33], bytes.Repeat(chunk, 100), sample(t, "rgb.png")[33:])
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	info, err := images.Probe(src)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > 1<<20 {
		t.Errorf("%d KiB, %v", used>>10, err)
	}
	if cost := images.Cost(info, images.Spec{Width: 10}); cost < 12<<20 {
		t.Errorf("the profile counts for nothing in %d KiB", cost>>10)
	}
}

func TestColoursAreRead(t *testing.T) {
	for text, want := range map[string]color.NRGBA{
		"fff": rgba(255, 255, 255), "#0a8": rgba(0, 0xaa, 0x88), "102030": rgba(0x10, 0x20, 0x30), "#10203040": {R: 0x10, G: 0x20, B: 0x30, A: 0x40},
		"white": rgba(255, 255, 255), "BLACK": rgba(0, 0, 0), "transparent": {}, "": {},
	} {
		if got, err := images.ParseColor(text); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"ff", "fffff", "red", "gggggg", "#1234567890", "+fff", "-0ff"} {
		if c, err := images.ParseColor(text); !errors.Is(err, images.ErrInvalidSpec) {
			t.Errorf("%q is %v (%v)", text, c, err)
		}
	}
}

func TestHeadersSuffice(t *testing.T) {
	for _, name := range kinds(t) {
		src := sample(t, name)
		whole, err := images.Probe(src)
		if err != nil {
			t.Fatal(err)
		}
		head, err := images.Probe(src[:min(len(src), 4096)])
		if err != nil || head.Width != whole.Width || head.Height != whole.Height {
			t.Errorf("%s: %+v from its head (%v), %+v from all of it", name, head, err, whole)
		}
	}
	if info, err := images.Probe(sample(t, "photo_03mp.heic")); err != nil || info.Format != images.HEIC || info.Width != 720 || info.Height != 405 {
		t.Errorf("HEIC: %+v, %v", info, err)
	}
}
