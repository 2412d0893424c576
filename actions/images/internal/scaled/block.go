package scaled

import "encoding/binary"

// zigzag maps the order of transmission to the row-major index.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// block is 8x8 dequantised coefficients, row by row.
type block [64]int32

// stream is what one component needs to read its blocks in a sequential scan.
type stream struct {
	dc, ac *huffman
	quant  *[64]int32 // in zig-zag order
	skip   *[1 << skipBits]uint16
	need   uint // coefficients from here on, in zig-zag order, are of no use
	pred   int32
}

// block reads the next block into out, whose useful places must be zero. rows has a bit for each row with an AC coefficient. ok is false
// where the data make no sense.
//
// This is where most of the time of a decode goes: the reader's state lives in local variables, and the loop knows nothing
// but look-ups and shifts.
func (b *bits) block(s *stream, out *block) (rows uint8, ok bool) {
	b.fill()
	buf, pos, acc, n := b.buf, b.pos, b.acc, b.n
	table, quant, need := s.ac, s.quant, s.need
	d := s.dc.dc[acc>>(64-dcBits)]
	size, length := uint(d>>8), uint(d&255)
	if d == 0 {
		if size, length = s.dc.longDC(acc); length == 0 {
			return 0, false
		}
	}
	if size > 16 {
		return 0, false
	}
	acc <<= length & 63
	s.pred += extend(uint32(acc>>1>>(63-size)), int(size))
	acc <<= size
	n -= int(length + size)
	out[0] = s.pred * quant[0]
	k := uint(1)
	for k < need {
		if n < 32 {
			if pos > len(buf)-8 {
				b.past = true
				return 0, false
			}
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (uint(n) & 63)
			pos += (63 - n) >> 3
			n |= 56
		}
		e := table.fast[acc>>(64-fastBits)]
		acc <<= e & 31
		n -= int(e & 31)
		k += uint(e >> runShift & 15)
		value := int32(e) >> valueShift
		if e&knownFlag == 0 {
			if e == 0 {
				if e = table.long(acc); e == 0 {
					return 0, false
				}
				acc <<= e & 31
				n -= int(e & 31)
				k += uint(e >> runShift & 15)
			}
			size := e >> extraShift & 15
			if size == 0 {
				k++
				if e>>runShift&15 < 15 {
					b.pos, b.acc, b.n = pos, acc, n
					return rows, true
				}
				continue
			}
			value = extend(uint32(acc>>(64-size)), int(size))
			acc <<= size
			n -= int(size)
		}
		if k > 63 {
			return 0, false
		}
		z := zigzag[k] & 63
		out[z] = value * quant[k]
		rows |= 1 << (z >> 3)
		k++
	}
	b.pos, b.acc, b.n = pos, acc, n
	return rows, k >= 64 || b.rest(s, k)
}

// rest steps over the coefficients from k to the end of the block.
func (b *bits) rest(s *stream, k uint) bool {
	buf, pos, acc, n := b.buf, b.pos, b.acc, b.n
	table, skip := s.ac, s.skip
	for k < 64 {
		if n < 32 {
			if pos > len(buf)-8 {
				b.past = true
				return false
			}
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (uint(n) & 63)
			pos += (63 - n) >> 3
			n |= 56
		}
		e := skip[acc>>(64-skipBits)]
		if advance := k + uint(e>>advanceShift)&63; e&15 != 0 && advance < 64 {
			acc <<= e & 15
			n -= int(e & 15)
			k = advance
			if e&endFlag != 0 {
				break
			}
			continue
		}
		f := table.fast[acc>>(64-fastBits)]
		if f == 0 {
			if f = table.long(acc); f == 0 {
				return false
			}
		}
		run, size := uint(f>>runShift&15), f>>extraShift&15
		acc <<= f & 31
		acc <<= size
		n -= int(f&31 + size)
		if f&knownFlag == 0 && size == 0 && run < 15 {
			break
		}
		k += run + 1
	}
	b.pos, b.acc, b.n = pos, acc, n
	return k <= 64
}
