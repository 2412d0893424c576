package images

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
)

// usableProfile returns the profile if it describes what the planes hold: a CMYK profile means nothing for what was made of the file.
func (p *picture) usableProfile() []byte {
	if len(p.profile) < 128 || len(p.profile) > maxProfile {
		return nil
	}
	space := string(p.profile[16:20])
	if space == "RGB " && p.colours != gray || space == "GRAY" && p.colours == gray {
		return p.profile
	}
	return nil
}

// partSize is how much of a profile fits into one segment besides its tag and numbers.
const partSize = 65535 - 2 - len(iccTag) - 2

// jpegProfile returns the marker segments that hold the profile.
func jpegProfile(profile []byte) []byte {
	parts := (len(profile) + partSize - 1) / partSize
	if parts > 255 {
		return nil
	}
	var out []byte
	for i := range parts {
		part := profile[i*partSize : min((i+1)*partSize, len(profile))]
		out = append(out, 0xff, 0xe2)
		out = binary.BigEndian.AppendUint16(out, uint16(len(part)+len(iccTag)+4))
		out = append(out, iccTag...)
		out = append(out, byte(i+1), byte(parts))
		out = append(out, part...)
	}
	return out
}

// headerEnd is where the chunks after IHDR begin.
const headerEnd = 8 + 12 + 13

// pngWithProfile puts the profile behind the IHDR chunk.
func pngWithProfile(file, profile []byte) []byte {
	if profile == nil {
		return file
	}
	var body bytes.Buffer
	body.WriteString("iCCPicc\x00\x00")
	z := zlib.NewWriter(&body)
	_, _ = z.Write(profile) // to memory, which cannot fail
	_ = z.Close()
	out := append(make([]byte, 0, len(file)+body.Len()+12), file[:headerEnd]...)
	out = binary.BigEndian.AppendUint32(out, uint32(body.Len()-4))
	out = append(out, body.Bytes()...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body.Bytes()))
	return append(out, file[headerEnd:]...)
}
