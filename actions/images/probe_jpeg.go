package images

import (
	"bytes"

	"hasura-storage/actions/images/internal/scaled"
)

// probeJPEG walks over the segments before the first scan. The size comes from any kind of frame, also from those that nobody here can
// decode, so that limits and facts do not depend on a decoder.
func (i *Info) probeJPEG(src []byte) error {
	var parts profileParts
	seg := scaled.NewSegments(src)
	for {
		marker, body, err := seg.Next()
		switch {
		case err != nil && i.Width > 0:
			return nil
		case err != nil:
			return errShort
		case marker == scaled.SOS || marker == scaled.EOI:
			i.profile, i.foreign = parts.join(), !scaled.Handles(src)
			if i.Width == 0 {
				return errShort
			}
			return nil
		case isFrame(marker) && i.Width == 0 && len(body) >= 6:
			i.Height, i.Width = int(body[1])<<8|int(body[2]), int(body[3])<<8|int(body[4])
			i.Progressive = marker&3 == 2
			if i.Width == 0 || i.Height == 0 {
				return errShort
			}
		case marker == scaled.APP1:
			i.readOrientation(body)
		case marker == scaled.APP2:
			parts.add(body)
		}
	}
}

// isFrame tells the SOF markers from DHT, JPG and DAC, which stand among them.
func isFrame(m byte) bool {
	return m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc
}

// readOrientation takes the orientation of an Exif segment. The first that has one counts: some cameras write several segments, and XMP comes as APP1 too.
func (i *Info) readOrientation(body []byte) {
	if tiff, ok := bytes.CutPrefix(body, []byte("Exif\x00")); ok && len(tiff) > 1 && i.Orientation == 1 {
		i.Orientation = exifOrientation(tiff[1:])
	}
}

// profileParts collects an ICC profile that is spread over several segments.
type profileParts [][]byte

const iccTag = "ICC_PROFILE\x00"

func (p *profileParts) add(body []byte) {
	part, ok := bytes.CutPrefix(body, []byte(iccTag))
	if !ok || len(part) < 2 || part[0] == 0 || part[0] > part[1] {
		return
	}
	if *p == nil {
		*p = make([][]byte, part[1])
	}
	if n := int(part[0]); n <= len(*p) {
		(*p)[n-1] = part[2:]
	}
}

// join returns the profile, nil if a part is missing.
func (p *profileParts) join() []byte {
	var out []byte
	for _, part := range *p {
		if part == nil {
			return nil
		}
		out = append(out, part...)
	}
	return out
}
