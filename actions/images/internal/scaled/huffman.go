package scaled

const (
	fastBits = 11 // a code and, where they fit, its extra bits are decoded by one look-up
	skipBits = 12 // several whole symbols are stepped over by one look-up
	dcBits   = 9
)

// An entry of the fast table, from the low end: 5 bits length to consume, 4 bits run of zeroes, 4 bits count of extra bits
// that follow, 1 bit "the value is known"; the value in the upper half. Zero: the code is longer than the index.
const (
	runShift   = 5
	extraShift = 9
	knownFlag  = 1 << 13
	valueShift = 16
)

// An entry of the skip table: 4 bits length to consume, 6 bits advance in the zig-zag order, 1 bit "ends with end of block".
const (
	advanceShift = 4
	endFlag      = 1 << 15
)

// huffman is a table of T.81 annex C, made ready for quick decoding.
type huffman struct {
	symbols []byte
	limit   [18]uint32 // limit[n]: first 16-bit pattern that is no code of n bits or fewer
	offset  [17]int32  // index of a code of n bits in symbols, less its value
	fast    [1 << fastBits]uint32
	dc      [1 << dcBits]uint16 // symbol in the upper, length in the lower byte
	skip    *[1 << skipBits]uint16
}

// parseHuffman reads one table: 16 counts, then the symbols. It returns what follows.
func parseHuffman(p []byte) (*huffman, []byte, error) {
	if len(p) < 16 {
		return nil, nil, ErrDamaged
	}
	total := 0
	for _, n := range p[:16] {
		total += int(n)
	}
	if total == 0 || total > 256 || len(p) < 16+total {
		return nil, nil, ErrDamaged
	}
	h := &huffman{symbols: p[16 : 16+total]}
	if err := h.assign(p[:16]); err != nil {
		return nil, nil, err
	}
	return h, p[16+total:], nil
}

// assign gives out the codes: those of a length are consecutive, and follow the shorter ones.
func (h *huffman) assign(counts []byte) error {
	code, index := uint32(0), 0
	for n := 1; n <= 16; n++ {
		h.offset[n] = int32(index) - int32(code)
		for range counts[n-1] {
			if code >= 1<<n {
				return ErrUnsupported
			}
			h.enter(code, n, h.symbols[index])
			code++
			index++
		}
		h.limit[n] = code << (16 - n)
		code <<= 1
	}
	h.limit[17] = 1 << 16
	return nil
}

// enter writes a code of n bits into the look-up tables.
func (h *huffman) enter(code uint32, n int, symbol byte) {
	if n <= dcBits {
		first := code << (dcBits - n)
		for i := range uint32(1) << (dcBits - n) {
			h.dc[first+i] = uint16(symbol)<<8 | uint16(n)
		}
	}
	if n <= fastBits {
		first := code << (fastBits - n)
		for i := range uint32(1) << (fastBits - n) {
			h.fast[first+i] = entry(symbol, n, i, fastBits-n)
		}
	}
}

// entry makes a fast entry for a code of n bits, when spare bits of the index follow it.
func entry(symbol byte, n int, following uint32, spare int) uint32 {
	run, size := uint32(symbol>>4), int(symbol&15)
	if size == 0 || size > spare {
		return uint32(n) | run<<runShift | uint32(size)<<extraShift
	}
	value := extend(following>>(spare-size), size)
	return uint32(n+size) | run<<runShift | knownFlag | uint32(value)<<valueShift
}

// extend turns the bits that follow a code into the signed number they stand for (T.81 F.2.2.1).
func extend(bits uint32, size int) int32 {
	v := int32(bits)
	if v < 1<<size>>1 {
		v += -1<<size + 1
	}
	return v
}

// long finds a code of more than fastBits at the top of acc, as a fast entry; zero if there is none.
func (h *huffman) long(acc uint64) uint32 {
	pattern := uint32(acc >> 48)
	for n := 1; n <= 16; n++ {
		if pattern < h.limit[n] {
			symbol := h.symbols[int32(pattern>>(16-n))+h.offset[n]]
			return entry(symbol, n, 0, 0)
		}
	}
	return 0
}

// longDC is long for the table's use with DC coefficients.
func (h *huffman) longDC(acc uint64) (symbol, length uint) {
	e := h.long(acc)
	return uint(e>>runShift&15)<<4 | uint(e>>extraShift&15), uint(e & 31)
}

// skips returns the table by which whole AC symbols are stepped over, making it when it is first asked for.
func (h *huffman) skips() *[1 << skipBits]uint16 {
	if h.skip == nil {
		h.skip = new([1 << skipBits]uint16)
		for i := range h.skip {
			h.skip[i] = h.skipEntry(uint32(i))
		}
	}
	return h.skip
}

func (h *huffman) skipEntry(index uint32) uint16 {
	used, advance := 0, 0
	for {
		e := h.fast[index<<used>>(skipBits-fastBits)&(1<<fastBits-1)]
		length := int(e&31) + int(e>>extraShift&15)
		step := int(e>>runShift&15) + 1
		end := e&knownFlag == 0 && e>>extraShift&15 == 0 && step < 16
		if e == 0 || used+length > skipBits || advance+step > 63 && !end {
			break
		}
		used += length
		if end {
			return uint16(used) | uint16(advance)<<advanceShift | endFlag
		}
		advance += step
	}
	return uint16(used) | uint16(advance)<<advanceShift
}
