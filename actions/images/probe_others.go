package images

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
)

// maxProfile bounds a colour profile; real ones have some KiB, printers' ones up to 2 MiB.
const maxProfile = 4 << 20

// probePNG reads the chunks up to the pixels.
func (i *Info) probePNG(src []byte) error {
	for p := src[8:]; len(p) >= 12; {
		n := int64(binary.BigEndian.Uint32(p))
		kind := string(p[4:8])
		if kind == "IDAT" || kind == "IEND" {
			return nil
		}
		if n+12 > int64(len(p)) {
			break
		}
		i.pngChunk(kind, p[8:8+n])
		p = p[n+12:]
	}
	if i.Width == 0 {
		return errShort
	}
	return nil
}

func (i *Info) pngChunk(kind string, body []byte) {
	switch kind {
	case "IHDR":
		if len(body) >= 13 {
			i.Width, i.Height = int(int32(binary.BigEndian.Uint32(body))), int(int32(binary.BigEndian.Uint32(body[4:])))
			i.Alpha = body[9] >= 4
			i.heavier = pngWeight(body[8] == 16, body[12] != 0)
		}
	case "tRNS":
		i.Alpha = true
	case "eXIf":
		i.Orientation = exifOrientation(body)
	case "iCCP":
		i.packed = body
	}
}

// pngWeight returns how many bytes a pixel takes above what one of eight bits a sample takes: interlaced ones are put together of pictures of their own.
func pngWeight(deep, interlaced bool) int64 {
	size := 4 + 4*int64(boolInt(deep))
	return size - 4 + size*int64(boolInt(interlaced))
}

// maxInflation is how many times what DEFLATE has packed can grow.
const maxInflation = 1032

// inflateProfile reads an iCCP chunk: a name, a zero, the method, the packed profile.
func inflateProfile(body []byte) []byte {
	_, rest, ok := bytes.Cut(body, []byte{0})
	if !ok || len(rest) < 2 {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(rest[1:]))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil || len(out) > maxProfile {
		return nil
	}
	return out
}

// probeGIF reads the screen's size and counts the frames by stepping from block to block.
func (i *Info) probeGIF(src []byte) error {
	if len(src) < 13 {
		return errShort
	}
	i.Width, i.Height = int(binary.LittleEndian.Uint16(src[6:])), int(binary.LittleEndian.Uint16(src[8:]))
	i.Alpha = true
	frames, rest, err := countFrames(src[min(13+colourTable(src[10]), len(src)):])
	i.Frames, i.ended = max(1, frames), len(rest) > 0 && rest[0] == 0x3b
	return err
}

// colourTable returns the length of the colour table that a flags byte announces.
func colourTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// countFrames returns how many there are, and the bytes behind the last block, none if that is cut off.
func countFrames(p []byte) (frames int, rest []byte, err error) {
	for len(p) >= 3 {
		skip := 2
		switch p[0] {
		case 0x21: // an extension: a label, then blocks
			if !regularExtension(p[1], p[2]) {
				return frames, p, errors.New("an extension begins with a block of the wrong length")
			}
		case 0x2c: // a frame: place, size, flags, colours, the code size, then blocks
			if len(p) < 10 {
				return frames, p, nil
			}
			frames++
			skip = 11 + colourTable(p[9])
		default:
			return frames, p, nil
		}
		if p = p[min(skip, len(p)):]; !subBlocks(&p) {
			return frames, nil, nil
		}
	}
	return frames, p, nil
}

// regularExtension reports whether the first block of an extension has its due length. The decoder takes that for granted and would go on
// elsewhere than this count, to frames that were not counted.
func regularExtension(label, length byte) bool {
	switch label {
	case 0x01: // plain text
		return length == 12
	case 0xff: // application
		return length > 0
	}
	return true
}

// subBlocks steps over data blocks up to the empty one that ends them.
func subBlocks(p *[]byte) bool {
	for len(*p) > 0 {
		n := int((*p)[0])
		if n+1 > len(*p) {
			return false
		}
		*p = (*p)[n+1:]
		if n == 0 {
			return true
		}
	}
	return false
}

// probeWebP reads the size of the first chunk and, of an extended file, what it announces.
func (i *Info) probeWebP(src []byte) error {
	for kind, body := range riffChunks(src) {
		i.webpChunk(kind, body)
	}
	if i.Width == 0 {
		return errShort
	}
	return nil
}

func (i *Info) webpChunk(kind string, body []byte) {
	switch {
	case kind == "VP8X" && len(body) >= 10:
		i.Alpha, i.animated = body[0]&0x10 != 0, body[0]&0x02 != 0
		i.Width, i.Height = 1+int(uint24(body[4:])), 1+int(uint24(body[7:]))
	case kind == "VP8 " && len(body) >= 10 && i.Width == 0:
		i.Width, i.Height = int(binary.LittleEndian.Uint16(body[6:])&0x3fff), int(binary.LittleEndian.Uint16(body[8:])&0x3fff)
	case kind == "VP8L" && len(body) >= 5 && i.Width == 0:
		v := binary.LittleEndian.Uint32(body[1:])
		i.Width, i.Height, i.Alpha = 1+int(v&0x3fff), 1+int(v>>14&0x3fff), v>>28&1 != 0
	case kind == "ICCP":
		i.profile = body
	case kind == "EXIF":
		i.Orientation = exifOrientation(bytes.TrimPrefix(body, []byte("Exif\x00\x00")))
	}
}

func uint24(p []byte) uint32 { return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 }

// riffChunks goes through the chunks of a WebP file. The last one may be cut off.
func riffChunks(src []byte) func(yield func(kind string, body []byte) bool) {
	return chunksOf(src[min(12, len(src)):])
}

func chunksOf(p []byte) func(yield func(kind string, body []byte) bool) {
	return func(yield func(string, []byte) bool) {
		for len(p) >= 8 {
			n := int64(binary.LittleEndian.Uint32(p[4:]))
			end := min(8+n, int64(len(p)))
			if !yield(string(p[:4]), p[8:end]) {
				return
			}
			p = p[min(8+n+n&1, int64(len(p))):]
		}
	}
}
