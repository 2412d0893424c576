package images

import (
	"fmt"
	"math"
)

// Limits bound what a stranger's picture and a stranger's wishes may cost. Each must be positive; start from DefaultLimits.
type Limits struct {
	MaxSourceBytes  int64 // of the file
	MaxPixels       int64 // of the source, by its header
	MaxOutputPixels int64 // of the result, padding included, all frames together
	MaxSide         int   // width and height that may be asked for, in pixels, after DPR
	MaxFrames       int   // of an animation
	MaxFramePixels  int64 // of an animation, all frames together, of the source and again of the result
	MaxScans        int   // of a JPEG: each visits all of it
	MaxBlur         float64
}

// DefaultLimits suit a service with some hundred MiB to spare.
func DefaultLimits() Limits {
	return Limits{
		MaxSourceBytes:  64 << 20,
		MaxPixels:       50_000_000,
		MaxOutputPixels: 40_000_000,
		MaxSide:         8000,
		MaxFrames:       256,
		MaxFramePixels:  8_000_000,
		MaxScans:        100,
		MaxBlur:         250,
	}
}

// maxPad and the like are limits of sense rather than of cost.
const (
	maxDPR     = 5.0
	minDPR     = 0.1
	maxSharpen = 10.0
)

// Validate checks everything about a Spec that can be checked without a picture. Its error is a *FieldError.
func (s Spec) Validate(l Limits) error {
	for _, check := range []func(Limits) error{s.checkSize, s.checkChoices, s.checkPlaces, s.checkLook} {
		if err := check(l); err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) checkSize(l Limits) error {
	if s.DPR != 0 && !(s.DPR >= minDPR && s.DPR <= maxDPR) {
		return fieldError("dpr", "%v is outside of %v to %v", s.DPR, minDPR, maxDPR)
	}
	n := s.normal()
	for _, f := range []struct {
		name         string
		given, value int
	}{{"width", s.Width, n.Width}, {"height", s.Height, n.Height}, {"padding", s.Padding, n.Padding}} {
		if f.given < 0 {
			return fieldError(f.name, "%d is negative", f.given)
		}
		if f.value > l.MaxSide || f.given > l.MaxSide {
			return fieldError(f.name, "%d exceeds the maximum of %d", max(f.value, f.given), l.MaxSide)
		}
	}
	return nil
}

func (s Spec) checkChoices(Limits) error {
	switch s.Fit {
	case "", Cover, Contain, Fill, Inside, Outside:
	default:
		return fieldError("fit", "must be one of cover, contain, fill, inside, outside")
	}
	switch s.Gravity {
	case "", Center, North, South, East, West, NorthEast, NorthWest, SouthEast, SouthWest, Focal, Smart:
	default:
		return fieldError("gravity", "must be one of center, north, south, east, west, northeast, northwest, southeast, southwest, focal, smart")
	}
	switch s.Flip {
	case NoFlip, Horizontal, Vertical, Both:
	default:
		return fieldError("flip", "must be one of horizontal, vertical, both")
	}
	if !s.Format.Writable() {
		return fieldError("format", "must be one of same, jpeg, png, webp, avif, gif")
	}
	return nil
}

func (s Spec) checkPlaces(Limits) error {
	if c := s.Crop; c != nil && (c.X < 0 || c.Y < 0 || c.Width < 1 || c.Height < 1 || c.X > 1<<20 || c.Y > 1<<20 || c.Width > 1<<20 || c.Height > 1<<20) {
		return fieldError("crop", "must have x and y from 0 and width and height from 1, all up to %d", 1<<20)
	}
	if p := s.Focal; p != nil && !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1) {
		return fieldError("focal", "must lie between 0 and 1 both ways")
	}
	return nil
}

func (s Spec) checkLook(l Limits) error {
	switch {
	case s.Quality < 0 || s.Quality > 100:
		return fieldError("quality", "%d is outside of 1 to 100", s.Quality)
	case !(s.Blur >= 0 && s.Blur <= l.MaxBlur):
		return fieldError("blur", "%v is outside of 0 to %v", s.Blur, l.MaxBlur)
	case !(s.Sharpen >= 0 && s.Sharpen <= maxSharpen):
		return fieldError("sharpen", "%v is outside of 0 to %v", s.Sharpen, maxSharpen)
	case s.Rotate < -360 || s.Rotate > 360:
		return fieldError("rotate", "%d is outside of -360 to 360", s.Rotate)
	}
	return nil
}

// Admit checks a source of so many bytes, of which s is to be made, by its header, as Transform does.
func (l Limits) Admit(size int, info Info, s Spec) error {
	pixels := int64(info.Width) * int64(info.Height)
	switch {
	case int64(size) > l.MaxSourceBytes:
		return fmt.Errorf("%w: %d bytes exceed the maximum of %d", ErrTooLarge, size, l.MaxSourceBytes)
	case pixels > l.MaxPixels:
		return fmt.Errorf("%w: %dx%d is more than the maximum of %d pixels", ErrTooLarge, info.Width, info.Height, l.MaxPixels)
	case pixels <= 0:
		return fmt.Errorf("%w: the header says %dx%d", ErrDamaged, info.Width, info.Height)
	case info.Animates(s):
		return l.admitFrames("the animation has", info.Frames, info.Width, info.Height)
	}
	return nil
}

// admitFrames bounds the work that an animation is: every frame is drawn, resized and reduced to 256 colours in full, however little of it changes.
func (l Limits) admitFrames(what string, frames, w, h int) error {
	switch pixels := int64(w) * int64(h) * int64(frames); {
	case frames > l.MaxFrames:
		return fmt.Errorf("%w: %s %d frames, more than the maximum of %d", ErrTooLarge, what, frames, l.MaxFrames)
	case pixels > l.MaxFramePixels:
		return fmt.Errorf("%w: %s %d frames of %dx%d, together %d pixels, more than the maximum of %d", ErrTooLarge, what, frames, w, h, pixels, l.MaxFramePixels)
	}
	return nil
}

// admitResult checks the size of a result, in all its frames.
func (l Limits) admitResult(f Format, w, h, frames int) error {
	longest := math.MaxUint16
	if f == WebP {
		longest = 16383
	}
	if w > longest || h > longest {
		return fmt.Errorf("%w: the result would be %dx%d, %s allows %d a side", ErrTooLarge, w, h, f, longest)
	}
	if int64(w)*int64(h)*int64(frames) > l.MaxOutputPixels {
		return fmt.Errorf("%w: the result would be %dx%d, more than the maximum of %d pixels", ErrTooLarge, w, h, l.MaxOutputPixels)
	}
	if frames > 1 {
		return l.admitFrames("the result would have", frames, w, h)
	}
	return nil
}
