package images

import (
	"encoding/binary"

	"hasura-storage/actions/images/internal/planes"
)

// AVIF and HEIC are built of boxes (ISO/IEC 14496-12): a length, a four-letter name, what is in it. What a decoder must know
// about an item stands in a list of properties, to which the item refers by number.

// boxes goes through the boxes in p. A box that is longer than what is there is given as far as it is there.
func boxes(p []byte) func(yield func(kind string, body []byte) bool) {
	return func(yield func(string, []byte) bool) {
		for len(p) >= 8 {
			n, head := int64(binary.BigEndian.Uint32(p)), int64(8)
			if n == 1 && len(p) >= 16 {
				n, head = int64(binary.BigEndian.Uint64(p[8:])), 16
			}
			if n == 0 || n > int64(len(p)) {
				n = int64(len(p))
			}
			if n < head || !yield(string(p[4:8]), p[head:n]) {
				return
			}
			p = p[n:]
		}
	}
}

// box returns the first box of that name, nil if there is none.
func box(p []byte, name string) []byte {
	for kind, body := range boxes(p) {
		if kind == name {
			return body
		}
	}
	return nil
}

// probeHEIF reads the properties of the primary item.
func (i *Info) probeHEIF(src []byte) error {
	meta := box(src, "meta")
	if len(meta) < 4 {
		return errShort
	}
	meta = meta[4:]
	properties := box(meta, "iprp")
	var list []property
	for kind, body := range boxes(box(properties, "ipco")) {
		list = append(list, property{kind, body})
	}
	turn := planes.Turn{}
	for _, n := range associations(box(properties, "ipma"), primaryItem(meta)) {
		if n > 0 && n <= len(list) {
			turn = i.apply(list[n-1], turn)
		}
	}
	if i.Width == 0 {
		return errShort
	}
	i.Alpha = true
	if i.Format == AVIF {
		i.coded = readCoded(src, meta)
		i.setTurn(turn)
	} else if turn.Swaps() { // its decoder turns by itself
		i.Width, i.Height = i.Height, i.Width
	}
	return nil
}

type property struct {
	kind string
	body []byte
}

// apply takes over one property. Turns and mirrors add up in the order in which they are listed.
func (i *Info) apply(p property, turn planes.Turn) planes.Turn {
	switch {
	case p.kind == "ispe" && len(p.body) >= 12:
		i.Width, i.Height = int(int32(binary.BigEndian.Uint32(p.body[4:]))), int(int32(binary.BigEndian.Uint32(p.body[8:])))
	case p.kind == "irot" && len(p.body) >= 1: // quarter turns, anticlockwise
		return turn.Then(planes.Turn{Quarters: int(4-p.body[0]&3) % 4})
	case p.kind == "imir" && len(p.body) >= 1: // 1: about a vertical axis, left and right change places
		if p.body[0]&1 == 1 {
			return turn.Then(planes.Turn{Mirror: true})
		}
		return turn.Then(planes.Turn{Mirror: true, Quarters: 2})
	case p.kind == "colr" && len(p.body) > 4 && (string(p.body[:4]) == "prof" || string(p.body[:4]) == "rICC"):
		i.profile = p.body[4:]
	}
	return turn
}

func (i *Info) setTurn(t planes.Turn) {
	for n, o := range orientations {
		if o == t {
			i.Orientation = n
			if n == 0 {
				i.Orientation = 8
			}
		}
	}
}

// primaryItem returns the number of the item to be shown.
func primaryItem(meta []byte) uint32 {
	p := box(meta, "pitm")
	switch {
	case len(p) >= 8 && p[0] > 0:
		return binary.BigEndian.Uint32(p[4:])
	case len(p) >= 6:
		return uint32(binary.BigEndian.Uint16(p[4:]))
	}
	return 0
}

// associations returns the numbers, from 1, of the properties of an item. The box has a version and flags, which decide how wide its numbers are.
func associations(p []byte, item uint32) []int {
	if len(p) < 8 {
		return nil
	}
	wideID, wideIndex := p[0] > 0, p[3]&1 == 1
	count := binary.BigEndian.Uint32(p[4:])
	r := reader{p: p[8:]}
	for range count {
		id := r.number(2 + 2*boolInt(wideID))
		var list []int
		for range r.number(1) {
			n := r.number(1 + boolInt(wideIndex))
			list = append(list, int(n)&(1<<(7+8*boolInt(wideIndex))-1))
		}
		if r.short {
			return nil
		}
		if id == item {
			return list
		}
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// reader takes big-endian numbers off the front of p.
type reader struct {
	p     []byte
	short bool
}

func (r *reader) number(bytes int) uint32 {
	if len(r.p) < bytes {
		r.short = true
		return 0
	}
	var v uint32
	for _, b := range r.p[:bytes] {
		v = v<<8 | uint32(b)
	}
	r.p = r.p[bytes:]
	return v
}
