package images

import "bytes"

// Format is an image file format, written as in a MIME type after "image/". The zero value stands for the format of the source.
type Format string

// The formats. HEIC is recognised always and decoded only by programs built with the tag heic; it is never written. SVG, TIFF and
// BMP are not decoded by design.
const (
	Same Format = ""
	JPEG Format = "jpeg"
	PNG  Format = "png"
	GIF  Format = "gif"
	WebP Format = "webp"
	AVIF Format = "avif"
	HEIC Format = "heic"
)

// ContentType returns the MIME type, "" for Same.
func (f Format) ContentType() string {
	if f == Same {
		return ""
	}
	return "image/" + string(f)
}

// Writable reports whether Transform can produce the format (Same included).
func (f Format) Writable() bool {
	switch f {
	case Same, JPEG, PNG, GIF, WebP, AVIF:
		return true
	default:
		return false
	}
}

// Readable reports whether this program can decode the format. A MIME type may call HEIC by its container's name.
func (f Format) Readable() bool {
	return f != Same && f.Writable() || (f == HEIC || f == "heif") && heicDecode != nil
}

// SniffLen is how many bytes Sniff looks at, at most.
const SniffLen = 32

// Sniff tells the format by the first bytes of a file; Same if it is none of ours.
func Sniff(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return WebP
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		return sniffBrands(head)
	}
	return Same
}

// sniffBrands tells AVIF and HEIC apart, which share a container: by the major brand, then by the compatible ones.
func sniffBrands(head []byte) Format {
	for i := 8; i+4 <= min(len(head), SniffLen); i += 4 {
		switch string(head[i : i+4]) {
		case "avif", "avis":
			return AVIF
		case "heic", "heix", "heim", "heis", "hevc", "hevx":
			return HEIC
		}
	}
	if string(head[8:12]) == "mif1" || string(head[8:12]) == "msf1" {
		return HEIC
	}
	return Same
}
