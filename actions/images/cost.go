package images

// The memory of a decode, in bytes per pixel of the source. Generous: a budget that is exceeded is worse than one that is not used up.
const (
	costPixels  = 9  // decoded by the standard library, then taken apart into planes
	costWebP    = 14 // the same, where alpha and colours are decoded apart
	costHEIC    = 70 // decoded by a WebAssembly module, whose memory is copied whenever it grows
	costJPEG    = 3  // our JPEG decoder's planes at full size
	costCMYK    = 13 // a JPEG that the standard decoder reads, taken apart into planes
	costScans   = 16 // more, if that is progressive
	costProfile = 5  // per byte of a packed profile, read into memory that grows with it
	costFixed   = 4 << 20
	costResult  = 16 // per pixel of the result

	// Of an animation all frames are kept, before and after, at a byte per pixel; of each pixel there are up to 1.4 bytes in the file, whose
	// buffer is copied to one of twice the size when it is full.
	costFrames  = 1        // per pixel of the source and frame
	costWritten = 6        // per pixel of the result and frame
	costFrame   = 12 << 10 // per frame: its colours
	costCanvas  = 4        // per pixel of the source: the canvas that a frame gives back
)

// maxArea and maxFrames are beyond all limits: headers that say more must not make a small number of it.
const (
	maxArea   = 1 << 36
	maxFrames = 1 << 12
)

// area returns w times h, at most maxArea.
func area(w, h int64) int64 {
	if w > 0 && h > maxArea/w {
		return maxArea
	}
	return w * h
}

// Cost estimates how many bytes of memory a transform of such a picture takes at its peak, without the file itself, which should have been probed as a whole. A spec that does not fit the
// picture costs as if it changed nothing.
func Cost(info Info, s Spec) int64 {
	pixels, frames := area(int64(info.Width), int64(info.Height)), int64(min(max(1, info.Frames), maxFrames))
	p, err := newPlan(info, s)
	if err != nil {
		return costFixed + pixels*(costPixels+costResult)
	}
	alpha := s.Background.A < 255 && (info.Alpha || p.framed() || s.Rotate%90 != 0)
	canvas := area(int64(p.canvas[0]), int64(p.canvas[1]))
	result := resultCost(s.Format.resultFor(info.Format), canvas, alpha)
	switch info.Format {
	case JPEG:
		if info.foreign {
			return costFixed + result + int64(info.size) + pixels*(costCMYK+int64(boolInt(info.Progressive))*costScans)
		}
		d := int64(denominator(p.shrinks()))
		bytes := pixels*costJPEG/(d*d) + int64(info.size) // the coded data are copied without their stuffing
		if info.Progressive {
			bytes += progressiveCost(pixels, d)
		}
		return costFixed + result + bytes
	case AVIF:
		return costFixed + result + avifCost(info.coded, pixels)
	case HEIC:
		return costFixed + result + 48<<20 + pixels*costHEIC
	case WebP:
		return costFixed + result + pixels*costWebP
	case GIF:
		if !info.Animates(s) {
			return costFixed + result + pixels*costPixels
		}
		return costFixed + result + pixels*(costPixels+costCanvas) + frames*(costFrame+pixels*costFrames+canvas*costWritten)
	default:
	}
	profile := min(int64(len(info.packed))*maxInflation, maxProfile)
	return costFixed + result + pixels*(costPixels+info.heavier) + profile*costProfile
}

// resultCost is what making and encoding so many pixels takes. The WebAssembly encoders bring a memory of their own, and WebP's takes several
// times as much for pixels that may be transparent.
func resultCost(f Format, pixels int64, alpha bool) int64 {
	switch {
	case f == WebP && alpha:
		return 4<<20 + pixels*116
	case f == WebP:
		return 4<<20 + pixels*costResult
	case f == AVIF:
		return 32<<20 + pixels*120
	default:
		return pixels * costResult
	}
}

// avifCost is what decoding takes, by a WebAssembly module as well. How much of it is for the coded pictures and how much for
// the pixels that come out of them was measured on pictures with alpha, which is coded apart.
func avifCost(c coded, pixels int64) int64 {
	perCoded, perPixel := int64(48), int64(26)
	if c.deep {
		perCoded, perPixel = 80, 54
	}
	return 32<<20 + max(c.pixels, pixels)*perCoded + pixels*perPixel
}

// progressiveCost is what the coefficients of a progressive JPEG take, chroma counted at full size.
func progressiveCost(pixels, denominator int64) int64 {
	kept := map[int64]int64{1: 64, 2: 25, 4: 5, 8: 1}[denominator]
	return pixels * 3 / 64 * (kept*2 + 8)
}
