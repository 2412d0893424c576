package images

import (
	"os"
	"testing"
)

func TestAProfileIsAppliedWhereTheFormatCannotCarryIt(t *testing.T) {
	src, err := os.ReadFile("testdata/display_p3.jpg")
	if err != nil {
		t.Fatal(err)
	}
	info, err := Probe(src)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ p3, srgb [3]uint8 }{
		"white stays white":                       {[3]uint8{255, 255, 255}, [3]uint8{255, 255, 255}},
		"gray stays gray":                         {[3]uint8{128, 128, 128}, [3]uint8{128, 128, 128}},
		"the reddest red of P3 is beyond sRGB's":  {[3]uint8{255, 0, 0}, [3]uint8{255, 0, 0}},
		"a moderate red has more red in sRGB":     {[3]uint8{200, 100, 100}, [3]uint8{215, 93, 97}},
		"a moderate green has more green in sRGB": {[3]uint8{100, 200, 100}, [3]uint8{45, 203, 86}},
	} {
		p := newPicture(rgb, 1, 1, false)
		p.profile = info.profile
		for i := range 3 {
			p.planes[i].Pix[0] = c.p3[i]
		}
		p.toSRGB()
		for i := range 3 {
			if d := int(p.planes[i].Pix[0]) - int(c.srgb[i]); d < -2 || d > 2 {
				t.Errorf("%s: %v became %d %d %d, want %v", name, c.p3, p.planes[0].Pix[0], p.planes[1].Pix[0], p.planes[2].Pix[0], c.srgb)
				break
			}
		}
	}
}
