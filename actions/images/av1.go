package images

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The size that an AVIF file states in its properties is not the one by which its decoder allocates: that stands in the coded pictures themselves,
// or in the description of a grid of them, and a hostile file may have the two differ. So all of them are looked at before the decoder is called.

// checkAVIF refuses a file in which any coded picture or grid is larger than the limit.
func checkAVIF(src []byte, limit int64) error {
	if string(src[8:12]) == "avis" {
		return fmt.Errorf("%w: animated AVIF", ErrNotImage)
	}
	meta := box(src, "meta")
	if len(meta) < 4 {
		return errShort
	}
	kinds := itemKinds(box(meta[4:], "iinf"))
	items := itemData(box(meta[4:], "iloc"), src, box(meta[4:], "idat"))
	seen := false
	for id, data := range items {
		w, h := int64(0), int64(0)
		switch kinds[id] {
		case "av01":
			w, h = codedSize(data)
			seen = true
		case "grid":
			w, h = gridSize(data)
		}
		if w*h > limit {
			return fmt.Errorf("%w: a coded picture of %dx%d is more than the maximum of %d pixels", ErrTooLarge, w, h, limit)
		}
	}
	if !seen {
		return errors.New("no coded picture")
	}
	return nil
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

// itemData returns the bytes of each item, put together from where the iloc box says they are.
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
	for range r.number(wide) {
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
			out[id] = append(out[id], window(from, at, n)...)
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

// codedSize returns the largest size in the sequence headers of an AV1 stream (AV1 specification, 5.3 and 5.5).
func codedSize(p []byte) (w, h int64) {
	for len(p) > 0 {
		kind, extended, sized := p[0]>>3&15, p[0]&4 != 0, p[0]&2 != 0
		p = p[min(len(p), 1+boolInt(extended)):]
		n := uint64(len(p))
		if sized {
			n, p = leb128(p)
		}
		body := p[:min(n, uint64(len(p)))]
		if kind == sequenceHeader {
			if sw, sh := sequenceSize(body); sw*sh > w*h {
				w, h = sw, sh
			}
		}
		p = p[len(body):]
	}
	return w, h
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

// sequenceSize reads a sequence header as far as the size.
func sequenceSize(p []byte) (w, h int64) {
	b := &bitReader{p: p}
	b.take(4) // profile, still picture
	if b.flag() {
		b.take(5)
	} else {
		b.operatingPoints()
	}
	wideBits, highBits := int(b.take(4))+1, int(b.take(4))+1
	return int64(b.take(wideBits)) + 1, int64(b.take(highBits)) + 1
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
