package actions

import (
	"mime"
	"strconv"
	"strings"

	"hasura-storage/actions/images"
)

// offered are the formats that AUTO chooses from, the best first. Whoever takes
// none of them gets the format of the source.
var offered = []images.Format{images.AVIF, images.WebP}

// negotiated returns the best format that an Accept header (RFC 9110, 12.5.1)
// names with a weight above zero. Wildcards name none: every browser sends them,
// also those that cannot show the newer formats.
func negotiated(accept string) images.Format {
	weights := map[string]float64{}
	for _, item := range strings.Split(accept, ",") {
		essence, parameters, err := mime.ParseMediaType(item)
		if err != nil {
			continue
		}
		weights[essence] = weight(parameters["q"])
	}
	best, highest := images.Same, 0.0
	for _, format := range offered {
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
