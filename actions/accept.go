package actions

import (
	"cmp"
	"mime"
	"strconv"
	"strings"

	"hasura-storage/actions/images"
)

// offered are the formats that AUTO chooses from, the best first. Whoever takes
// none of them gets the format of the source.
var offered = []images.Format{images.AVIF, images.WebP}

// mostForAVIF is how many pixels AUTO makes an AVIF of. It is a quarter smaller
// than a WebP of the same likeness, and takes nearly three times the processor and
// seven times the memory: too much for what is large.
const mostForAVIF = 1_000_000

// automatic returns the format that AUTO stands for. It goes by what is asked
// for alone, so that a link needs nothing else; a side left open counts as the other.
func automatic(accept string, spec images.Spec) images.Format {
	scale := cmp.Or(spec.DPR, 1)
	w, h := cmp.Or(spec.Width, spec.Height), cmp.Or(spec.Height, spec.Width)
	if pixels := float64(w) * float64(h) * scale * scale; pixels == 0 || pixels > mostForAVIF {
		return negotiated(accept, offered[1:])
	}
	return negotiated(accept, offered)
}

// negotiated returns the best of the formats that an Accept header (RFC 9110, 12.5.1)
// names with a weight above zero. Wildcards name none: every browser sends them,
// also those that cannot show the newer formats.
func negotiated(accept string, formats []images.Format) images.Format {
	weights := map[string]float64{}
	for item := range strings.SplitSeq(accept, ",") {
		essence, parameters, err := mime.ParseMediaType(item)
		if err != nil {
			continue
		}
		weights[essence] = weight(parameters["q"])
	}
	best, highest := images.Same, 0.0
	for _, format := range formats {
		if w := weights[format.ContentType()]; w > highest {
			best, highest = format, w
		}
	}
	return best
}

func weight(q string) float64 {
	if q == "" {
		return 1
	}
	w, err := strconv.ParseFloat(q, 64)
	if err != nil || w < 0 || w > 1 {
		return 0
	}
	return w
}
