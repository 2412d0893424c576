package planes

// Box is a window of a plane in samples; its edges need not fall on whole samples.
type Box struct{ X, Y, W, H float64 }

// Full returns the window that is all of p.
func (p Plane) Full() Box { return Box{W: float64(p.W), H: float64(p.H)} }

// Two samples travel in one 64-bit word, a low and a high lane of 32 bits each, so that one multiplication weighs both. Lanes
// are signed: a word is low + high<<32 in wrapping arithmetic, and unpack undoes the borrow.

// fractionBits is how many bits of fraction the samples keep between the horizontal and the vertical pass.
const fractionBits = 3

// both puts the same number into the two lanes.
const both = 1<<32 + 1

func pack(low, high int32) uint64 { return uint64(int64(low)) + uint64(int64(high))<<32 }

func unpack(v uint64) (low, high int32) {
	low = int32(v)
	return low, int32((v - uint64(int64(low))) >> 32)
}

// Resample returns the window box of p as a new plane of w x h samples (both at least 1). It filters along rows, then along
// columns, and holds no more than the rows that one result row needs.
func (p Plane) Resample(w, h int, box Box, k Kernel) Plane {
	return p.resample(w, h, box, k, k)
}

// resample is Resample with a kernel for each axis.
func (p Plane) resample(w, h int, box Box, kx, ky Kernel) Plane {
	out := New(w, h)
	across := newTaps(kx, w, box.X, box.W, p.W)
	down := newTaps(ky, h, box.Y, box.H, p.H)
	r := newRing(p, across, down.count)
	sum := make([]uint64, r.words)
	for y := range h {
		first := down.first[y]
		r.advance(first, first+down.count)
		r.weigh(sum, first, down.weight[y*down.count:(y+1)*down.count])
		store(out.Row(y), sum)
	}
	return out
}

// ring holds the horizontally filtered rows that the present result row reads, two neighbouring samples a word.
type ring struct {
	src   Plane
	taps  taps
	words int
	rows  [][]uint64
	next  int // the source row to be filtered next
	line  []uint64
	pairs []uint64
}

func newRing(src Plane, across taps, depth int) *ring {
	n := len(across.first)
	r := &ring{src: src, taps: across, words: (n + 1) / 2}
	r.rows = make([][]uint64, depth+2)
	cells := make([]uint64, len(r.rows)*r.words)
	for i := range r.rows {
		r.rows[i] = cells[i*r.words : (i+1)*r.words]
	}
	r.line = make([]uint64, src.W+across.count)
	r.pairs = make([]uint64, n+1)
	return r
}

// advance filters source rows, two at a time, until all before end are there. Rows before first are never needed again.
func (r *ring) advance(first, end int) {
	if r.next < first {
		r.next = first
	}
	for end = min(end, r.src.H); r.next < end; r.next += 2 {
		r.filter(r.next)
	}
}

// filter fills the ring's places for the source rows y and y+1.
func (r *ring) filter(y int) {
	upper := r.src.Row(y)
	lower := r.src.Row(min(y+1, r.src.H-1))
	line := r.line[:len(upper)]
	lower = lower[:len(upper)]
	for x, v := range upper {
		line[x] = uint64(v) | uint64(lower[x])<<32
	}
	r.convolve()
	r.split(r.rows[y%len(r.rows)], r.rows[(y+1)%len(r.rows)])
}

// convolve weighs the present pair of rows into pairs.
func (r *ring) convolve() {
	n := r.taps.count
	for x, first := range r.taps.first {
		src := r.line[first : first+n]
		weight := r.taps.weight[x*n : x*n+n][:len(src)]
		sum := uint64(both << (weightBits - fractionBits - 1))
		for len(src) >= 4 && len(weight) >= 4 {
			sum += src[0]*weight[0] + src[1]*weight[1] + src[2]*weight[2] + src[3]*weight[3]
			src, weight = src[4:], weight[4:]
		}
		r.pairs[x] = sum
	}
}

// split takes the filtered pair of rows apart and lays neighbours of the same row side by side.
func (r *ring) split(upper, lower []uint64) {
	const shift = weightBits - fractionBits
	for i := range upper {
		u0, l0 := unpack(r.pairs[2*i])
		u1, l1 := unpack(r.pairs[2*i+1])
		upper[i] = pack(u0>>shift, u1>>shift)
		lower[i] = pack(l0>>shift, l1>>shift)
	}
}

// weigh sums up the rows from first on, four at a time.
func (r *ring) weigh(sum []uint64, first int, weight []uint64) {
	for i := range sum {
		sum[i] = both << (weightBits + fractionBits - 1)
	}
	for k := 0; k < len(weight); k += 4 {
		addFour(sum, [4][]uint64{r.row(first + k), r.row(first + k + 1), r.row(first + k + 2), r.row(first + k + 3)}, [4]uint64(weight[k:]))
	}
}

// row returns the filtered source row y. Behind the last row stand weights of zero: any row will do.
func (r *ring) row(y int) []uint64 { return r.rows[y%len(r.rows)] }

func addFour(sum []uint64, rows [4][]uint64, w [4]uint64) {
	a, b, c, d := rows[0][:len(sum)], rows[1][:len(sum)], rows[2][:len(sum)], rows[3][:len(sum)]
	for i := range sum {
		sum[i] += a[i]*w[0] + b[i]*w[1] + c[i]*w[2] + d[i]*w[3]
	}
}

// store rounds and clamps a row of sums.
func store(row []uint8, sum []uint64) {
	for x := 0; x+1 < len(row); x += 2 {
		low, high := unpack(sum[x/2])
		row[x], row[x+1] = clamp(low), clamp(high)
	}
	if n := len(row); n%2 == 1 {
		low, _ := unpack(sum[n/2])
		row[n-1] = clamp(low)
	}
}

func clamp(v int32) uint8 {
	v >>= weightBits + fractionBits
	if uint32(v) <= 255 {
		return uint8(v)
	}
	return uint8(^(v >> 31))
}
