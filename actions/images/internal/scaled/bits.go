package scaled

import "encoding/binary"

// padding is how many zero bytes stand behind the data, so that eight bytes can be read at any place a valid file leads to.
const padding = 16

// bits reads an entropy-coded segment whose stuffing has been taken out. The next bit is the highest of acc, of which n bits are good. A
// reader that runs over the end sees zeroes and must ask over.
type bits struct {
	buf  []byte
	pos  int
	acc  uint64
	n    int
	past bool
}

// reset starts at the beginning of data.
func (b *bits) reset(data []byte) {
	var zeroes [padding]byte
	*b = bits{buf: append(data, zeroes[:]...)}
}

// over reports whether more bits were taken than there were.
func (b *bits) over() bool {
	return b.past || b.pos*8-b.n > (len(b.buf)-padding)*8
}

// fill makes at least 56 bits good.
func (b *bits) fill() {
	if b.pos > len(b.buf)-8 {
		b.past, b.n = true, 64
		return
	}
	b.acc |= binary.BigEndian.Uint64(b.buf[b.pos:]) >> (uint(b.n) & 63)
	b.pos += (63 - b.n) >> 3
	b.n |= 56
}

// take returns the next n bits, at most 16.
func (b *bits) take(n int) uint32 {
	if b.n < n {
		b.fill()
	}
	v := uint32(b.acc >> 1 >> (63 - uint(n)))
	b.acc <<= uint(n)
	b.n -= n
	return v
}

// symbol returns the fast entry of the next code, its length taken; 32 good bits are there afterwards. Zero: no such code.
func (b *bits) symbol(h *huffman) uint32 {
	if b.n < 32 {
		b.fill()
	}
	e := h.fast[b.acc>>(64-fastBits)]
	if e == 0 {
		if e = h.long(b.acc); e == 0 {
			return 0
		}
	}
	b.acc <<= e & 31
	b.n -= int(e & 31)
	return e
}

// difference reads a DC difference. ok is false if there is no such code.
func (b *bits) difference(h *huffman) (diff int32, ok bool) {
	if b.n < 32 {
		b.fill()
	}
	e := h.dc[b.acc>>(64-dcBits)]
	size, length := uint(e>>8), uint(e&255)
	if e == 0 {
		size, length = h.longDC(b.acc)
	}
	if length == 0 || size > 16 {
		return 0, false
	}
	b.acc <<= length
	v := uint32(b.acc >> 1 >> (63 - size))
	b.acc <<= size
	b.n -= int(length + size)
	return extend(v, int(size)), true
}
