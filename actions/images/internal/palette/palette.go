// Package palette reduces pictures to a few colours, for GIF.
package palette

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

// shift is what is dropped of each sample when colours are counted: five bits are left.
const shift = 3

// entry is one of the counted colours.
type entry struct {
	rgb   [3]uint8
	count int
}

// group is a set of colours that will become one.
type group struct {
	entries []entry
	axis    int // the channel along which it is longest
	weight  int // how much is gained by splitting it
}

// Of returns at most n colours for m, by median cut: the group of colours that stretches farthest, weighted with its pixels, is split at its median
// until there are n. Pixels more transparent than not do not count. It returns at least one colour.
func Of(m *image.NRGBA, n int) color.Palette {
	all := count(m)
	if len(all) == 0 {
		return color.Palette{color.NRGBA{A: 255}}
	}
	groups := []group{measured(all)}
	for len(groups) < n {
		i := heaviest(groups)
		if len(groups[i].entries) < 2 {
			break
		}
		a, b := groups[i].split()
		groups[i] = a
		groups = append(groups, b)
	}
	out := make(color.Palette, 0, n+1)
	for _, g := range groups {
		out = append(out, g.mean())
	}
	return out
}

// count counts the colours of m, in a fixed order.
func count(m *image.NRGBA) []entry {
	const side = 1 << (8 - shift)
	var sums [side * side * side][4]int
	for i := 0; i+3 < len(m.Pix); i += 4 {
		r, g, b := m.Pix[i], m.Pix[i+1], m.Pix[i+2]
		if m.Pix[i+3] >= 128 {
			s := &sums[int(r>>shift)*side*side+int(g>>shift)*side+int(b>>shift)]
			s[0], s[1], s[2], s[3] = s[0]+int(r), s[1]+int(g), s[2]+int(b), s[3]+1
		}
	}
	var out []entry
	for _, s := range sums {
		if n := s[3]; n > 0 {
			out = append(out, entry{[3]uint8{uint8(s[0] / n), uint8(s[1] / n), uint8(s[2] / n)}, n})
		}
	}
	return out
}

func measured(entries []entry) group {
	g := group{entries: entries}
	total, best := 0, -1
	for _, e := range entries {
		total += e.count
	}
	for axis := range 3 {
		lo, hi := uint8(255), uint8(0)
		for _, e := range entries {
			lo, hi = min(lo, e.rgb[axis]), max(hi, e.rgb[axis])
		}
		if d := int(hi) - int(lo); d > best {
			g.axis, best = axis, d
		}
	}
	g.weight = best * best * total
	if len(entries) < 2 {
		g.weight = -1
	}
	return g
}

func heaviest(groups []group) int {
	best := 0
	for i, g := range groups {
		if g.weight > groups[best].weight {
			best = i
		}
	}
	return best
}

func (g group) split() (a, b group) {
	slices.SortStableFunc(g.entries, func(x, y entry) int { return cmp.Compare(x.rgb[g.axis], y.rgb[g.axis]) })
	total := 0
	for _, e := range g.entries {
		total += e.count
	}
	at, sum := 1, g.entries[0].count
	for at < len(g.entries)-1 && sum+g.entries[at].count <= total/2 {
		sum += g.entries[at].count
		at++
	}
	return measured(g.entries[:at]), measured(g.entries[at:])
}

func (g group) mean() color.NRGBA {
	var sum [3]int
	total := 0
	for _, e := range g.entries {
		for c := range 3 {
			sum[c] += int(e.rgb[c]) * e.count
		}
		total += e.count
	}
	return color.NRGBA{R: uint8(sum[0] / total), G: uint8(sum[1] / total), B: uint8(sum[2] / total), A: 255}
}

// Apply paints m with the given colours, at most 256 as Of returns them, the last of which stands for transparent pixels if it is transparent. What a pixel is off by is
// handed on to its neighbours (Floyd and Steinberg), at three quarters, which keeps flat areas quiet.
func Apply(m *image.NRGBA, colours color.Palette) *image.Paletted {
	r := m.Rect
	out := image.NewPaletted(image.Rect(0, 0, r.Dx(), r.Dy()), colours)
	d := newDither(colours, r.Dx())
	for y := range r.Dy() {
		d.line(m.Pix[y*m.Stride:], out.Pix[y*out.Stride:y*out.Stride+r.Dx()])
	}
	return out
}

// dither holds the errors that are handed on, one place of margin on both sides.
type dither struct {
	colours   [][3]int
	clear     int // index of the transparent colour, -1 if there is none
	near      map[[3]uint8]uint8
	this, nxt [][3]int
}

func newDither(p color.Palette, width int) *dither {
	d := &dither{clear: -1, near: map[[3]uint8]uint8{}, this: make([][3]int, width+2), nxt: make([][3]int, width+2)}
	for i, c := range p {
		n, ok := c.(color.NRGBA)
		if !ok || n.A == 0 {
			d.clear = i
			break
		}
		d.colours = append(d.colours, [3]int{int(n.R), int(n.G), int(n.B)})
	}
	return d
}

func (d *dither) line(src, dst []uint8) {
	clear(d.nxt)
	for x := range dst {
		px := src[4*x : 4*x+4]
		if d.clear >= 0 && px[3] < 128 {
			dst[x] = uint8(d.clear)
			continue
		}
		var want [3]uint8
		for c := range 3 {
			want[c] = uint8(min(max(int(px[c])+d.this[x+1][c]/16, 0), 255))
		}
		dst[x] = d.nearest(want)
		got := d.colours[dst[x]]
		for c := range 3 {
			e := (int(want[c]) - got[c]) * 3 / 4
			d.this[x+2][c] += 7 * e
			d.nxt[x][c] += 3 * e
			d.nxt[x+1][c] += 5 * e
			d.nxt[x+2][c] += e
		}
	}
	d.this, d.nxt = d.nxt, d.this
}

// nearest returns the index of the nearest colour. Colours alike in their upper bits share an answer.
func (d *dither) nearest(c [3]uint8) uint8 {
	key := [3]uint8{c[0] >> 2, c[1] >> 2, c[2] >> 2}
	if i, ok := d.near[key]; ok {
		return i
	}
	best, bestDistance := 0, 1<<30
	for i, p := range d.colours {
		r, g, b := p[0]-int(c[0]), p[1]-int(c[1]), p[2]-int(c[2])
		if dist := 2*r*r + 4*g*g + b*b; dist < bestDistance {
			best, bestDistance = i, dist
		}
	}
	d.near[key] = uint8(best)
	return uint8(best)
}
