package images

import (
	"encoding/binary"
	"math"
)

// iccTagBody returns what stands in an ICC profile under a signature, nil if there is nothing.
func iccTagBody(profile []byte, name string) []byte {
	if len(profile) < 132 {
		return nil
	}
	list := profile[132:]
	for n := binary.BigEndian.Uint32(profile[128:]); n > 0 && len(list) >= 12; n-- {
		if string(list[:4]) == name {
			at, size := int64(binary.BigEndian.Uint32(list[4:])), int64(binary.BigEndian.Uint32(list[8:]))
			if at+size > int64(len(profile)) {
				return nil
			}
			return profile[at : at+size]
		}
		list = list[12:]
	}
	return nil
}

// fixed reads a number with 16 bits of fraction.
func fixed(p []byte) float64 { return float64(int32(binary.BigEndian.Uint32(p))) / 65536 }

// matrixProfile is a profile of the simple kind, which cameras, phones and screens have: a curve for each channel, then a matrix to XYZ under D50.
type matrixProfile struct {
	curves [3][256]float64
	matrix [3][3]float64
}

// parseMatrixProfile reads such a profile; nil if it is of another kind.
func parseMatrixProfile(profile []byte) *matrixProfile {
	var m matrixProfile
	for c, letter := range []string{"r", "g", "b"} {
		xyz, curve := iccTagBody(profile, letter+"XYZ"), iccTagBody(profile, letter+"TRC")
		if len(xyz) < 20 || len(curve) < 12 {
			return nil
		}
		for row := range 3 {
			m.matrix[row][c] = fixed(xyz[8+4*row:])
		}
		for i := range 256 {
			m.curves[c][i] = curveAt(curve, float64(i)/255)
		}
	}
	return &m
}

// curveAt evaluates a TRC tag: a table, a gamma, or a formula with up to seven parameters.
func curveAt(tag []byte, x float64) float64 {
	n := int(binary.BigEndian.Uint32(tag[8:]))
	switch string(tag[:4]) {
	case "curv":
		return tableAt(tag[12:], n, x)
	case "para":
		return formulaAt(tag[12:], binary.BigEndian.Uint16(tag[8:]), x)
	}
	return x
}

func tableAt(p []byte, n int, x float64) float64 {
	switch {
	case n == 0 || n < 0 || n > len(p)/2:
		return x
	case n == 1:
		return math.Pow(x, float64(binary.BigEndian.Uint16(p))/256)
	}
	at := x * float64(n-1)
	i := min(int(at), n-2)
	a, b := float64(binary.BigEndian.Uint16(p[2*i:])), float64(binary.BigEndian.Uint16(p[2*i+2:]))
	return (a + (b-a)*(at-float64(i))) / 65535
}

// formulaAt evaluates the parametric curves of ICC.1, 10.18: (ax+b)^g, with a straight piece below d.
func formulaAt(p []byte, kind uint16, x float64) float64 {
	counts := []int{1, 3, 4, 5, 7}
	if int(kind) >= len(counts) || len(p) < 4*counts[kind] {
		return x
	}
	v := [7]float64{1, 1, 0, 0, 0, 0, 0} // g a b c d e f
	for i := range counts[kind] {
		v[i] = fixed(p[4*i:])
	}
	g, a, b, c, d, e, f := v[0], v[1], v[2], v[3], v[4], v[5], v[6]
	switch kind {
	case 1, 2: // the straight piece is c, and begins where ax+b is zero
		e, f, c, d = c, c, 0, -b/a
	}
	if kind > 0 && x < d {
		return c*x + f
	}
	return math.Pow(max(a*x+b, 0), g) + e
}

// fromXYZ leads from XYZ under D50 to linear sRGB.
var fromXYZ = [3][3]float64{
	{3.1338561, -1.6168667, -0.4906146},
	{-0.9787684, 1.9161415, 0.0334540},
	{0.0719453, -0.2289914, 1.4052427},
}

// gammaSteps is the resolution of the table that leads from linear light to sRGB's numbers.
const gammaSteps = 8192

var gammaTable = func() (t [gammaSteps + 1]uint8) {
	for i := range t {
		v := float64(i) / gammaSteps
		if v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		t[i] = uint8(v*255 + 0.5)
	}
	return t
}()

func gamma(v float64) uint8 {
	return gammaTable[int(min(max(v, 0), 1)*gammaSteps+0.5)]
}

// toSRGB applies the profile and drops it, for formats that do not carry one. Colours that sRGB does not have become the nearest it has in each
// channel. Profiles of other kinds than matrix and curves are dropped without.
func (p *picture) toSRGB() {
	profile := p.usableProfile()
	p.profile = nil
	if profile == nil || p.colours == gray {
		return
	}
	m := parseMatrixProfile(profile)
	if m == nil {
		return
	}
	p.toRGB()
	product := multiply(fromXYZ, m.matrix)
	for y := range p.planes[0].H {
		rows := [3][]uint8{p.planes[0].Row(y), p.planes[1].Row(y), p.planes[2].Row(y)}
		for x := range rows[0] {
			a := uint8(255)
			if p.alpha != nil {
				a = p.alpha.Row(y)[x]
			}
			convert(m, &product, rows, x, a)
		}
	}
}

// convert changes one pixel, whose colours are multiplied by a.
func convert(m *matrixProfile, product *[3][3]float64, rows [3][]uint8, x int, a uint8) {
	if a == 0 {
		return
	}
	px := [4]uint8{rows[0][x], rows[1][x], rows[2][x], a}
	straighten(px[:])
	r, g, b := m.curves[0][px[0]], m.curves[1][px[1]], m.curves[2][px[2]]
	for c, row := range product {
		rows[c][x] = times255(gamma(row[0]*r+row[1]*g+row[2]*b), a)
	}
}

func multiply(a, b [3][3]float64) (out [3][3]float64) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}
