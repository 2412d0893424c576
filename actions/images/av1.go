package images

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The size that an AVIF file states in its properties is not the one by which its decoder allocates: that stands in the coded pictures themselves,
// or in the description of a grid of them, and a hostile file may have the two differ. So all of them are looked at before the decoder is called.

// coded is what the coded pictures of an AVIF ask of its decoder.
type coded struct {
	count         int
	width, height int64 // of the largest, grids included
	pixels        int64 // of all together: tiles of a grid, colour and alpha
	deep          bool  // more than 8 bits a sample
}

// checkAVIF refuses a file in which any coded picture or grid is larger than the limit.
func checkAVIF(src []byte, c coded, limit int64) error {
	switch {
	case string(src[8:12]) == "avis":
		return fmt.Errorf("%w: animated AVIF", ErrNotImage)
	case area(c.width, c.height) > limit:
		return fmt.Errorf("%w: a coded picture of %dx%d is more than the maximum of %d pixels", ErrTooLarge, c.width, c.height, limit)
	case c.count == 0:
		return errors.New("no coded picture")
	}
	return nil
}

// readCoded looks at all coded pictures that lie in src. meta is the body of its box of that name.
func readCoded(src, meta []byte) (c coded) {
	kinds := itemKinds(box(meta, "iinf"))
	for id, data := range itemData(box(meta, "iloc"), src, box(meta, "idat")) {
		w, h := int64(0), int64(0)
		switch kinds[id] {
		case "av01":
			s := largestSequence(data)
			w, h = s.width, s.height
			c.count++
			c.pixels = min(c.pixels+area(w, h), maxArea)
			c.deep = c.deep || s.deep
		case "grid":
			w, h = gridSize(data)
		}
		if area(w, h) > area(c.width, c.height) {
			c.width, c.height = w, h
		}
	}
	c.pixels = max(c.pixels, area(c.width, c.height))
	return c
}

// itemKinds returns the four-letter type of each item.
func itemKinds(iinf []byte) map[uint32]string {
	out := map[uint32]string{}
	if len(iinf) < 6 {
		return out
	}
	list := iinf[6:]
	if iinf[0] > 0 && len(iinf) >= 8 {
		list = iinf[8:]
	}
	for kind, p := range boxes(list) {
		switch {
		case kind != "infe" || len(p) < 12 || p[0] < 2:
		case p[0] == 2:
			out[uint32(binary.BigEndian.Uint16(p[4:]))] = string(p[8:12])
		case len(p) >= 14:
			out[binary.BigEndian.Uint32(p[4:])] = string(p[10:14])
		}
	}
	return out
}

// itemData returns the bytes of each item, put together from where the iloc box says they are. Items that together are longer than the file
// lie over each other, thousands of times in a hostile one: of such a file nothing is returned. A part counts as a byte more, so that there is an end to empty ones too.
func itemData(iloc, file, idat []byte) map[uint32][]byte {
	out := map[uint32][]byte{}
	if len(iloc) < 8 {
		return out
	}
	version := int(iloc[0])
	offsetSize, lengthSize := int(iloc[4]>>4), int(iloc[4]&15)
	baseSize, indexSize := int(iloc[5]>>4), int(iloc[5]&15)
	r := &reader{p: iloc[6:]}
	wide := 2 + 2*boolInt(version == 2)
	room := len(file)
	for range r.number(wide) {
		if r.short { // a number of items is no reason to count to it
			return out
		}
		id := r.number(wide)
		from := file
		if version > 0 && r.number(2)&15 == 1 {
			from = idat
		}
		r.number(2)
		base := r.long(baseSize)
		for range r.number(2) {
			if version > 0 {
				r.long(indexSize)
			}
			at, n := base+r.long(offsetSize), r.long(lengthSize)
			if r.short {
				return out
			}
			part := window(from, at, n)
			if room -= len(part) + 1; room < 0 {
				return nil
			}
			out[id] = append(out[id], part...)
		}
	}
	return out
}

// window returns n bytes at a place, as far as they are there; n 0 is all to the end.
func window(p []byte, at, n uint64) []byte {
	if at > uint64(len(p)) {
		return nil
	}
	p = p[at:]
	if n > 0 && n < uint64(len(p)) {
		p = p[:n]
	}
	return p
}

