package images

import (
	"fmt"
	"math"

	"hasura-storage/actions/images/internal/planes"
)

// plan is a Spec worked out for one picture. "Stored" is how the pixels lie in the file, "seen" is how they lie in the result: turn leads
// from one to the other.
type plan struct {
	turn          planes.Turn
	region        planes.Box // stored: what Crop leaves
	window        planes.Box // stored: what of it is seen in the result
	seen          [2]float64 // seen: the size of window
	width, height int        // seen: the size to which the window is brought
	canvas        [2]int     // seen: the size of the result
	offset        [2]int     // seen: where on the canvas the picture stands
}

// newPlan works out sizes and places. Where the gravity is Smart the window is still the middle; see move.
func newPlan(info Info, s Spec) (plan, error) {
	s = s.normal()
	p := plan{turn: info.turn().Then(s.turn())}
	w, h := info.stored()
	p.region = planes.Box{W: float64(w), H: float64(h)}
	if s.Crop != nil {
		box, err := s.Crop.within(info)
		if err != nil {
			return p, err
		}
		p.region = turnBox(box, info.turn().Inverse(), float64(info.Width), float64(info.Height))
	}
	rw, rh := seenSize(p.turn, p.region)
	p.fit(s, rw, rh)
	ax, ay := s.anchor(info, &p)
	p.move(ax, ay)
	p.frame(s)
	return p, nil
}

// turn returns what Rotate's quarter turns and Flip do together.
func (s Spec) turn() planes.Turn {
	t := planes.Turn{}
	if s.Rotate%90 == 0 {
		t.Quarters = s.Rotate / 90
	}
	switch s.Flip {
	case Horizontal:
		t = t.Then(planes.Turn{Mirror: true})
	case Vertical:
		t = t.Then(planes.Turn{Mirror: true, Quarters: 2})
	case Both:
		t = t.Then(planes.Turn{Quarters: 2})
	default:
	}
	return t
}

// within clips a crop to the upright picture.
func (r Rect) within(info Info) (planes.Box, error) {
	w, h := min(r.Width, info.Width-r.X), min(r.Height, info.Height-r.Y)
	if w < 1 || h < 1 {
		return planes.Box{}, fieldError("crop", "lies outside of the picture, which is %dx%d", info.Width, info.Height)
	}
	return planes.Box{X: float64(r.X), Y: float64(r.Y), W: float64(w), H: float64(h)}, nil
}

// turnBox returns where t takes a box inside a rectangle of w x h.
func turnBox(b planes.Box, t planes.Turn, w, h float64) planes.Box {
	x0, y0 := t.Point(b.X, b.Y, w, h)
	x1, y1 := t.Point(b.X+b.W, b.Y+b.H, w, h)
	return planes.Box{X: min(x0, x1), Y: min(y0, y1), W: math.Abs(x1 - x0), H: math.Abs(y1 - y0)}
}

func seenSize(t planes.Turn, b planes.Box) (w, h float64) {
	if t.Swaps() {
		return b.H, b.W
	}
	return b.W, b.H
}

// fit sets the size of the picture, and that of the window.
func (p *plan) fit(s Spec, rw, rh float64) {
	w, h := float64(s.Width), float64(s.Height)
	p.seen = [2]float64{rw, rh}
	var scale float64
	switch {
	case s.Width == 0 && s.Height == 0:
		scale = 1
	case s.Height == 0:
		scale = w / rw
	case s.Width == 0:
		scale = h / rh
	case s.Fit == Fill:
		p.stretch(s, rw, rh)
		return
	case s.Fit == Contain, s.Fit == Inside:
		scale = min(w/rw, h/rh)
	default:
		scale = max(w/rw, h/rh)
	}
	if s.Fit == "" && s.Width > 0 && s.Height > 0 {
		p.cover(s, rw, rh, scale)
		return
	}
	if !s.Enlarge {
		scale = min(scale, 1)
	}
	p.width, p.height = pixels(rw*scale), pixels(rh*scale)
}

