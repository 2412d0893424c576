// Package scaled decodes JPEG files at a half, a quarter or an eighth of their size, or in full, into planes as the file has them:
// luma, and chroma at its own resolution. Decoding small takes only the low frequencies of each block, which costs a fraction of a full decode
// and filters as it shrinks. In full it gives the very samples of image/jpeg.
//
// It reads 8-bit Huffman-coded files, sequential and progressive, of one component or of three in YCbCr, with all samplings of a
// factor of one, two or four, and restart markers. Anything else is ErrUnsupported, and left to image/jpeg.
package scaled

import (
	"context"
	"errors"
	"fmt"
	"io"

	"hasura-storage/actions/images/internal/planes"
)

var (
	// ErrUnsupported says that the file may be good, but is of a kind that this decoder leaves to another.
	ErrUnsupported = errors.New("kind of JPEG not handled here")
	// ErrDamaged says that the file ends early or makes no sense.
	ErrDamaged = errors.New("damaged JPEG")
)

// Options say how to decode.
type Options struct {
	// Denominator is 1, 2, 4 or 8: the result has a Denominator-th of the width and height, rounded up.
	Denominator int
	// FullChroma decodes subsampled chroma with up to the luma's resolution, as far as the file has it: for results that do not subsample.
	FullChroma bool
}

// Picture is a decoded file.
type Picture struct {
	// Width and Height are those of the file, in pixels, whatever the denominator was.
	Width, Height int
	// Planes are Y alone, or Y, Cb and Cr.
	Planes []planes.Plane
	// ScaleX and ScaleY are, for each plane, its samples per pixel of the file.
	ScaleX, ScaleY [3]float64
}

// component is one channel of the frame and its place in the decoded picture.
type component struct {
	id, table byte
	h, v      int
	size      int // samples a block gives each way: 8, 4, 2 or 1
	wide      int // blocks in a row, whole MCUs
	high      int
	own       [2]int // blocks in a row and rows, without what only fills up MCUs
	quant     *[64]int32
	stream    stream
	transform func(b *block, rows uint8, dst []byte, stride int)
	plane     planes.Plane
	coef      []int16  // progressive: need coefficients of each block, in zig-zag order
	nonzero   []uint64 // progressive: for each block, which of all 64 coefficients are not zero
	seen      bool
}

type decoder struct {
	ctx           context.Context //nolint:containedctx // a decoder lives for one call
	opt           Options
	seg           *Segments
	width, height int
	progressive   bool
	comps         []component
	hmax, vmax    int
	mcusX, mcusY  int
	quant         [4]*[64]int32
	dc, ac        [4]*huffman
	restart       int
	jfif          bool
	adobe         int // the transform of an Adobe segment, -1 if there is none
	buf           []byte
	bits          bits
	eobRun        int
	block         block // the one at work; here, so that it is not allocated anew for each
}

// Decode decodes src, a whole file. It looks at ctx once a row of blocks. It makes no limits of its own: the caller has
// read the size from the header and has counted the scans.
func Decode(ctx context.Context, src []byte, o Options) (*Picture, error) {
	if len(src) < 4 || src[0] != 0xff || src[1] != SOI {
		return nil, ErrDamaged
	}
	d := &decoder{ctx: ctx, opt: o, seg: NewSegments(src), adobe: -1}
	for {
		marker, body, err := d.seg.Next()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if marker == EOI {
			return d.finish()
		}
		if err := d.segment(marker, body); err != nil {
			return nil, err
		}
	}
}

// Handles tells by what stands before the first scan whether Decode knows this kind of file, which it may find damaged yet. It allocates nothing
// to speak of.
func Handles(src []byte) bool {
	d := &decoder{seg: NewSegments(src), adobe: -1}
	for {
		marker, body, err := d.seg.Next()
		switch {
		case err != nil || marker == EOI:
			return true
		case marker >= SOF0 && marker <= SOF2:
			err = d.readFrame(marker, body)
		case marker == SOS && d.comps != nil:
			return d.checkColours() == nil
		case marker != DHT && marker != DQT && marker != SOS:
			err = d.segment(marker, body)
		}
		if err != nil {
			return !errors.Is(err, ErrUnsupported)
		}
	}
}

func (d *decoder) segment(marker byte, body []byte) error {
	switch marker {
	case SOF0, SOF1, SOF2:
		return d.frame(marker, body)
	case DHT:
		return d.huffmanTables(body)
	case DQT:
		return d.quantTables(body)
	case DRI:
		if len(body) != 2 {
			return ErrDamaged
		}
		d.restart = int(body[0])<<8 | int(body[1])
	case SOS:
		return d.scan(body)
	case APP0:
		d.jfif = len(body) >= 5 && string(body[:5]) == "JFIF\x00"
	case APP14:
		if len(body) >= 12 && string(body[:5]) == "Adobe" {
			d.adobe = int(body[11])
		}
	default:
		if marker < APP0 {
			return ErrUnsupported
		}
	}
	return nil
}

func (d *decoder) quantTables(p []byte) error {
	for len(p) > 0 {
		id, wide := p[0]&15, int(p[0]>>4)
		if id > 3 || wide > 1 || len(p) < 1+64<<wide {
			return ErrDamaged
		}
		t := new([64]int32)
		for i := range t {
			if wide == 1 {
				t[i] = int32(p[1+2*i])<<8 | int32(p[2+2*i])
			} else {
				t[i] = int32(p[1+i])
			}
		}
		d.quant[id] = t
		p = p[1+64<<wide:]
	}
	return nil
}

func (d *decoder) huffmanTables(p []byte) error {
	for len(p) > 0 {
		class, id := p[0]>>4, p[0]&15
		if class > 1 || id > 3 {
			return ErrDamaged
		}
		h, rest, err := parseHuffman(p[1:])
		if err != nil {
			return err
		}
		if class == 0 {
			d.dc[id] = h
		} else {
			d.ac[id] = h
		}
		p = rest
	}
	return nil
}

// finish is reached at the end marker.
func (d *decoder) finish() (*Picture, error) {
	if d.comps == nil {
		return nil, fmt.Errorf("%w: no frame", ErrDamaged)
	}
	p := &Picture{Width: d.width, Height: d.height}
	for i := range d.comps {
		c := &d.comps[i]
		if !c.seen {
			return nil, ErrUnsupported
		}
		if d.progressive {
			if err := d.reconstruct(c); err != nil {
				return nil, err
			}
		}
		p.Planes = append(p.Planes, c.plane)
		p.ScaleX[i] = float64(c.h*c.size) / float64(8*d.hmax)
		p.ScaleY[i] = float64(c.v*c.size) / float64(8*d.vmax)
	}
	return p, nil
}

// checkColours refuses three components that are not YCbCr, by the same signs as image/jpeg.
func (d *decoder) checkColours() error {
	if len(d.comps) == 1 || d.jfif {
		return nil
	}
	c := d.comps
	if d.adobe == 0 || c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B' {
		return ErrUnsupported
	}
	return nil
}

// damaged wraps io.ErrUnexpectedEOF, so that a caller can tell a file that was cut off.
func damaged() error { return fmt.Errorf("%w: %w", ErrDamaged, io.ErrUnexpectedEOF) }
