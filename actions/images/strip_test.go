package images_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"testing"

	"hasura-storage/actions/images"
)

// private is what must not be left of a file.
const private = "51.4778N 0.0015W"

func testFile(tb testing.TB, name string) []byte {
	tb.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// tiffWith is an EXIF block with an orientation, followed by what is private.
func tiffWith(orientation byte) []byte {
	return append([]byte{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0}, private...)
}

func segment(marker byte, body string) []byte {
	out := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(out, body...)
}

// privateJPEG puts metadata of every kind into a JPEG and behind it.
func privateJPEG(t testing.TB, name string, orientation byte) []byte {
	src := testFile(t, name)
	out := bytes.Clone(src[:2])
	out = append(out, segment(0xe1, "Exif\x00\x00"+string(tiffWith(orientation)))...)
	out = append(out, segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00<x>"+private+"</x>")...)
	out = append(out, segment(0xed, "Photoshop 3.0\x008BIM"+private)...)
	out = append(out, segment(0xe2, "MPF\x00"+private)...)
	out = append(out, segment(0xe0, "JFXX\x00"+private)...)
	out = append(out, segment(0xfe, private)...)
	out = append(out, src[2:]...)
	return append(out, "\xff\xd8 another picture "+private...)
}

func pngChunk(kind, body string) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(out, kind+body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func privatePNG(t testing.TB, name string, orientation byte) []byte {
	src := testFile(t, name)
	const header = 8 + 25
	out := bytes.Clone(src[:header])
	out = append(out, pngChunk("eXIf", string(tiffWith(orientation)))...)
	out = append(out, pngChunk("tEXt", "Comment\x00"+private)...)
	out = append(out, pngChunk("zTXt", "Raw profile type iptc\x00\x00"+private)...)
	out = append(out, pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+private)...)
	out = append(out, pngChunk("caBX", private)...)
	out = append(out, src[header:]...)
	return append(out, private...)
}

func riffChunk(kind, body string) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body)))
	out = append(out, body...)
	return append(out, make([]byte, len(body)%2)...)
}

func privateWebP(t testing.TB, name string, orientation byte) []byte {
	out := testFile(t, name)
	out = append(out, riffChunk("EXIF", string(tiffWith(orientation)))...)
	out = append(out, riffChunk("XMP ", private)...)
	out = append(out, riffChunk("????", private)...)
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return append(out, private...)
}

// shown is how a picture looks: the pixels of a PNG of it, upright, in its own colours.
func shown(t testing.TB, content []byte) []byte {
	t.Helper()
	made, err := images.Transform(t.Context(), content, images.Spec{Width: 64, Height: 64, Fit: images.Inside, Format: images.PNG}, images.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return made.Bytes
}

func TestMetadataGoesAndThePictureStays(t *testing.T) {
	for name, src := range map[string][]byte{
		"a photo":                   privateJPEG(t, "photo_03mp.jpg", 1),
		"a photo on its side":       privateJPEG(t, "photo_03mp.jpg", 6),
		"a mirrored photo":          privateJPEG(t, "photo_03mp.jpg", 5),
		"a photo with a profile":    privateJPEG(t, "display_p3.jpg", 8),
		"a progressive photo":       privateJPEG(t, "photo_3mp_progressive.jpg", 3),
		"a photo for print":         privateJPEG(t, "cmyk.jpg", 1),
		"a drawing":                 privatePNG(t, "palette_alpha.png", 1),
		"a drawing on its side":     privatePNG(t, "rgb.png", 6),
		"an interlaced drawing":     privatePNG(t, "interlaced.png", 2),
		"a simple WebP":             privateWebP(t, "lossy.webp", 1),
		"a simple WebP on a side":   privateWebP(t, "lossy.webp", 6),
		"a lossless WebP on a side": privateWebP(t, "lossless.webp", 8),
		"an extended WebP":          privateWebP(t, "lossy_alpha.webp", 6),
		"an animated WebP":          privateWebP(t, "animated.webp", 1),
	} {
		t.Run(name, func(t *testing.T) {
			if !bytes.Contains(src, []byte(private)) {
				t.Fatal("the test holds nothing private")
			}
			out, err := images.StripMetadata(src)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(out, []byte(private)) {
				t.Error("something private is left")
			}
			before, _ := images.Probe(src)
			after, err := images.Probe(out)
			if err != nil || after.Orientation != before.Orientation || after.Width != before.Width || after.Height != before.Height {
				t.Errorf("was %+v, is %+v, %v", before, after, err)
			}
			if !bytes.Equal(shown(t, src), shown(t, out)) {
				t.Error("the picture looks different")
			}
			again, err := images.StripMetadata(out)
			if err != nil || !bytes.Equal(again, out) {
				t.Errorf("a second time changes it: %v", err)
			}
		})
	}
}

func TestWhatCannotBeStripped(t *testing.T) {
	whole := testFile(t, "photo_03mp.jpg")
	longer := append(bytes.Clone(whole[:2]), 0xff, 0xe1, 0xff, 0xff)
	for name, tc := range map[string]struct {
		src  []byte
		want error
	}{
		"another format":             {testFile(t, "static.gif"), images.ErrNotImage},
		"no picture":                 {testFile(t, "page.html"), images.ErrNotImage},
		"a segment beyond the end":   {longer, images.ErrDamaged},
		"something between segments": {append(bytes.Clone(whole[:20]), make([]byte, 40)...), images.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := images.StripMetadata(tc.src); !errors.Is(err, tc.want) {
				t.Errorf("got %d bytes, %v", len(out), err)
			}
		})
	}
}

func TestAPictureThatIsCutShortIsStrippedTo(t *testing.T) {
	src := privateJPEG(t, "photo_03mp.jpg", 6)
	out, err := images.StripMetadata(src[:len(src)/2])
	if err != nil || bytes.Contains(out, []byte(private)) || len(out) < len(src)/3 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func FuzzStripMetadata(f *testing.F) {
	f.Add(privateJPEG(f, "orient_1.jpg", 6))
	f.Add(privatePNG(f, "one_pixel.png", 6))
	f.Add(privateWebP(f, "animated.webp", 6))
	f.Fuzz(func(t *testing.T, src []byte) {
		out, err := images.StripMetadata(src)
		if err != nil {
			return
		}
		if again, err := images.StripMetadata(out); err == nil && !bytes.Equal(again, out) {
			t.Errorf("not stable: %d, then %d bytes", len(out), len(again))
		}
	})
}