// long reads a number of up to eight bytes.
func (r *reader) long(bytes int) uint64 {
	if bytes <= 4 {
		return uint64(r.number(bytes))
	}
	high := r.number(bytes - 4)
	return uint64(high)<<32 | uint64(r.number(4))
}

// gridSize reads the size of the picture that a grid is put together to.
func gridSize(p []byte) (w, h int64) {
	r := &reader{p: p}
	r.number(1)
	wide := 2 + 2*int(r.number(1)&1)
	r.number(2)
	return int64(r.number(wide)), int64(r.number(wide))
}

const sequenceHeader = 1

// sequence is what a sequence header says.
type sequence struct {
	width, height int64
	deep          bool // more than 8 bits a sample
}

// largestSequence returns the largest of the sequence headers in an AV1 stream (AV1 specification, 5.3 and 5.5); it is deep if any is.
func largestSequence(p []byte) (largest sequence) {
	for len(p) > 0 {
		kind, extended, sized := p[0]>>3&15, p[0]&4 != 0, p[0]&2 != 0
		p = p[min(len(p), 1+boolInt(extended)):]
		n := uint64(len(p))
		if sized {
			n, p = leb128(p)
		}
		body := p[:min(n, uint64(len(p)))]
		if kind == sequenceHeader {
			s := readSequence(body)
			deep := s.deep || largest.deep
			if s.width*s.height > largest.width*largest.height {
				largest = s
			}
			largest.deep = deep
		}
		p = p[len(body):]
	}
	return largest
}

func leb128(p []byte) (v uint64, rest []byte) {
	for i := 0; i < 8 && i < len(p); i++ {
		v |= uint64(p[i]&127) << (7 * i)
		if p[i] < 128 {
			return v, p[i+1:]
		}
	}
	return 0, nil
}

// bitReader takes bits off the front; behind the end are zeroes.
type bitReader struct {
	p  []byte
	at int
}

func (b *bitReader) take(n int) (v uint64) {
	for range n {
		v <<= 1
		if i := b.at >> 3; i < len(b.p) {
			v |= uint64(b.p[i]>>(7-b.at&7)) & 1
		}
		b.at++
	}
	return v
}

func (b *bitReader) flag() bool { return b.take(1) == 1 }

// readSequence reads a sequence header as far as the depth.
func readSequence(p []byte) (s sequence) {
	b := &bitReader{p: p}
	b.take(4) // profile, still picture
	reduced := b.flag()
	if reduced {
		b.take(5)
	} else {
		b.operatingPoints()
	}
	wideBits, highBits := int(b.take(4))+1, int(b.take(4))+1
	s.width, s.height = int64(b.take(wideBits))+1, int64(b.take(highBits))+1
	if !reduced && b.flag() { // frame numbers
		b.take(4 + 3)
	}
	b.take(3) // superblocks, two tools of prediction within the frame
	if !reduced {
		b.videoTools()
	}
	b.take(3) // super-resolution, two filters
	s.deep = b.flag()
	return s
}

// videoTools steps over the tools that a still picture has no use for.
func (b *bitReader) videoTools() {
	b.take(4)
	order := b.flag()
	if order {
		b.take(2)
	}
	screen := true // screen content tools may be on
	if !b.flag() {
		screen = b.flag()
	}
	if screen && !b.flag() {
		b.take(1)
	}
	if order {
		b.take(3)
	}
}

// operatingPoints steps over what only video has.
func (b *bitReader) operatingPoints() {
	delayBits, model := 0, false
	if b.flag() { // timing
		b.take(64)
		if b.flag() {
			b.uvlc()
		}
		if model = b.flag(); model {
			delayBits = int(b.take(5)) + 1
			b.take(32 + 5 + 5)
		}
	}
	initialDelay := b.flag()
	for range b.take(5) + 1 {
		b.take(12)
		if b.take(5) > 7 {
			b.take(1)
		}
		if model && b.flag() {
			b.take(2*delayBits + 1)
		}
		if initialDelay && b.flag() {
			b.take(4)
		}
	}
}

// uvlc steps over a number of variable length.
func (b *bitReader) uvlc() {
	zeroes := 0
	for zeroes < 32 && !b.flag() {
		zeroes++
	}
	if zeroes < 32 {
		b.take(zeroes)
	}
}
