package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
)

// frameHeader is the length of what precedes the chunks of an ANMF chunk: place, size, duration, flags.
const frameHeader = 16

// stillWebP returns a WebP file without animation: src itself, or the first frame of an animated file made into one, with its
// place on the canvas.
func stillWebP(src []byte, info Info) ([]byte, image.Point, error) {
	if !info.animated {
		return src, image.Point{}, nil
	}
	for kind, body := range riffChunks(src) {
		if kind != "ANMF" {
			continue
		}
		if len(body) < frameHeader {
			break
		}
		at := image.Pt(2*int(uint24(body)), 2*int(uint24(body[3:])))
		w, h := uint24(body[6:]), uint24(body[9:])
		if cw, ch := info.stored(); at.X+int(w) >= cw || at.Y+int(h) >= ch {
			break
		}
		return frameFile(body[frameHeader:], w, h), at, nil
	}
	return nil, image.Point{}, errors.New("no frame in an animation")
}

// frameFile makes a file of the chunks of a frame; w and h are the frame's size less one. It is always an extended one, whose header makes
// the decoder refuse a frame that lies about its size.
func frameFile(chunks []byte, w, h uint32) []byte {
	var body bytes.Buffer
	flags := byte(0)
	for kind, data := range chunksOf(chunks) {
		switch kind {
		case "ALPH":
			flags = alphaFlag
			writeChunk(&body, kind, data)
		case "VP8 ", "VP8L":
			writeChunk(&body, kind, data)
		}
	}
	var head bytes.Buffer
	writeChunk(&head, "VP8X", extendedHeader(flags, int(w)+1, int(h)+1))
	return riffFile(append(head.Bytes(), body.Bytes()...))
}

// The flags of VP8X that we set.
const (
	alphaFlag   = 0x10
	profileFlag = 0x20
)

func extendedHeader(flags byte, w, h int) []byte {
	out := append(make([]byte, 0, 10), flags, 0, 0, 0)
	for _, n := range []int{w - 1, h - 1} {
		out = append(out, byte(n), byte(n>>8), byte(n>>16))
	}
	return out
}

func writeChunk(b *bytes.Buffer, kind string, data []byte) {
	b.WriteString(kind)
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(data))))
	b.Write(data)
	if len(data)%2 == 1 {
		b.WriteByte(0)
	}
}

func riffFile(chunks []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(chunks)))
	out = append(out, "WEBP"...)
	return append(out, chunks...)
}

// webpWithProfile adds a colour profile to a file as the encoder makes it.
func webpWithProfile(file, profile []byte, w, h int, alpha bool) []byte {
	flags := byte(profileFlag)
	if alpha {
		flags |= alphaFlag
	}
	var body bytes.Buffer
	writeChunk(&body, "VP8X", extendedHeader(flags, w, h))
	writeChunk(&body, "ICCP", profile)
	for kind, data := range riffChunks(file) {
		if kind != "VP8X" {
			writeChunk(&body, kind, data)
		}
	}
	return riffFile(body.Bytes())
}