// cover cuts the window to the shape that was asked for. Without Enlarge the result shrinks in that shape, until every pixel of it has
// one of the source.
func (p *plan) cover(s Spec, rw, rh, scale float64) {
	w, h := float64(s.Width), float64(s.Height)
	p.seen = [2]float64{min(rw, w/scale), min(rh, h/scale)}
	if scale > 1 && !s.Enlarge {
		w, h = w/scale, h/scale
	}
	p.width, p.height = pixels(w), pixels(h)
}

func (p *plan) stretch(s Spec, rw, rh float64) {
	p.width, p.height = s.Width, s.Height
	if !s.Enlarge {
		p.width, p.height = min(s.Width, pixels(rw)), min(s.Height, pixels(rh))
	}
}

// pixels rounds to a whole number of pixels, at least one.
func pixels(v float64) int { return max(1, int(math.Round(v))) }

// anchor returns where the window stands in the region: 0 at its left or top, 1 at its right or bottom.
func (s Spec) anchor(info Info, p *plan) (x, y float64) {
	x, y = 0.5, 0.5
	switch s.Gravity {
	case North, NorthEast, NorthWest:
		y = 0
	case South, SouthEast, SouthWest:
		y = 1
	default:
	}
	switch s.Gravity {
	case West, NorthWest, SouthWest:
		x = 0
	case East, NorthEast, SouthEast:
		x = 1
	case Focal:
		return s.focalAnchor(info, p)
	default:
	}
	return x, y
}

// focalAnchor centres the window on the focal point, as far as the region allows.
func (s Spec) focalAnchor(info Info, p *plan) (x, y float64) {
	fx, fy := info.turn().Inverse().Point(s.Focal.X*float64(info.Width), s.Focal.Y*float64(info.Height), float64(info.Width), float64(info.Height))
	fx, fy = p.turn.Point(fx-p.region.X, fy-p.region.Y, p.region.W, p.region.H)
	rw, rh := seenSize(p.turn, p.region)
	return share(fx-p.seen[0]/2, rw-p.seen[0]), share(fy-p.seen[1]/2, rh-p.seen[1])
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0.5
	}
	return min(max(part/whole, 0), 1)
}

// move puts the window to its place in the region.
func (p *plan) move(ax, ay float64) {
	rw, rh := seenSize(p.turn, p.region)
	seen := planes.Box{X: (rw - p.seen[0]) * ax, Y: (rh - p.seen[1]) * ay, W: p.seen[0], H: p.seen[1]}
	p.window = turnBox(seen, p.turn.Inverse(), rw, rh)
	p.window.X += p.region.X
	p.window.Y += p.region.Y
}

// frame sets the canvas and the place of the picture on it.
func (p *plan) frame(s Spec) {
	p.canvas = [2]int{p.width, p.height}
	if s.Fit == Contain {
		p.canvas = [2]int{s.Width, s.Height}
		ax, ay := s.anchor(Info{}, p)
		p.offset = [2]int{int(float64(s.Width-p.width) * ax), int(float64(s.Height-p.height) * ay)}
	}
	for i := range 2 {
		p.canvas[i] += 2 * s.Padding
		p.offset[i] += s.Padding
	}
}

// framed reports whether there is canvas beside the picture.
func (p *plan) framed() bool { return p.canvas != [2]int{p.width, p.height} }

// shrinks returns how many pixels of the file go into one of the result, along the axis where it is fewer.
func (p *plan) shrinks() float64 {
	w, h := p.turn.Size(p.width, p.height)
	return min(p.window.W/float64(w), p.window.H/float64(h))
}

// check refuses results that are too large.
func (p *plan) check(l Limits, f Format, frames int, rotate int) error {
	w, h := p.canvas[0], p.canvas[1]
	if rotate%90 != 0 {
		d := int(math.Ceil(math.Hypot(float64(w), float64(h))))
		w, h = d, d
	}
	if w < 1 || h < 1 {
		return fmt.Errorf("%w: the result would be empty", ErrInvalidSpec)
	}
	return l.admitResult(f, w, h, frames)
}
