package scaled

// The full transform must give the very numbers that image/jpeg gives, so that a picture does not depend on which of the two
// decoded it: it is the transform of Loeffler, Ligtenberg and Moschytz (ICASSP 1989) run backward, with the fractions cut at
// the same places. A constant's name ends with its number of fraction bits.
const (
	cosSixteenth12 = 4017 // cos(π/16)
	sinSixteenth12 = 799
	cosThree12     = 3406 // cos(3π/16)
	sinThree12     = 2276
	halfCosSix18   = 70936 // cos(6π/16)/√2
	halfSinSix18   = 171254
	halfCosSix12   = 1108
	halfSinSix12   = 2676
	invRoot8       = 181 // 1/√2
	invRoot14      = 11585
)

// full transforms a block into 8x8 samples. rows tells which rows have AC coefficients.
func full(b *block, rows uint8, dst []byte, stride int) {
	if rows == 0 {
		flat(clampSample((b[0]<<17+1<<19)>>20), 8, dst, stride)
		return
	}
	for y := range 8 {
		if rows>>y&1 != 0 {
			fullRow(b[8*y : 8*y+8 : 8*y+8])
		} else if y == 0 {
			dcRow(b)
		}
	}
	for x := range 8 {
		fullColumn(b, x)
	}
	for y := range 8 {
		row, line := b[8*y:8*y+8:8*y+8], dst[y*stride:y*stride+8:y*stride+8]
		for x := range line {
			line[x] = clampSample(row[x])
		}
	}
}

func dcRow(b *block) {
	v := b[0] << 17
	for x := range 8 {
		b[x] = v
	}
}

// fullRow turns whole numbers into numbers with 20 bits of fraction.
func fullRow(x []int32) {
	_ = x[7]
	a, b := (x[0]+x[4])<<17, (x[0]-x[4])<<17
	c := x[2]*halfCosSix18 - x[6]*halfSinSix18
	d := x[2]*halfSinSix18 + x[6]*halfCosSix18
	e0, e1, e2, e3 := a+d, b+c, b-c, a-d

	p, q := (x[1]+x[7])<<7, (x[1]-x[7])<<7
	r, s := x[3]*invRoot8, x[5]*invRoot8
	p, r = p+r, p-r
	q, s = q+s, q-s
	q, p, r, s = q>>2, p>>2, r>>2, s>>2
	o3, o0 := q*cosThree12-p*sinThree12, q*sinThree12+p*cosThree12
	o2, o1 := r*cosSixteenth12-s*sinSixteenth12, r*sinSixteenth12+s*cosSixteenth12

	x[0], x[7] = e0+o0, e0-o0
	x[1], x[6] = e1+o1, e1-o1
	x[2], x[5] = e2+o2, e2-o2
	x[3], x[4] = e3+o3, e3-o3
}

// fullColumn turns numbers with 20 bits of fraction into samples less 128.
func fullColumn(m *block, i int) {
	x := m[i : i+57 : i+57]
	first := x[0] + 1<<19
	a, b := (first+x[32])>>2, (first-x[32])>>2
	x2, x6 := x[16]>>13, x[48]>>13
	c := x2*halfCosSix12 - x6*halfSinSix12
	d := x2*halfSinSix12 + x6*halfCosSix12
	e0, e1, e2, e3 := a+d, b+c, b-c, a-d

	p, q := x[8]+x[56], x[8]-x[56]
	r, s := (x[24]>>13)*invRoot14, (x[40]>>13)*invRoot14
	p, r = p+r, p-r
	q, s = q+s, q-s
	q, p, r, s = q>>14, p>>14, r>>14, s>>14
	o3, o0 := q*cosThree12-p*sinThree12, q*sinThree12+p*cosThree12
	o2, o1 := r*cosSixteenth12-s*sinSixteenth12, r*sinSixteenth12+s*cosSixteenth12

	x[0], x[56] = (e0+o0)>>18, (e0-o0)>>18
	x[8], x[48] = (e1+o1)>>18, (e1-o1)>>18
	x[16], x[40] = (e2+o2)>>18, (e2-o2)>>18
	x[24], x[32] = (e3+o3)>>18, (e3-o3)>>18
}

// A smaller result takes only the low frequencies, as many each way as there are samples, through a transform of that size. Its scale is
// chosen so that the sum of a row needs no more than a shift by three at the end.
const (
	bigFour   = 10703 // √2 cos(π/8), 13 bits of fraction
	smallFour = 4433  // √2 cos(3π/8)
)

// four transforms the 4x4 lowest coefficients into 4x4 samples.
func four(b *block, rows uint8, dst []byte, stride int) {
	if rows == 0 {
		flat(clampSample((b[0]+4)>>3), 4, dst, stride)
		return
	}
	for y := range 4 {
		x := b[8*y : 8*y+4 : 8*y+4]
		x[0], x[1], x[2], x[3] = fourPoint(x[0]<<8, x[1], x[2]<<8, x[3], 5)
	}
	for i := range 4 {
		r0, r1, r2, r3 := fourPoint(b[i]+1<<10, b[8+i]>>4, b[16+i], b[24+i]>>4, 9)
		for y, v := range [4]int32{r0, r1, r2, r3} {
			dst[y*stride+i] = clampSample(v >> 11)
		}
	}
}

// fourPoint is the transform of four numbers. Odd coefficients come with fewer fraction bits than even ones: their products, of 13
// bits more, are cut by cut.
func fourPoint(c0, c1, c2, c3 int32, cut uint) (r0, r1, r2, r3 int32) {
	p := (c1*bigFour + c3*smallFour) >> cut
	q := (c1*smallFour - c3*bigFour) >> cut
	return c0 + c2 + p, c0 - c2 + q, c0 - c2 - q, c0 + c2 - p
}

// two transforms the 2x2 lowest coefficients into 2x2 samples.
func two(b *block, _ uint8, dst []byte, stride int) {
	s, d := b[0]+4, b[1]
	t, u := b[8]+b[9], b[8]-b[9]
	line := dst[stride : stride+2 : stride+2]
	dst[0], dst[1] = clampSample((s+d+t)>>3), clampSample((s-d+u)>>3)
	line[0], line[1] = clampSample((s+d-t)>>3), clampSample((s-d-u)>>3)
}

// one makes a single sample of the block's mean.
func one(b *block, _ uint8, dst []byte, _ int) {
	dst[0] = clampSample((b[0] + 4) >> 3)
}

func flat(v byte, size int, dst []byte, stride int) {
	for y := range size {
		line := dst[y*stride : y*stride+size]
		for x := range line {
			line[x] = v
		}
	}
}

// clampSample undoes the level shift of 128.
func clampSample(v int32) byte {
	v += 128
	if uint32(v) <= 255 {
		return byte(v)
	}
	return byte(^(v >> 31))
}
