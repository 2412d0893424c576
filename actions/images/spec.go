package images

import (
	"image/color"
	"math"
	"strconv"
	"strings"
)

// Spec says what is to be made of a picture. The zero Spec makes the same picture in the same format, upright and without metadata.
//
// The order is fixed: the file's own orientation, Crop, Rotate by quarter turns, Flip, then the resize – so that Width and Height
// are those of what is seen –, any other Rotate, Blur, Sharpen, Grayscale, Background, Padding.
type Spec struct {
	// Width and Height are in pixels, before DPR; 0 means: as the other side and the picture's shape demand.
	Width, Height int
	// Fit says how a picture of another shape gets into Width x Height; it matters only if both are given. Zero is Cover.
	Fit Fit
	// Gravity says which part Cover keeps, and where Contain puts the picture. Zero is Center.
	Gravity Gravity
	// Focal is what Gravity Focal keeps in sight; without it Focal is Center.
	Focal *Point
	// Crop is cut out first, in pixels of the upright picture. It is clipped to the picture and must leave something.
	Crop *Rect
	// DPR multiplies Width, Height and Padding: 2 for a display with two pixels per CSS pixel. 0 means 1.
	DPR float64
	// Enlarge lets the result have more pixels than the source gives.
	Enlarge bool
	// Format of the result; zero is that of the source (JPEG for HEIC).
	Format Format
	// Quality is 1 to 100, 0 the format's default: JPEG 85, WebP 80, AVIF 60. PNG and GIF have none.
	Quality int
	// Blur and Sharpen are deviations of a Gaussian in pixels of the result; 0 is none.
	Blur, Sharpen float64
	// Rotate turns clockwise, in degrees. Other than quarter turns leave corners, filled with Background, and make the result larger.
	Rotate int
	// Flip mirrors after Rotate's quarter turns.
	Flip Flip
	// Grayscale takes the colours out.
	Grayscale bool
	// Background goes behind transparent pixels, beside a contained picture and into the padding. The zero value is none: transparent where the
	// format can, white where it cannot.
	Background color.NRGBA
	// Padding is added on all four sides, in pixels, before DPR.
	Padding int
}

// Fit is how a picture is brought to a size of another shape.
type Fit string

// The fits. None of them distorts but Fill.
const (
	Cover   Fit = "cover"   // fill the size, cut off what is too much
	Contain Fit = "contain" // show all of it, fill up with Background
	Fill    Fit = "fill"    // stretch
	Inside  Fit = "inside"  // show all of it, no larger than the size
	Outside Fit = "outside" // no smaller than the size, nothing cut off
)

// Gravity is the part of a picture that matters.
type Gravity string

// The gravities.
const (
	Center    Gravity = "center"
	North     Gravity = "north"
	South     Gravity = "south"
	East      Gravity = "east"
	West      Gravity = "west"
	NorthEast Gravity = "northeast"
	NorthWest Gravity = "northwest"
	SouthEast Gravity = "southeast"
	SouthWest Gravity = "southwest"
	Focal     Gravity = "focal" // Spec.Focal
	Smart     Gravity = "smart" // where there is most to see
)

// Flip mirrors a picture.
type Flip string

// The flips.
const (
	NoFlip     Flip = ""
	Horizontal Flip = "horizontal" // left and right change places
	Vertical   Flip = "vertical"   // top and bottom change places
	Both       Flip = "both"
)

// Point is a place in the upright picture as fractions of its width and height, 0 to 1.
type Point struct{ X, Y float64 }

// Rect is a window in the upright picture, in pixels.
type Rect struct{ X, Y, Width, Height int }

// DefaultQuality is what Quality 0 means; 0 for formats without one.
func (f Format) DefaultQuality() int {
	switch f {
	case JPEG:
		return 85
	case WebP:
		return 80
	case AVIF:
		return 60
	default:
		return 0
	}
}

// ParseColor reads "rgb", "rgba", "rrggbb" or "rrggbbaa" in hexadecimal, with or without "#", or one of "transparent", "white" and "black".
func ParseColor(s string) (color.NRGBA, error) {
	switch s = strings.TrimPrefix(strings.ToLower(s), "#"); s {
	case "", "transparent":
		return color.NRGBA{}, nil
	case "white":
		s = "fff"
	case "black":
		s = "000"
	}
	if len(s) == 3 || len(s) == 4 {
		wide := make([]byte, 0, 8)
		for i := range len(s) {
			wide = append(wide, s[i], s[i])
		}
		s = string(wide)
	}
	if len(s) == 6 {
		s += "ff"
	}
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 8 {
		return color.NRGBA{}, fieldError("background", "must be a colour like fff, ffffff or ffffffff")
	}
	return color.NRGBA{R: uint8(v >> 24), G: uint8(v >> 16), B: uint8(v >> 8), A: uint8(v)}, nil
}

// normal returns a Spec with the same result in which every field that has no effect is zero and DPR is worked in.
func (s Spec) normal() Spec {
	dpr := s.DPR
	if dpr == 0 {
		dpr = 1
	}
	s.DPR = 0
	s.Width, s.Height, s.Padding = times(s.Width, dpr), times(s.Height, dpr), times(s.Padding, dpr)
	if s.Width == 0 || s.Height == 0 {
		s.Fit, s.Gravity = "", ""
	}
	if s.Width == 0 && s.Height == 0 {
		s.Enlarge = false
	}
	return s.normalFrame().normalLook()
}

func times(n int, by float64) int {
	if n == 0 {
		return 0
	}
	return max(1, int(math.Round(float64(n)*by)))
}

// normalFrame drops what the fit does not look at.
func (s Spec) normalFrame() Spec {
	if s.Fit == Cover {
		s.Fit = ""
	}
	switch s.Fit {
	case Fill, Inside, Outside:
		s.Gravity = ""
	default:
	}
	if s.Fit == Contain && (s.Gravity == Smart || s.Gravity == Focal) || s.Gravity == Center || s.Gravity == Focal && s.Focal == nil {
		s.Gravity = ""
	}
	if s.Gravity != Focal {
		s.Focal = nil
	}
	s.Rotate = (s.Rotate%360 + 360) % 360
	if s.Flip == Both && s.Rotate%90 == 0 {
		s.Flip, s.Rotate = NoFlip, (s.Rotate+180)%360
	}
	return s
}

// normalLook drops what changes no pixel.
func (s Spec) normalLook() Spec {
	if s.Format == PNG || s.Format == GIF || s.Format != Same && s.Quality == s.Format.DefaultQuality() {
		s.Quality = 0
	}
	if s.Background.A == 0 {
		s.Background = color.NRGBA{}
	}
	s.Blur, s.Sharpen = thousandths(s.Blur), thousandths(s.Sharpen)
	if s.Focal != nil {
		s.Focal = &Point{X: thousandths(s.Focal.X), Y: thousandths(s.Focal.Y)}
	}
	return s
}

func thousandths(v float64) float64 { return math.Round(v*1000) / 1000 }
