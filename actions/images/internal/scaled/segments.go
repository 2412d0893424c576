package scaled

import (
	"bytes"
	"io"
)

// The markers of ITU-T T.81, table B.1, that a decoder has to know by name.
const (
	SOF0  = 0xc0 // baseline frame
	SOF1  = 0xc1 // extended sequential frame
	SOF2  = 0xc2 // progressive frame
	DHT   = 0xc4
	RST0  = 0xd0
	RST7  = 0xd7
	SOI   = 0xd8
	EOI   = 0xd9
	SOS   = 0xda
	DQT   = 0xdb
	DRI   = 0xdd
	APP0  = 0xe0
	APP1  = 0xe1
	APP2  = 0xe2
	APP14 = 0xee
)

// Segments walks over the marker segments of a JPEG file.
type Segments struct {
	src []byte
	pos int
}

// NewSegments returns a walk over src, which starts with the two bytes of SOI.
func NewSegments(src []byte) *Segments { return &Segments{src: src, pos: 2} }

// Next returns the next marker and what its segment holds, nil for markers that stand alone. It steps over fill bytes and
// over anything that is no marker, entropy-coded data included, as lenient decoders do. io.ErrUnexpectedEOF says that the file ends before
// its end marker, or in the middle of a segment.
func (s *Segments) Next() (marker byte, body []byte, err error) {
	for {
		i := bytes.IndexByte(s.src[min(s.pos, len(s.src)):], 0xff)
		if i < 0 || s.pos+i+1 >= len(s.src) {
			return 0, nil, io.ErrUnexpectedEOF
		}
		s.pos += i + 1
		m := s.src[s.pos]
		if m == 0xff || m == 0 {
			continue
		}
		s.pos++
		if m >= RST0 && m <= RST7 {
			continue
		}
		if m == EOI || m == SOI {
			return m, nil, nil
		}
		body, err := s.body()
		return m, body, err
	}
}

func (s *Segments) body() ([]byte, error) {
	if s.pos+2 > len(s.src) {
		return nil, io.ErrUnexpectedEOF
	}
	n := int(s.src[s.pos])<<8 | int(s.src[s.pos+1])
	if n < 2 || s.pos+n > len(s.src) {
		return nil, io.ErrUnexpectedEOF
	}
	body := s.src[s.pos+2 : s.pos+n]
	s.pos += n
	return body, nil
}

// interval appends to buf the entropy-coded bytes from the present place to the next marker, with the stuffing taken out, and moves on to
// that marker.
func (s *Segments) interval(buf []byte) []byte {
	for {
		i := bytes.IndexByte(s.src[s.pos:], 0xff)
		if i < 0 || s.pos+i+1 >= len(s.src) {
			buf = append(buf, s.src[s.pos:]...)
			s.pos = len(s.src)
			return buf
		}
		if s.src[s.pos+i+1] != 0 {
			buf = append(buf, s.src[s.pos:s.pos+i]...)
			s.pos += i
			return buf
		}
		buf = append(buf, s.src[s.pos:s.pos+i+1]...)
		s.pos += i + 2
	}
}

// restart steps over the restart marker that must stand here.
func (s *Segments) restart(n int) error {
	for s.pos+2 < len(s.src) && s.src[s.pos] == 0xff && s.src[s.pos+1] == 0xff {
		s.pos++
	}
	if s.pos+2 > len(s.src) || s.src[s.pos] != 0xff || s.src[s.pos+1] != byte(RST0+n%8) {
		return ErrDamaged
	}
	s.pos += 2
	return nil
}

// Scans counts the scans of a JPEG file, stopping at limit. Every scan of a progressive file visits every block, however few bytes it
// has: a file of many empty scans is an attack, and must be counted before it is decoded.
func Scans(src []byte, limit int) int {
	n := 0
	for s := NewSegments(src); n < limit; {
		m, _, err := s.Next()
		if err != nil || m == EOI {
			break
		}
		if m == SOS {
			n++
		}
	}
	return n
}
