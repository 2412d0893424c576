package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Sizes of plots, in pixels.
const (
	plotWidth  = 760
	plotLeft   = 170
	plotRight  = 90
	barHeight  = 12
	barPitch   = 40
	lineHeight = 300
)

const plotHead = `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">` +
	`<rect width="100%%" height="100%%" fill="white"/><text x="10" y="18" font-size="14">%s</text>` + "\n"

// bars draws processor time per request, service above floor, on a logarithmic scale.
func (r *report) bars() string {
	var b strings.Builder
	fmt.Fprintf(&b, plotHead, plotWidth, 40+barPitch*len(r.results), "processor time per request: service (blue), floor (grey)")
	for i, one := range r.results {
		y := 34 + barPitch*i
		fmt.Fprintf(&b, `<text x="10" y="%d">%s</text>`+"\n", y+16, one.Case)
		bar(&b, y, "#2563eb", one.Flat.CPU)
		if one.Floor != nil {
			bar(&b, y+barHeight+2, "#9ca3af", one.Floor.CPU)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// bar begins at a microsecond; each decade is as long as the others.
func bar(b *strings.Builder, y int, colour string, d time.Duration) {
	const decades = 6.0
	share := min(max(math.Log10(float64(d)/float64(time.Microsecond)), 0)/decades, 1)
	width := share * (plotWidth - plotLeft - plotRight)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, plotLeft, y, width, barHeight, colour)
	fmt.Fprintf(b, `<text x="%.1f" y="%d">%s</text>`+"\n", plotLeft+width+4, y+barHeight-1, short(d))
}

// point is one sample of a curve.
type point struct{ X, Y float64 }

// curve draws samples over seconds.
func curve(title, unit string, points []point) string {
	right, top := 1.0, 1.0
	for _, p := range points {
		right, top = max(right, p.X), max(top, p.Y)
	}
	top *= 1.1
	wide, high := float64(plotWidth-plotLeft-plotRight+100), float64(lineHeight-70)
	var b, path strings.Builder
	fmt.Fprintf(&b, plotHead, plotWidth, lineHeight, title)
	for i := range 5 {
		y := 40 + high*(1-float64(i)/4)
		fmt.Fprintf(&b, `<line x1="70" x2="%.0f" y1="%.1f" y2="%.1f" stroke="#e5e7eb"/>`, 70+wide, y, y)
		fmt.Fprintf(&b, `<text x="8" y="%.1f">%.0f %s</text>`, y+4, top*float64(i)/4, unit)
		fmt.Fprintf(&b, `<text x="%.0f" y="%d">%.0f s</text>`+"\n", 60+wide*float64(i)/4, lineHeight-12, right*float64(i)/4)
	}
	for _, p := range points {
		fmt.Fprintf(&path, "%.1f,%.1f ", 70+wide*p.X/right, 40+high*(1-p.Y/top))
	}
	fmt.Fprintf(&b, `<polyline fill="none" stroke="#2563eb" stroke-width="1.5" points="%s"/></svg>`+"\n", strings.TrimSpace(path.String()))
	return b.String()
}
