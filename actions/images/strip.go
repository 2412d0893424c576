package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Strippable reports whether StripMetadata knows the format.
func Strippable(f Format) bool { return f == JPEG || f == PNG || f == WebP }

// StripMetadata returns a JPEG, PNG or WebP file without EXIF, XMP, IPTC, comments and whatever stands behind the picture (which may be another
// picture with its own EXIF). Pixels are copied as they are, with everything that tells how to show them: colour profile, gamma, animation, and
// the orientation, for which a minimal EXIF block is written if the picture is not upright. The same input gives the same output. Other formats are
// ErrNotImage; a file whose structure cannot be followed is ErrDamaged. It needs about as much memory again as src.
func StripMetadata(src []byte) (out []byte, err error) {
	defer guard(&err)
	info, err := Probe(src)
	if err != nil {
		return nil, err
	}
	switch info.Format {
	case JPEG:
		out, err = stripJPEG(src, info.Orientation)
	case PNG:
		out, err = stripPNG(src, info.Orientation)
	case WebP:
		out, err = stripWebP(src, info)
	default:
		return nil, fmt.Errorf("%w: metadata of %s cannot be removed", ErrNotImage, info.Format)
	}
	return out, err
}

// orientationOnly is an EXIF block (a TIFF file in big-endian order) with one entry.
func orientationOnly(orientation int) []byte {
	return []byte{
		'M', 'M', 0, 42, 0, 0, 0, 8, // the directory is at 8
		0, 1, tagOrientation >> 8, tagOrientation & 0xff, 0, typeShort, 0, 0, 0, 1, 0, byte(orientation), 0, 0,
		0, 0, 0, 0, // and there is no other
	}
}

// Markers that stripJPEG has to know. Those from 0xd0 to 0xd9 have no length.
const (
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerAPP0 = 0xe0
	markerAPP1 = 0xe1
	markerAPP2 = 0xe2
	markerAPPE = 0xee
	markerAPPF = 0xef
	markerCOM  = 0xfe
)

// stripJPEG copies the segments up to the end of the picture, cut short or not.
func stripJPEG(src []byte, orientation int) ([]byte, error) {
	out := append(make([]byte, 0, len(src)+64), 0xff, markerSOI)
	oriented := orientation == 1
	for p := src[2:]; len(p) > 0; {
		marker, segment, rest, err := jpegSegment(p)
		if err != nil {
			return nil, damaged(JPEG, err)
		}
		if !oriented && marker != markerAPP0 {
			out = append(out, exifSegment(orientation)...)
			oriented = true
		}
		if keepsJPEG(marker, segment) {
			out = append(out, 0xff, marker)
			out = append(out, segment...)
		}
		if marker == markerEOI {
			break
		}
		p = rest
		if marker == markerSOS || marker == 0x01 || marker >= markerRST0 && marker <= markerRST7 {
			n := scanLength(p)
			out = append(out, p[:n]...)
			p = p[n:]
		}
	}
	return out, nil
}

// jpegSegment takes the first segment off: its marker, and its length and body.
func jpegSegment(p []byte) (marker byte, segment, rest []byte, err error) {
	if p[0] != 0xff {
		return 0, nil, nil, errors.New("a marker is missing")
	}
	for len(p) > 0 && p[0] == 0xff { // any number of them may fill up
		p = p[1:]
	}
	if len(p) == 0 {
		return markerEOI, nil, nil, nil
	}
	marker, p = p[0], p[1:]
	if marker == 0x01 || marker >= markerRST0 && marker <= markerEOI {
		return marker, nil, p, nil
	}
	if len(p) < 2 {
		return markerEOI, nil, nil, nil
	}
	n := int(binary.BigEndian.Uint16(p))
	if n < 2 || marker == 0 {
		return 0, nil, nil, errors.New("a segment has no sense")
	}
	if n > len(p) {
		return 0, nil, nil, errors.New("a segment is longer than the file")
	}
	return marker, p[:n], p[n:], nil
}

