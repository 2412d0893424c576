package scaled

import "slices"

// scanParams are what a SOS segment says: the band of coefficients and the bits of them that the scan carries.
type scanParams struct {
	comps      []*component
	start, end int
	high, low  uint
}

// scan decodes one scan.
func (d *decoder) scan(p []byte) error {
	s, err := d.scanHeader(p)
	if err != nil {
		return err
	}
	if err := d.checkColours(); err != nil {
		return err
	}
	if err := d.prepare(&s); err != nil {
		return err
	}
	if visit := d.visitor(&s); visit != nil {
		return d.units(&s, visit)
	}
	return nil
}

func (d *decoder) scanHeader(p []byte) (s scanParams, err error) {
	if d.comps == nil || len(p) < 1 || len(p) != 4+2*int(p[0]) || p[0] == 0 || int(p[0]) > len(d.comps) {
		return s, ErrDamaged
	}
	n := int(p[0])
	for i := range n {
		c := d.byID(p[1+2*i])
		td, ta := p[2+2*i]>>4, p[2+2*i]&15
		if c == nil || td > 3 || ta > 3 || slices.Contains(s.comps, c) {
			return s, ErrDamaged
		}
		c.stream.dc, c.stream.ac = d.dc[td], d.ac[ta]
		s.comps = append(s.comps, c)
	}
	s.start, s.end = int(p[1+2*n]), int(p[2+2*n])
	s.high, s.low = uint(p[3+2*n]>>4), uint(p[3+2*n]&15)
	return s, s.check(d.progressive)
}

func (s *scanParams) check(progressive bool) error {
	if !progressive {
		s.start, s.end, s.high, s.low = 0, 63, 0, 0
		return nil
	}
	if s.start > s.end || s.end > 63 || s.start == 0 && s.end != 0 || s.start != 0 && len(s.comps) != 1 {
		return ErrDamaged
	}
	if s.low > 13 || s.high != 0 && s.high != s.low+1 {
		return ErrDamaged
	}
	return nil
}

func (d *decoder) byID(id byte) *component {
	for i := range d.comps {
		if d.comps[i].id == id {
			return &d.comps[i]
		}
	}
	return nil
}

// prepare gives the components their tables.
func (d *decoder) prepare(s *scanParams) error {
	for _, c := range s.comps {
		c.seen = c.seen || s.start == 0
		if c.stream.dc == nil && s.start == 0 && s.high == 0 || c.stream.ac == nil && s.end > 0 {
			return ErrDamaged
		}
		if c.quant = d.quant[c.table]; c.quant == nil {
			return ErrDamaged
		}
		c.stream.quant = c.quant
		if !d.progressive && c.stream.need < 64 {
			c.stream.skip = c.stream.ac.skips()
		}
	}
	return nil
}

// visitor returns what is to be done with each block of a scan; nil if nothing.
func (d *decoder) visitor(s *scanParams) func(c *component, bx, by int) bool {
	switch {
	case !d.progressive:
		return d.sequential
	case s.start == 0 && s.high == 0:
		return func(c *component, bx, by int) bool { return d.firstDC(c, bx, by, s.low) }
	case s.start == 0:
		return func(c *component, bx, by int) bool { return d.refineDC(c, bx, by, s.low) }
	case s.comps[0].stream.need == 1:
		return nil
	case s.high == 0:
		return func(c *component, bx, by int) bool { return d.firstAC(c, bx, by, s) }
	}
	return func(c *component, bx, by int) bool { return d.refineAC(c, bx, by, s) }
}

// sequential reads a block and writes its samples.
func (d *decoder) sequential(c *component, bx, by int) bool {
	c.wipe(&d.block)
	rows, ok := d.bits.block(&c.stream, &d.block)
	if ok {
		c.put(&d.block, rows, bx, by)
	}
	return ok
}

// units goes through a scan, one restart interval after the other.
func (d *decoder) units(s *scanParams, visit func(c *component, bx, by int) bool) error {
	wide, high := d.mcusX, d.mcusY
	if len(s.comps) == 1 {
		wide, high = s.comps[0].own[0], s.comps[0].own[1]
	}
	total := wide * high
	every := d.restart
	if every == 0 {
		every = total
	}
	for first, n := 0, 0; first < total; first, n = first+every, n+1 {
		if n > 0 {
			if err := d.seg.restart(n - 1); err != nil {
				return err
			}
		}
		d.begin(s)
		if err := d.interval(s, first, min(first+every, total), wide, visit); err != nil {
			return err
		}
	}
	return nil
}

// begin takes the stuffing out of the next interval and resets all that an interval resets.
func (d *decoder) begin(s *scanParams) {
	if d.buf == nil {
		d.buf = make([]byte, 0, len(d.seg.src)-d.seg.pos+padding)
	}
	d.buf = d.seg.interval(d.buf[:0])
	d.bits.reset(d.buf)
	d.buf = d.bits.buf[:len(d.buf)]
	d.eobRun = 0
	for _, c := range s.comps {
		c.stream.pred = 0
	}
}

// interval visits the units from first to end of a picture that is wide units wide: MCUs, or single blocks where the scan has
// one component.
func (d *decoder) interval(s *scanParams, first, end, wide int, visit func(c *component, bx, by int) bool) error {
	x, y := first%wide, first/wide
	for range end - first {
		if x == 0 && d.ctx.Err() != nil {
			return d.ctx.Err()
		}
		if !d.unit(s, x, y, visit) || d.bits.over() {
			return damaged()
		}
		if x++; x == wide {
			x, y = 0, y+1
		}
	}
	return nil
}

func (d *decoder) unit(s *scanParams, x, y int, visit func(c *component, bx, by int) bool) bool {
	if len(s.comps) == 1 {
		return visit(s.comps[0], x, y)
	}
	for _, c := range s.comps {
		for j := range c.v {
			for i := range c.h {
				if !visit(c, x*c.h+i, y*c.v+j) {
					return false
				}
			}
		}
	}
	return true
}
