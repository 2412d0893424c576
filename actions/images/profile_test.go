package images_test

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"

	"hasura-storage/actions/images"
)

// profileOf finds the colour profile in a file, without help of the package under test.
func profileOf(t *testing.T, res images.Result) []byte {
	t.Helper()
	b := res.Bytes
	switch res.Format {
	case images.JPEG:
		_, rest, ok := bytes.Cut(b, []byte("ICC_PROFILE\x00\x01\x01"))
		if !ok {
			return nil
		}
		size := int(rest[0])<<24 | int(rest[1])<<16 | int(rest[2])<<8 | int(rest[3])
		return rest[:size]
	case images.PNG:
		_, rest, ok := bytes.Cut(b, []byte("iCCPicc\x00\x00"))
		if !ok {
			return nil
		}
		z, err := zlib.NewReader(bytes.NewReader(rest))
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return out
	case images.WebP:
		_, rest, ok := bytes.Cut(b, []byte("ICCP"))
		if !ok {
			return nil
		}
		size := int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
		return rest[4 : 4+size]
	default:
	}
	return nil
}

func TestTheColourProfileIsCarriedAlong(t *testing.T) {
	if underRace {
		t.Skip("too slow under the race detector")
	}
	want := profileOf(t, images.Result{Format: images.JPEG, Bytes: sample(t, "display_p3.jpg")})
	if len(want) < 400 {
		t.Fatalf("the sample's profile has %d bytes", len(want))
	}
	for _, f := range []images.Format{images.JPEG, images.PNG, images.WebP} {
		res := transform(t, "display_p3.jpg", images.Spec{Width: 150, Format: f})
		if !bytes.Equal(profileOf(t, res), want) {
			t.Errorf("%s does not carry the profile", f)
		}
		again := transformed(t, res.Bytes, images.Spec{Width: 75, Format: images.JPEG})
		if !bytes.Equal(profileOf(t, again), want) {
			t.Errorf("the profile of the %s result is lost when it is transformed again", f)
		}
	}
}

func TestAProfileThatFitsNoLongerIsDropped(t *testing.T) {
	if res := transform(t, "display_p3.jpg", images.Spec{Width: 150, Grayscale: true}); profileOf(t, res) != nil {
		t.Error("a gray picture carries a profile for colours")
	}
}
