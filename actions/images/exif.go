package images

import "encoding/binary"

const (
	tagOrientation = 0x0112
	typeShort      = 3
	typeLong       = 4
)

// exifOrientation reads the orientation out of an EXIF block, which is a small TIFF file. It returns 1, upright, where there is none
// or nothing makes sense: a strange tag must not cost anybody his picture.
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	switch string(tiff[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
	default:
		return 1
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for n := order.Uint16(tiff[at:]); n > 0 && len(entries) >= 12; n-- {
		if order.Uint16(entries) == tagOrientation {
			return orientationValue(order, entries)
		}
		entries = entries[12:]
	}
	return 1
}

func orientationValue(order binary.ByteOrder, entry []byte) int {
	var v uint32
	switch order.Uint16(entry[2:]) {
	case typeShort:
		v = uint32(order.Uint16(entry[8:]))
	case typeLong:
		v = order.Uint32(entry[8:])
	}
	if v < 1 || v > 8 {
		return 1
	}
	return int(v)
}
