//go:build heic

package images

import (
	"bytes"
	"image"

	"github.com/gen2brain/heic"
)

// The decoder contains libheif and libde265, which are under the LGPL, and HEVC is covered by patents: whoever builds with this tag has to see to
// both. It runs as WebAssembly like the other codecs.
func init() {
	heicDecode = func(src []byte) (image.Image, error) {
		if heic.Dynamic() == nil {
			return nil, errUnsandboxed
		}
		return heic.Decode(bytes.NewReader(src))
	}
}
