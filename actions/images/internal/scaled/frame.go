package scaled

import "hasura-storage/actions/images/internal/planes"

// needed is how many coefficients, in zig-zag order, a result of so many samples a block can use.
var needed = map[int]uint{8: 64, 4: 25, 2: 5, 1: 1}

var transforms = map[int]func(b *block, rows uint8, dst []byte, stride int){8: full, 4: four, 2: two, 1: one}

// frame reads a SOF segment and lays out the components.
func (d *decoder) frame(marker byte, p []byte) error {
	if err := d.readFrame(marker, p); err != nil {
		return err
	}
	return d.layOut()
}

func (d *decoder) readFrame(marker byte, p []byte) error {
	if d.comps != nil || len(p) < 6 {
		return ErrDamaged
	}
	d.progressive = marker == SOF2
	d.height, d.width = int(p[1])<<8|int(p[2]), int(p[3])<<8|int(p[4])
	n := int(p[5])
	if p[0] != 8 || d.width == 0 || d.height == 0 || n != 1 && n != 3 || len(p) != 6+3*n {
		return ErrUnsupported
	}
	d.comps = make([]component, n)
	for i := range d.comps {
		q := p[6+3*i:]
		d.comps[i] = component{id: q[0], h: int(q[1] >> 4), v: int(q[1] & 15), table: q[2]}
	}
	return d.checkSampling()
}

// checkSampling accepts the samplings that image/jpeg accepts.
func (d *decoder) checkSampling() error {
	c := d.comps
	if len(c) == 1 {
		c[0].h, c[0].v = 1, 1
	}
	for i := range c {
		if !powerOfTwo(c[i].h) || !powerOfTwo(c[i].v) || c[i].v == 4 || c[i].table > 3 {
			return ErrUnsupported
		}
		if c[0].h%c[i].h != 0 || c[0].v%c[i].v != 0 {
			return ErrUnsupported
		}
	}
	if len(c) == 3 && (c[1].h != c[2].h || c[1].v != c[2].v || c[0].id == c[1].id || c[0].id == c[2].id || c[1].id == c[2].id) {
		return ErrUnsupported
	}
	d.hmax, d.vmax = c[0].h, c[0].v
	return nil
}

func powerOfTwo(n int) bool { return n == 1 || n == 2 || n == 4 }

// layOut fixes the size of everything and allocates the result, or the coefficients of a progressive file.
func (d *decoder) layOut() error {
	d.mcusX = ceilDiv(d.width, 8*d.hmax)
	d.mcusY = ceilDiv(d.height, 8*d.vmax)
	for i := range d.comps {
		c := &d.comps[i]
		c.size = 8 / d.opt.Denominator
		if d.opt.FullChroma {
			c.size = min(8, c.size*min(d.hmax/c.h, d.vmax/c.v))
		}
		c.transform = transforms[c.size]
		c.stream.need = needed[c.size]
		c.wide, c.high = d.mcusX*c.h, d.mcusY*c.v
		c.own = [2]int{ceilDiv(d.width*c.h, 8*d.hmax), ceilDiv(d.height*c.v, 8*d.vmax)}
		if d.progressive {
			c.coef = make([]int16, c.wide*c.high*int(c.stream.need))
			c.nonzero = make([]uint64, c.wide*c.high)
		} else {
			c.plane = d.newPlane(c)
		}
	}
	return nil
}

// newPlane allocates whole blocks and shows of them what belongs to the picture.
func (d *decoder) newPlane(c *component) planes.Plane {
	p := planes.New(c.wide*c.size, c.high*c.size)
	p.W = ceilDiv(ceilDiv(d.width*c.h, d.hmax)*c.size, 8)
	p.H = ceilDiv(ceilDiv(d.height*c.v, d.vmax)*c.size, 8)
	return p
}

// put transforms a block to its place.
func (c *component) put(b *block, rows uint8, bx, by int) {
	p := &c.plane
	c.transform(b, rows, p.Pix[by*c.size*p.Stride+bx*c.size:], p.Stride)
}

// wipe zeroes the places of a block that the component's transform reads.
func (c *component) wipe(b *block) {
	switch c.size {
	case 8:
		*b = block{}
	case 4:
		clear(b[:28])
	case 2:
		b[1], b[8], b[9] = 0, 0, 0
	}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
