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
	g.sort()
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

// sort puts the entries in the order of their samples along the axis, and keeps the order of those that are equal.
func (g group) sort() {
	var at [257]int
	for _, e := range g.entries {
		at[int(e.rgb[g.axis])+1]++
	}
	for i := range 256 {
		at[i+1] += at[i]
	}
	sorted := make([]entry, len(g.entries))
	for _, e := range g.entries {
		i := &at[e.rgb[g.axis]]
		sorted[*i] = e
		*i++
	}
	copy(g.entries, sorted)
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
	byGreen   []uint8  // their indices
	clear     int      // index of the transparent colour, -1 if there is none
	near      []uint16 // for the upper bits of a colour, one more than the index of the nearest; 0 where nobody asked yet
	this, nxt [][3]int
}

// nearBits is how much of each sample tells colours apart when the nearest is looked up.
const nearBits = 6

func newDither(p color.Palette, width int) *dither {
	d := &dither{clear: -1, near: make([]uint16, 1<<(3*nearBits)), this: make([][3]int, width+2), nxt: make([][3]int, width+2)}
	for i, c := range p {
		n, ok := c.(color.NRGBA)
		if !ok || n.A == 0 {
			d.clear = i
			break
		}
		d.colours = append(d.colours, [3]int{int(n.R), int(n.G), int(n.B)})
		d.byGreen = append(d.byGreen, uint8(i))
	}
	slices.SortStableFunc(d.byGreen, func(x, y uint8) int { return cmp.Compare(d.colours[x][1], d.colours[y][1]) })
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
	const drop = 8 - nearBits
	n := &d.near[int(c[0]>>drop)<<(2*nearBits)|int(c[1]>>drop)<<nearBits|int(c[2]>>drop)]
	if *n == 0 {
		*n = uint16(d.search(c)) + 1
	}
	return uint8(*n - 1)
}

// search goes from the colours of like green outwards, until green alone is too far away. Of those equally near it takes the first.
func (d *dither) search(c [3]uint8) uint8 {
	r, g, b := int(c[0]), int(c[1]), int(c[2])
	up, _ := slices.BinarySearchFunc(d.byGreen, g, func(i uint8, g int) int { return cmp.Compare(d.colours[i][1], g) })
	down := up - 1
	best, least := uint8(0), 1<<30
	try := func(at int) bool {
		if at < 0 || at >= len(d.byGreen) {
			return false
		}
		i := d.byGreen[at]
		p := d.colours[i]
		dr, dg, db := p[0]-r, p[1]-g, p[2]-b
		if 4*dg*dg > least {
			return false
		}
		if dist := 2*dr*dr + 4*dg*dg + db*db; dist < least || dist == least && i < best {
			best, least = i, dist
		}
		return true
	}
	for above, below := true, true; above || below; up, down = up+1, down-1 {
		above = above && try(up)
		below = below && try(down)
	}
	return best
}
