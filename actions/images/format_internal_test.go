package images

import (
	"image"
	"testing"
)

func TestHEIFIsReadAsHEIC(t *testing.T) {
	defer func(was func([]byte) (image.Image, error)) { heicDecode = was }(heicDecode)
	for _, decode := range []func([]byte) (image.Image, error){nil, func([]byte) (image.Image, error) { return image.Black, nil }} {
		heicDecode = decode
		if Format("heif").Readable() != (decode != nil) || HEIC.Readable() != (decode != nil) {
			t.Errorf("with a decoder: %v; heif is readable: %v, heic: %v", decode != nil, Format("heif").Readable(), HEIC.Readable())
		}
		if Format("heif").Writable() {
			t.Error("heif is writable")
		}
	}
}
