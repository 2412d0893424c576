package planes

// Turn is one of the eight ways to lay a rectangle on itself: first mirrored left to right if Mirror, then turned clockwise
// by Quarters quarter turns (0 to 3). The zero Turn changes nothing.
type Turn struct {
	Mirror   bool
	Quarters int
}

// Then returns the turn that does t first and next afterwards.
func (t Turn) Then(next Turn) Turn {
	q := t.Quarters
	if next.Mirror {
		q = -q
	}
	return Turn{Mirror: t.Mirror != next.Mirror, Quarters: (q + next.Quarters + 8) % 4}
}

// Inverse returns the turn that undoes t.
func (t Turn) Inverse() Turn {
	if t.Mirror {
		return t
	}
	return Turn{Quarters: (4 - t.Quarters) % 4}
}

// Swaps reports whether t exchanges width and height.
func (t Turn) Swaps() bool { return t.Quarters%2 == 1 }

// Size returns the size of a w x h rectangle after t.
func (t Turn) Size(w, h int) (int, int) {
	if t.Swaps() {
		return h, w
	}
	return w, h
}

// Point returns where t takes the point x, y of a w x h rectangle.
func (t Turn) Point(x, y, w, h float64) (float64, float64) {
	if t.Mirror {
		x = w - x
	}
	switch t.Quarters {
	case 1:
		return h - y, x
	case 2:
		return w - x, h - y
	case 3:
		return y, w - x
	}
	return x, y
}

// Turned returns p after t; p itself where t changes nothing.
func (p Plane) Turned(t Turn) Plane {
	if t == (Turn{}) {
		return p
	}
	w, h := t.Size(p.W, p.H)
	out := New(w, h)
	for y := range h {
		start, step := t.source(p, y)
		row := out.Row(y)
		for x := range row {
			row[x] = p.Pix[start]
			start += step
		}
	}
	return out
}

// source returns where in p.Pix row y of the turned plane begins, and the distance from one of its samples to the next.
func (t Turn) source(p Plane, y int) (start, step int) {
	var x0, y0, dx, dy int
	switch t.Quarters {
	case 0:
		x0, y0, dx = 0, y, 1
	case 1:
		x0, y0, dy = y, p.H-1, -1
	case 2:
		x0, y0, dx = p.W-1, p.H-1-y, -1
	default:
		x0, y0, dy = p.W-1-y, 0, 1
	}
	if t.Mirror {
		x0, dx = p.W-1-x0, -dx
	}
	return y0*p.Stride + x0, dy*p.Stride + dx
}
