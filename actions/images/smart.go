package images

import "hasura-storage/actions/images/internal/planes"

// interestSide is the longer side of the small picture on which the interesting part is looked for.
const interestSide = 160

// interest returns the anchor at which the window sees the most. What counts as seen is detail – the differences between neighbours – and
// strong colour, both a little more near the middle of the region, where people put what matters.
func (p *picture) interest(pl *plan) (x, y float64) {
	rw, rh := seenSize(pl.turn, pl.region)
	f := interestSide / max(rw, rh)
	w, h := pl.turn.Inverse().Size(pixels(rw*f), pixels(rh*f))
	small := make([]planes.Plane, 0, len(p.planes))
	for i, c := range p.planes {
		b := planes.Box{X: pl.region.X * p.scaleX[i], Y: pl.region.Y * p.scaleY[i], W: pl.region.W * p.scaleX[i], H: pl.region.H * p.scaleY[i]}
		small = append(small, c.Resample(w, h, b, planes.Triangle()).Turned(pl.turn))
	}
	columns, rows := weights(small, p.colours)
	return bestShare(columns, pl.seen[0]/rw), bestShare(rows, pl.seen[1]/rh)
}

// weights sums up what there is to see by columns and by rows.
func weights(small []planes.Plane, c colours) (columns, rows []float64) {
	luma := small[0]
	if c == rgb {
		luma = small[1]
	}
	columns, rows = make([]float64, luma.W), make([]float64, luma.H)
	for y := range luma.H {
		for x := range luma.W {
			v := detail(luma, x, y) + saturation(small, c, x, y)/10
			columns[x] += v
			rows[y] += v
		}
	}
	return columns, rows
}

// strongEdge caps what one pixel adds: texture counts, not the horizon against the sun.
const strongEdge = 40

func detail(l planes.Plane, x, y int) float64 {
	row := l.Row(y)
	v := float64(row[x])
	right, down := float64(row[min(x+1, l.W-1)]), float64(l.Row(min(y+1, l.H-1))[x])
	return min(abs(v-right)+abs(v-down), strongEdge)
}

func saturation(small []planes.Plane, c colours, x, y int) float64 {
	switch c {
	case gray:
		return 0
	case rgb:
		r, g, b := float64(small[0].Row(y)[x]), float64(small[1].Row(y)[x]), float64(small[2].Row(y)[x])
		return max(r, g, b) - min(r, g, b)
	default:
	}
	return abs(float64(small[1].Row(y)[x])-128) + abs(float64(small[2].Row(y)[x])-128)
}

func abs(v float64) float64 { return max(v, -v) }

// bestShare slides a window of the given share of the whole over the weights and returns the anchor where it holds most.
func bestShare(weight []float64, share float64) float64 {
	n := min(len(weight), pixels(share*float64(len(weight))))
	free := len(weight) - n
	if free == 0 {
		return 0.5
	}
	best, bestSum := 0, -1.0
	for at := range free + 1 {
		sum := 0.0
		for _, v := range weight[at : at+n] {
			sum += v
		}
		off := abs(float64(2*at-free)) / float64(len(weight))
		if sum *= 1 - 0.2*off; sum > bestSum {
			best, bestSum = at, sum
		}
	}
	return float64(best) / float64(free)
}
