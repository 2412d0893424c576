package planes

import "math"

// Kernel is a filter by which samples are weighed: At gives the weight of a sample at distance x, which is zero beyond Reach.
// Distances are in samples of whichever side, source or result, is the coarser, unless the kernel is Fixed: then always in source samples.
type Kernel struct {
	At    func(x float64) float64
	Reach float64
	Fixed bool
}

// Lanczos returns the windowed sinc with three lobes, the usual compromise between sharp and free of rings.
func Lanczos() Kernel {
	return Kernel{Reach: 3, At: func(x float64) float64 {
		if x == 0 {
			return 1
		}
		x *= math.Pi
		return 3 * math.Sin(x) * math.Sin(x/3) / (x * x)
	}}
}

// Triangle returns linear interpolation, which never overshoots.
func Triangle() Kernel {
	return Kernel{Reach: 1, At: func(x float64) float64 { return 1 - math.Abs(x) }}
}

// Gauss returns a blur of the given standard deviation, in source samples.
func Gauss(sigma float64) Kernel {
	return Kernel{Reach: math.Ceil(3 * sigma), Fixed: true, At: func(x float64) float64 {
		return math.Exp(-x * x / (2 * sigma * sigma))
	}}
}

// weightBits is the precision of a weight: 1 << weightBits stands for one. A sum of 8-bit samples with 3 more bits of
// fraction (see fractionBits), weighed so, stays inside 31 bits even where the negative lobes make it overshoot.
const weightBits = 14

// taps are the weighed source samples of each result sample along one axis: result i reads count samples from first[i] on.
// count is a multiple of four; surplus weights are zero.
type taps struct {
	first  []int
	weight []uint64
	count  int
}

// newTaps works out n result samples that cover the source range [from, from+size), reading nothing outside of the samples
// that this range touches and nothing at or beyond limit.
func newTaps(k Kernel, n int, from, size float64, limit int) taps {
	scale := size / float64(n)
	stretch := max(scale, 1)
	if k.Fixed {
		stretch = 1
	}
	lo := max(0, int(math.Floor(from+1e-6)))
	hi := min(limit, int(math.Ceil(from+size-1e-6)))
	reach := k.Reach * stretch
	t := taps{first: make([]int, n), count: (min(int(2*reach)+2, hi-lo) + 3) &^ 3}
	t.weight = make([]uint64, n*t.count)
	raw := make([]float64, t.count)
	for i := range n {
		centre := from + (float64(i)+0.5)*scale - 0.5
		first := min(max(int(math.Ceil(centre-reach)), lo), hi-1)
		last := max(min(int(math.Floor(centre+reach)), hi-1), first)
		used := raw[:last-first+1]
		for j := range used {
			used[j] = k.At((float64(first+j) - centre) / stretch)
		}
		t.first[i] = first
		quantise(t.weight[i*t.count:], used)
	}
	return t
}

// quantise writes the weights, made to sum up to exactly one: a flat area must stay what it is.
func quantise(out []uint64, raw []float64) {
	sum := 0.0
	for _, w := range raw {
		sum += w
	}
	if sum <= 0 {
		out[len(raw)/2] = 1 << weightBits
		return
	}
	rest, biggest := int64(1<<weightBits), 0
	for i, w := range raw {
		q := int64(math.Round(w / sum * (1 << weightBits)))
		rest -= q
		out[i] = uint64(q)
		if w > raw[biggest] {
			biggest = i
		}
	}
	out[biggest] += uint64(rest)
}
