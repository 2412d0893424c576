package images_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"hasura-storage/actions/images"
)

func TestAVIFsOfAllKindsShowTheirPicture(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	for _, name := range []string{"avif_irot1.avif", "avif_irot3_imir1.avif", "avif_10bit.avif", "avif_grid.avif"} {
		res := transform(t, name, images.Spec{Format: images.PNG})
		if d := difference(seen(t, res), upright(t)); d > 10 {
			keep(t, name, res)
			t.Errorf("%s is %dx%d, %.1f from the picture", name, res.Width, res.Height, d)
		}
	}
}

func TestAnAVIFThatLiesAboutItsSizeIsRefused(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	src := sample(t, "avif_10bit.avif")
	ispe := []byte("ispe\x00\x00\x00\x00")
	at := bytes.Index(src, ispe) + len(ispe)
	lying := bytes.Clone(src)
	copy(lying[at:], []byte{0, 0, 0, 10, 0, 0, 0, 10})
	l := images.DefaultLimits()
	l.MaxPixels = 400*220 - 1
	if _, err := images.Transform(t.Context(), lying, images.Spec{Width: 5}, l); !errors.Is(err, images.ErrTooLarge) {
		t.Errorf("more pixels than its property says, and than the limit: %v", err)
	}
	l.MaxPixels = 400 * 220
	for _, name := range []string{"avif_10bit.avif", "avif_grid.avif"} {
		if _, err := images.Transform(t.Context(), sample(t, name), images.Spec{Width: 5}, l); err != nil {
			t.Errorf("%s, just within the limit: %v", name, err)
		}
	}
}

// isoBox is a box of AVIF's.
func isoBox(kind string, body ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), kind...), body...)
}

// TestItemsOfManyPartsCostNothing has files whose list of items says that there is a lot in them.
func TestItemsOfManyPartsCostNothing(t *testing.T) {
	everywhere := []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0xff, 0xff} // one item, the whole file 65,535 times over
	countless := []byte{2, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0}
	nowhere := []byte{0, 0, 0, 0, 0, 0x80, 0xff, 0xff} // 65,535 items of 65,535 parts each, all behind the end
	for range 65535 {
		nowhere = append(nowhere, 0, 1, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
	}
	for name, list := range map[string][]byte{"everywhere": everywhere, "countless": countless, "nowhere": nowhere} {
		iinf := isoBox("iinf", append([]byte{0, 0, 0, 0, 0, 1}, isoBox("infe", 2, 0, 0, 0, 0, 1, 0, 0, 'a', 'v', '0', '1', 0)...)...)
		ispe := isoBox("ispe", 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 10)
		iprp := isoBox("iprp", append(isoBox("ipco", ispe...), isoBox("ipma", 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1)...)...)
		meta := isoBox("meta", slices.Concat([]byte{0, 0, 0, 0}, isoBox("pitm", 0, 0, 0, 0, 0, 1), iinf, isoBox("iloc", list...), iprp)...)
		src := slices.Concat(isoBox("ftyp", []byte("avif\x00\x00\x00\x00")...), meta, isoBox("mdat", make([]byte, 1<<20)...))

		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		if info, err := images.Probe(src); err != nil || info.Width != 10 {
			t.Fatalf("%s: %+v, %v", name, info, err)
		}
		if _, err := images.Transform(t.Context(), src, images.Spec{Width: 5}, images.DefaultLimits()); !errors.Is(err, images.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if used, took := after.TotalAlloc-before.TotalAlloc, time.Since(start); used > 16<<20 || took > 2*time.Second {
			t.Errorf("%s: used %d MiB in %v", name, used>>20, took)
		}
	}
}

// TestWhatIsCodedCounts compares estimates: they must not be those of what a header says where more is coded, or more finely.
func TestWhatIsCodedCounts(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	cost := func(src []byte) int64 {
		t.Helper()
		info, err := images.Probe(src)
		if err != nil {
			t.Fatal(err)
		}
		info.Width, info.Height = 400, 220
		return images.Cost(info, images.Spec{Width: 5})
	}
	square := func(name string) []byte {
		t.Helper()
		s := images.Spec{Width: 400, Height: 220, Fit: images.Fill, Format: images.AVIF, Enlarge: true}
		return transformed(t, sample(t, name), s).Bytes
	}
	plain, alpha, deep := cost(square("rgb.png")), cost(square("rgba.png")), cost(sample(t, "avif_10bit.avif"))
	pixels := int64(400 * 220)
	if alpha != plain+pixels*48 || deep != plain+pixels*(80-48+54-26) {
		t.Errorf("%d bytes, with alpha %d, of 10 bits %d", plain, alpha, deep)
	}
	large := cost(sample(t, "photo_03mp.avif"))
	if large != plain+(720*405-pixels)*48 {
		t.Errorf("%d bytes where 400x220 is said and 720x405 coded", large)
	}
}
