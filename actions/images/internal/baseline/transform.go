package baseline

import "math/bits"

// block is 8x8 samples, or 8x8 coefficients.
type block [64]int32

// Constants of the forward transform, with 13 bits of fraction. It is that of Loeffler, Ligtenberg and Moschytz (ICASSP 1989).
const (
	cosOne    = 8035  // cos(π/16)
	sinOne    = 1598  // sin(π/16)
	cosThree  = 6811  // cos(3π/16)
	sinThree  = 4551  // sin(3π/16)
	rootCos6  = 4433  // √2 cos(6π/16)
	rootSin6  = 10703 // √2 sin(6π/16)
	root2     = 11585 // √2
	fraction  = 13
	carry     = 2 // bits of fraction between the two passes
	totalGain = 3 + carry
)

// forward transforms in place. The coefficients come out 1<<totalGain times as large as the standard defines them.
func forward(b *block) {
	for i := 0; i < 64; i += 8 {
		r := b[i : i+8 : i+8]
		r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7] = octet(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], carry)
	}
	for i := range 8 {
		c := b[i : i+57 : i+57]
		c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56] = octet(c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56], 0)
	}
}

// octet transforms eight numbers and gives the results more bits of fraction. Arguments and results fit into registers.
func octet(x0, x1, x2, x3, x4, x5, x6, x7 int32, more uint) (y0, y1, y2, y3, y4, y5, y6, y7 int32) {
	x0, x7 = x0+x7, x0-x7
	x1, x6 = x1+x6, x1-x6
	x2, x5 = x2+x5, x2-x5
	x3, x4 = x3+x4, x3-x4

	more &= 15
	cut := (fraction - more) & 15
	half := int32(1) << cut >> 1
	x0, x3 = x0+x3, x0-x3
	x1, x2 = x1+x2, x1-x2
	y0, y4 = (x0+x1)<<more, (x0-x1)<<more
	y2 = (x2*rootCos6 + x3*rootSin6 + half) >> cut
	y6 = (x3*rootCos6 - x2*rootSin6 + half) >> cut

	a := (x4*cosThree + x7*sinThree + half) >> cut
	b := (x7*cosThree - x4*sinThree + half) >> cut
	c := (x5*cosOne + x6*sinOne + half) >> cut
	d := (x6*cosOne - x5*sinOne + half) >> cut
	a, d = a+d, a-d
	b, c = b+c, b-c
	y1, y7 = b+a, b-a
	y3, y5 = (c*root2+1<<(fraction-1))>>fraction, (d*root2+1<<(fraction-1))>>fraction
	return y0, y1, y2, y3, y4, y5, y6, y7
}

// quantiser divides coefficients, in zig-zag order, by multiplying with reciprocals.
type quantiser struct {
	steps      [64]byte
	half       [64]uint32
	reciprocal [64]uint64
	values     [64]int32
}

// newQuantiser scales a table to a quality as libjpeg does.
func newQuantiser(base *[64]byte, quality int) *quantiser {
	quality = min(max(quality, 1), 100)
	scale := 200 - 2*quality
	if quality < 50 {
		scale = 5000 / quality
	}
	q := new(quantiser)
	for i, v := range base {
		step := min(max((int(v)*scale+50)/100, 1), 255)
		q.steps[i] = byte(step)
		divisor := uint64(step) << totalGain
		q.half[i] = uint32(divisor / 2)
		q.reciprocal[i] = (1<<32 + divisor - 1) / divisor
	}
	return q
}

func (q *quantiser) segment(out []byte, id byte) []byte {
	return append(append(out, id), q.steps[:]...)
}

// quantise fills values and returns a bit for each that is not zero.
func (q *quantiser) quantise(b *block) (nonzero uint64) {
	for i := range 64 {
		v := b[zigzag[i]&63]
		sign := v >> 31
		size := uint32((v ^ sign) - sign)
		n := int32(uint64(size+q.half[i]) * q.reciprocal[i] >> 32)
		q.values[i] = (n ^ sign) - sign
		nonzero |= uint64(uint32(-n)>>31) << i
	}
	return nonzero
}

// write codes the quantised values of a block.
func (e *encoder) write(c *channel, nonzero uint64) {
	dc := c.quant.values[0]
	e.number(c.dc, 0, dc-c.pred)
	c.pred = dc
	last := 0
	for todo := nonzero &^ 1; todo != 0; todo &= todo - 1 {
		k := bits.TrailingZeros64(todo)
		run := k - last - 1
		for ; run > 15; run -= 16 {
			e.put(c.ac[0xf0])
		}
		e.number(c.ac, run, c.quant.values[k])
		last = k
	}
	if last < 63 {
		e.put(c.ac[0])
	}
}

// number writes the code for a run of zeroes and the size of v, then v.
func (e *encoder) number(table *[256]code, run int, v int32) {
	sign := v >> 31
	size := uint(bits.Len32(uint32((v ^ sign) - sign)))
	e.put(table[uint(run)<<4|size])
	e.put(code{bits: uint32(v+sign) & (1<<size - 1), length: uint32(size)})
}

// put appends a code of at most 16 bits.
func (e *encoder) put(c code) {
	e.n += uint(c.length)
	e.acc = e.acc<<c.length | uint64(c.bits)
	if e.n >= 32 {
		e.emit()
	}
}

// emit moves 32 bits out. A byte of ones is followed by a zero, so that nobody takes it for a marker.
func (e *encoder) emit() {
	e.n -= 32
	word := uint32(e.acc >> e.n)
	if (^word-0x01010101)&word&0x80808080 == 0 {
		e.out = append(e.out, byte(word>>24), byte(word>>16), byte(word>>8), byte(word))
		return
	}
	for shift := 24; shift >= 0; shift -= 8 {
		e.stuffed(byte(word >> shift))
	}
}

func (e *encoder) stuffed(b byte) {
	e.out = append(e.out, b)
	if b == 0xff {
		e.out = append(e.out, 0)
	}
}

// flush writes what is left, filled up with ones.
func (e *encoder) flush() {
	for e.n%8 != 0 {
		e.put(code{bits: 1, length: 1})
	}
	for ; e.n > 0; e.n -= 8 {
		e.stuffed(byte(e.acc >> (e.n - 8)))
	}
}
