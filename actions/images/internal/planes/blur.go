package planes

import "math"

// widestGauss is the widest Gaussian that is done tap by tap. A wider one is done on a smaller picture, so that the cost of a
// blur does not grow with its width; the difference is far below what an eye can find in something that blurred.
const widestGauss = 6

// Blurred returns p blurred by a Gaussian of the given standard deviation, in samples; p itself for sigma <= 0.
func (p Plane) Blurred(sigma float64) Plane {
	return p.BlurredXY(sigma, sigma)
}

// BlurredXY is Blurred with a deviation for each axis, for chroma planes that are smaller along one of them.
func (p Plane) BlurredXY(sx, sy float64) Plane {
	s := max(sx, sy)
	if s < 0.1 {
		return p
	}
	if s <= widestGauss {
		return p.convolved(sx, sy)
	}
	f := s / (widestGauss / 2)
	w, h := max(1, int(math.Round(float64(p.W)/f))), max(1, int(math.Round(float64(p.H)/f)))
	small := p.Resample(w, h, p.Full(), Triangle())
	small = small.convolved(sx*float64(w)/float64(p.W), sy*float64(h)/float64(p.H))
	return small.Resample(p.W, p.H, small.Full(), Triangle())
}

func (p Plane) convolved(sx, sy float64) Plane {
	return p.resample(p.W, p.H, p.Full(), Gauss(max(sx, 0.1)), Gauss(max(sy, 0.1)))
}

// Sharpened returns p with amount times what a blur of the given deviation would take away added (an unsharp mask).
func (p Plane) Sharpened(sigma, amount float64) Plane {
	out := p.Clone()
	soft := p.Blurred(sigma)
	gain := int(math.Round(amount * 256))
	for y := range p.H {
		row, s := out.Row(y), soft.Row(y)
		for x, v := range row {
			n := int(v) + ((int(v)-int(s[x]))*gain+128)>>8
			row[x] = uint8(min(max(n, 0), 255))
		}
	}
	return out
}
