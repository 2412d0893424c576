package images

import (
	"errors"
	"fmt"

	"hasura-storage/actions/images/internal/planes"
)

// Info is what the header of a picture says.
type Info struct {
	Format Format
	// Width and Height are those of the upright picture, in pixels.
	Width, Height int
	// Orientation is EXIF's, 1 to 8: how the stored pixels have to be turned.
	Orientation int
	// Frames is 1 for a still picture. For a GIF it counts the frames within the bytes that were given.
	Frames int
	// Progressive tells a JPEG that has to be held in memory as a whole while it is decoded.
	Progressive bool
	// Alpha tells that there may be transparent pixels.
	Alpha bool

	size     int    // how many bytes were probed
	profile  []byte // ICC
	packed   []byte // the same of a PNG, to be inflated once there is memory for it
	animated bool   // a WebP of frames
	heavier  int64  // bytes a pixel above the usual in memory, of a PNG
	coded    coded  // of an AVIF
	ended    bool   // a GIF that goes on to the mark of its end
	foreign  bool   // a JPEG that our decoder leaves to the standard one
}

// stored returns the size before the orientation is applied.
func (i *Info) stored() (w, h int) { return i.turn().Size(i.Width, i.Height) }

// turn returns what makes the stored pixels upright.
func (i *Info) turn() planes.Turn { return orientations[i.Orientation&7] }

// orientations are EXIF's; 8 stands at 0.
var orientations = [8]planes.Turn{
	0: {Quarters: 3},
	1: {},
	2: {Mirror: true},
	3: {Quarters: 2},
	4: {Mirror: true, Quarters: 2},
	5: {Mirror: true, Quarters: 3},
	6: {Quarters: 1},
	7: {Mirror: true, Quarters: 1},
}

var errShort = errors.New("the header is not complete")

// Probe reads the header of a picture; the first few hundred KiB of the file are enough. It decodes nothing and checks no limit.
func Probe(src []byte) (info Info, err error) {
	defer guard(&err)
	info = Info{Format: Sniff(src), Orientation: 1, Frames: 1, size: len(src)}
	switch info.Format {
	case JPEG:
		err = info.probeJPEG(src)
	case PNG:
		err = info.probePNG(src)
	case GIF:
		err = info.probeGIF(src)
	case WebP:
		err = info.probeWebP(src)
	case AVIF, HEIC:
		err = info.probeHEIF(src)
	default:
		return info, fmt.Errorf("%w: none of jpeg, png, webp, gif, avif", ErrNotImage)
	}
	if err == nil && (info.Width <= 0 || info.Height <= 0) {
		err = fmt.Errorf("the header says %dx%d", info.Width, info.Height)
	}
	if err != nil {
		return info, damaged(info.Format, err)
	}
	if info.turn().Swaps() {
		info.Width, info.Height = info.Height, info.Width
	}
	return info, nil
}
