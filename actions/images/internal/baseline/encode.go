// Package baseline writes baseline JPEG files from planes: luma alone, or luma with chroma of half the size each way (4:2:0). It does what
// image/jpeg does, with the same tables, in a fraction of the time: the planes need no conversion, quantising multiplies
// instead of dividing, and zero coefficients are stepped over.
package baseline

import (
	"encoding/binary"

	"hasura-storage/actions/images/internal/planes"
)

// Encode returns a JPEG file. channels are Y, or Y, Cb and Cr, where Cb and Cr have half the size of Y, rounded up. quality is 1 to 100, as
// libjpeg counts it. segments, complete marker segments, are put near the beginning. Sides must not exceed 65535.
func Encode(channels []planes.Plane, quality int, segments []byte) []byte {
	luma := channels[0]
	e := &encoder{out: make([]byte, 0, luma.W*luma.H/6+len(segments)+2048)}
	e.out = append(e.out, 0xff, 0xd8)
	e.segment(0xe0, append([]byte("JFIF\x00"), 1, 1, 0, 0, 1, 0, 1, 0, 0))
	e.out = append(e.out, segments...)
	e.tables(quality, len(channels))
	e.frame(channels)
	if len(channels) == 1 {
		e.grayScan(luma)
	} else {
		e.colourScan(channels)
	}
	e.flush()
	return append(e.out, 0xff, 0xd9)
}

// encoder is a file being written. Bits wait in acc, the oldest the highest; n tells how many.
type encoder struct {
	out     []byte
	acc     uint64
	n       uint
	luma    channel
	chroma  [2]channel
	samples block
}

// channel is what one component needs.
type channel struct {
	quant  *quantiser
	dc, ac *[256]code
	pred   int32
}

func (e *encoder) segment(marker byte, body []byte) {
	e.out = append(e.out, 0xff, marker)
	e.out = binary.BigEndian.AppendUint16(e.out, uint16(len(body)+2))
	e.out = append(e.out, body...)
}

// tables writes the quantisation and code tables.
func (e *encoder) tables(quality, channels int) {
	e.luma = channel{quant: newQuantiser(&lumaQuant, quality), dc: lumaDC.codes(), ac: lumaAC.codes()}
	quant := e.luma.quant.segment(nil, 0)
	huff := lumaAC.segment(lumaDC.segment(nil, 0x00), 0x10)
	if channels > 1 {
		c := channel{quant: newQuantiser(&chromaQuant, quality), dc: chromaDC.codes(), ac: chromaAC.codes()}
		e.chroma = [2]channel{c, c}
		quant = c.quant.segment(quant, 1)
		huff = chromaAC.segment(chromaDC.segment(huff, 0x01), 0x11)
	}
	e.segment(0xdb, quant)
	e.segment(0xc4, huff)
}

// frame writes the frame and scan headers.
func (e *encoder) frame(channels []planes.Plane) {
	n := byte(len(channels))
	frame := append(make([]byte, 0, 15), 8, byte(channels[0].H>>8), byte(channels[0].H), byte(channels[0].W>>8), byte(channels[0].W), n)
	scan := append(make([]byte, 0, 10), n)
	for i := range n {
		sampling, table := byte(0x11), min(i, 1)
		if i == 0 && n > 1 {
			sampling = 0x22
		}
		frame = append(frame, i+1, sampling, table)
		scan = append(scan, i+1, table<<4|table)
	}
	e.segment(0xc0, frame)
	e.segment(0xda, append(scan, 0, 63, 0))
}

func (e *encoder) grayScan(p planes.Plane) {
	for y := 0; y < p.H; y += 8 {
		for x := 0; x < p.W; x += 8 {
			e.block(&e.luma, p, x, y)
		}
	}
}

func (e *encoder) colourScan(c []planes.Plane) {
	for y := 0; y < c[0].H; y += 16 {
		for x := 0; x < c[0].W; x += 16 {
			for i := range 4 {
				e.block(&e.luma, c[0], x+i%2*8, y+i/2*8)
			}
			e.block(&e.chroma[0], c[1], x/2, y/2)
			e.block(&e.chroma[1], c[2], x/2, y/2)
		}
	}
}

// block writes the 8x8 samples at x, y. Beyond the edges the last samples are repeated.
func (e *encoder) block(c *channel, p planes.Plane, x, y int) {
	e.load(p, x, y)
	forward(&e.samples)
	e.write(c, c.quant.quantise(&e.samples))
}

func (e *encoder) load(p planes.Plane, x, y int) {
	if x+8 <= p.W && y+8 <= p.H {
		for i := range 8 {
			src := p.Pix[(y+i)*p.Stride+x:][:8]
			dst := e.samples[8*i : 8*i+8]
			for j, v := range src {
				dst[j] = int32(v) - 128
			}
		}
		return
	}
	for i := range 8 {
		row := p.Row(min(y+i, p.H-1))
		for j := range 8 {
			e.samples[8*i+j] = int32(row[min(x+j, p.W-1)]) - 128
		}
	}
}
