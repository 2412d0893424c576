package images

import (
	"bytes"
	"errors"
	"image"
	"io"

	"github.com/gen2brain/avif"
	"github.com/gen2brain/webp"
)

// Both codecs run as WebAssembly, in a sandbox. Built without the tag nodynamic they would prefer a library of the system if they find one, which
// is C inside this process: then they are not used at all.
var errUnsandboxed = errors.New("built without -tags nodynamic, and a system library was found: refusing to run it on foreign bytes")

const (
	webpMethod = 2  // at equal quality the encoder's effort that costs what libvips costs
	avifSpeed  = 10 // the only speed that a server can afford
)

func encodeWebP(m image.Image, quality int) ([]byte, error) {
	if webp.Dynamic() == nil {
		return nil, errUnsandboxed
	}
	var out bytes.Buffer
	err := webp.Encode(&out, m, webp.Options{Quality: quality, Method: webpMethod})
	return out.Bytes(), err
}

func encodeAVIF(m *image.RGBA, quality int) ([]byte, error) {
	if avif.Dynamic() == nil {
		return nil, errUnsandboxed
	}
	var out bytes.Buffer
	err := avif.Encode(&out, m, avif.Options{Quality: quality, QualityAlpha: quality, Speed: avifSpeed, ChromaSubsampling: image.YCbCrSubsampleRatio420})
	return out.Bytes(), err
}

func decodeAVIF(r io.Reader) (image.Image, error) {
	if avif.Dynamic() == nil {
		return nil, errUnsandboxed
	}
	return avif.Decode(r)
}

// WarmUp compiles the WebAssembly codecs, which takes some seconds of CPU once. Without it the first WebP and the first AVIF wait for it.
func WarmUp() {
	webp.Init()
	avif.InitEncoder()
	avif.InitDecoder()
}
