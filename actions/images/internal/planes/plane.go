// Package planes holds single channels of a picture and what can be done to one channel alone: cutting, turning,
// resampling, blurring. A colour picture is several planes, and chroma planes may be smaller than the luma plane; nothing
// here needs to know. Everything is deterministic, runs in the caller's goroutine and allocates only its result and a few rows.
package planes

// Plane is one channel: W x H samples of 8 bits, row by row, Stride samples from one row to the next. Rows may be longer
// than W; what stands behind W is not part of the picture.
type Plane struct {
	W, H, Stride int
	Pix          []uint8
}

// New returns a plane of w x h zero samples without gaps between its rows.
func New(w, h int) Plane {
	return Plane{W: w, H: h, Stride: w, Pix: make([]uint8, w*h)}
}

// Row returns the W samples of row y.
func (p Plane) Row(y int) []uint8 {
	i := y * p.Stride
	return p.Pix[i : i+p.W : i+p.W]
}

// Fill sets every sample to v.
func (p Plane) Fill(v uint8) {
	for y := range p.H {
		row := p.Row(y)
		for x := range row {
			row[x] = v
		}
	}
}

// Map replaces every sample by its entry in the table.
func (p Plane) Map(table *[256]uint8) {
	for y := range p.H {
		row := p.Row(y)
		for x, v := range row {
			row[x] = table[v]
		}
	}
}

// Cut returns the window of w x h samples at x, y. It shares the samples with p.
func (p Plane) Cut(x, y, w, h int) Plane {
	return Plane{W: w, H: h, Stride: p.Stride, Pix: p.Pix[y*p.Stride+x:]}
}

// Paste copies src into p with its top left corner at x, y; what would fall outside is left out.
func (p Plane) Paste(src Plane, x, y int) {
	skip := max(0, -x)
	for sy := range src.H {
		if dy := y + sy; dy >= 0 && dy < p.H && skip < src.W && x+skip < p.W {
			copy(p.Row(dy)[x+skip:], src.Row(sy)[skip:])
		}
	}
}

// Clone returns a copy that shares nothing with p.
func (p Plane) Clone() Plane {
	out := New(p.W, p.H)
	out.Paste(p, 0, 0)
	return out
}
