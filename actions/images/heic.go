package images

import "image"

// heicDecode decodes a HEIC file, upright. It is nil unless the program was built with the tag heic.
var heicDecode func(src []byte) (image.Image, error)