// keepsJPEG reports whether a segment is of the picture. segment begins with its length.
func keepsJPEG(marker byte, segment []byte) bool {
	switch marker {
	case markerAPP0:
		return bytes.HasPrefix(segment[2:], []byte("JFIF\x00")) // its extension is a thumbnail
	case markerAPP2:
		return bytes.HasPrefix(segment[2:], []byte(iccTag))
	case markerAPPE:
		return bytes.HasPrefix(segment[2:], []byte("Adobe")) // tells how colours are meant
	}
	return (marker < markerAPP1 || marker > markerAPPF) && marker != markerCOM
}

// scanLength returns how many bytes of pixels stand before the next marker.
// Within them 0xff is followed by zero or a restart marker.
func scanLength(p []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(p[at:], 0xff)
		if next < 0 || at+next+1 >= len(p) {
			return len(p)
		}
		at += next
		if m := p[at+1]; m != 0 && (m < markerRST0 || m > markerRST7) {
			return at
		}
		at += 2
	}
}

func exifSegment(orientation int) []byte {
	body := append([]byte("Exif\x00\x00"), orientationOnly(orientation)...)
	out := binary.BigEndian.AppendUint16([]byte{0xff, markerAPP1}, uint16(2+len(body)))
	return append(out, body...)
}

// shownPNG are the chunks, besides the critical ones in capitals, that tell how a picture looks.
var shownPNG = []string{
	"acTL", "fcTL", "fdAT", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "mDCv", "cLLI", "cLLi", "sBIT", "bKGD", "hIST", "pHYs", "sPLT",
}

// stripPNG copies the chunks up to the end of the picture, cut short or not.
func stripPNG(src []byte, orientation int) ([]byte, error) {
	out := append(make([]byte, 0, len(src)+64), src[:8]...)
	for p := src[8:]; len(p) > 0; {
		if len(p) < 12 {
			break
		}
		kind, end := string(p[4:8]), int64(binary.BigEndian.Uint32(p))+12
		if end > int64(len(p)) {
			if kind != "IDAT" && kind != "fdAT" {
				return nil, damaged(PNG, errors.New("a chunk is longer than the file"))
			}
			end = int64(len(p))
		}
		if kind[0]&0x20 == 0 || slices.Contains(shownPNG, kind) {
			out = append(out, p[:end]...)
		}
		if kind == "IHDR" && orientation != 1 {
			out = appendPNG(out, "eXIf", orientationOnly(orientation))
		}
		if kind == "IEND" {
			break
		}
		p = p[end:]
	}
	return out, nil
}

func appendPNG(out []byte, kind string, body []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	start := len(out)
	out = append(out, kind...)
	out = append(out, body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
}

// The flags of VP8X that tell of metadata.
const (
	exifFlag = 0x08
	xmpFlag  = 0x04
)

// stripWebP copies the chunks of the picture. Only an extended file can hold an orientation, so one that is oriented becomes one.
func stripWebP(src []byte, info Info) ([]byte, error) {
	src = src[:min(int64(len(src)), 8+int64(binary.LittleEndian.Uint32(src[4:])))]
	var body bytes.Buffer
	extended := false
	for kind, data := range riffChunks(src) {
		switch kind {
		case "VP8X":
			if len(data) < 10 {
				return nil, damaged(WebP, errShort)
			}
			header := slices.Clone(data[:10])
			header[0] &^= exifFlag | xmpFlag
			if info.Orientation != 1 {
				header[0] |= exifFlag
			}
			writeChunk(&body, kind, header)
			extended = true
		case "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP":
			writeChunk(&body, kind, data)
		}
	}
	if info.Orientation == 1 {
		return riffFile(body.Bytes()), nil
	}
	chunks := body.Bytes()
	if !extended {
		chunks = append(extendedFor(info), chunks...)
	}
	var exif bytes.Buffer
	writeChunk(&exif, "EXIF", orientationOnly(info.Orientation))
	return riffFile(append(chunks, exif.Bytes()...)), nil
}

// extendedFor returns the header that makes an extended file of a simple one.
func extendedFor(info Info) []byte {
	flags := byte(exifFlag)
	if info.Alpha {
		flags |= alphaFlag
	}
	w, h := info.stored()
	var head bytes.Buffer
	writeChunk(&head, "VP8X", extendedHeader(flags, w, h))
	return head.Bytes()
}
