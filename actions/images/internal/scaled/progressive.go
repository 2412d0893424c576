package scaled

import mathbits "math/bits"

// A progressive file sends each block in several scans. Of a block only the coefficients that the result can use are kept, and one
// bit for each of the 64 that tells whether it is zero: refining scans cannot be read without it.

// at returns the kept coefficients of a block and its bits.
func (c *component) at(bx, by int) ([]int16, *uint64) {
	i := by*c.wide + bx
	n := int(c.stream.need)
	return c.coef[i*n : i*n+n : i*n+n], &c.nonzero[i]
}

func (d *decoder) firstDC(c *component, bx, by int, low uint) bool {
	diff, ok := d.bits.difference(c.stream.dc)
	c.stream.pred += diff
	coef, _ := c.at(bx, by)
	coef[0] = int16(c.stream.pred << low)
	return ok
}

func (d *decoder) refineDC(c *component, bx, by int, low uint) bool {
	coef, _ := c.at(bx, by)
	coef[0] |= int16(d.bits.take(1) << low)
	return true
}

// firstAC reads the upper bits of a band (T.81 G.1.2.2).
func (d *decoder) firstAC(c *component, bx, by int, s *scanParams) bool {
	if d.eobRun > 0 {
		d.eobRun--
		return true
	}
	coef, nonzero := c.at(bx, by)
	b := &d.bits
	for k := s.start; k <= s.end; k++ {
		e := b.symbol(c.stream.ac)
		if e == 0 {
			return false
		}
		run, size := int(e>>runShift&15), int(e>>extraShift&15)
		value := int32(e) >> valueShift
		if e&knownFlag == 0 {
			if size == 0 {
				if run < 15 {
					d.eobRun = 1<<run + int(b.take(run)) - 1
					return true
				}
				k += 15
				continue
			}
			value = extend(b.take(size), size)
		}
		if k += run; k > s.end {
			return false
		}
		*nonzero |= 1 << k
		if k < len(coef) {
			coef[k] = int16(value << s.low)
		}
	}
	return true
}

// refineAC reads one more bit of a band (T.81 G.1.2.3): for each coefficient that was not zero a correction, and those that become
// one now.
func (d *decoder) refineAC(c *component, bx, by int, s *scanParams) bool {
	coef, nonzero := c.at(bx, by)
	b := &d.bits
	k := s.start
	for d.eobRun == 0 && k <= s.end {
		e := b.symbol(c.stream.ac)
		run := int(e >> runShift & 15)
		value := int32(e) >> valueShift
		if e&knownFlag == 0 {
			switch size := e >> extraShift & 15; {
			case e == 0 || size > 1:
				return false
			case size == 1:
				value = extend(b.take(1), 1)
			case run < 15:
				d.eobRun = 1<<run + int(b.take(run))
				value = 0
			}
		}
		if d.eobRun > 0 {
			break
		}
		if value > 1 || value < -1 {
			return false
		}
		place := zeroAfter(*nonzero, k, run)
		if place > s.end {
			return false
		}
		d.correct(coef, *nonzero, k, place, s.low)
		if value != 0 {
			*nonzero |= 1 << place
			if place < len(coef) {
				coef[place] = int16(value << s.low)
			}
		}
		k = place + 1
	}
	if d.eobRun > 0 {
		d.eobRun--
		d.correct(coef, *nonzero, k, s.end+1, s.low)
	}
	return true
}

// zeroAfter returns the place of the zero coefficient, from k on, that has run zero coefficients before it; 64 or more if there
// is none.
func zeroAfter(nonzero uint64, k, run int) int {
	zeroes := ^nonzero >> k << k
	for range run {
		zeroes &= zeroes - 1
	}
	return mathbits.TrailingZeros64(zeroes)
}

// correct reads the correction bits of the coefficients from k to before end that are not zero.
func (d *decoder) correct(coef []int16, nonzero uint64, k, end int, low uint) {
	todo := nonzero >> k << k
	if end < 64 {
		todo &= 1<<end - 1
	}
	for ; todo != 0; todo &= todo - 1 {
		i := mathbits.TrailingZeros64(todo)
		if i >= len(coef) {
			d.bits.skip(mathbits.OnesCount64(todo))
			return
		}
		if d.bits.take(1) == 0 {
			continue
		}
		if coef[i] >= 0 {
			coef[i] += 1 << low
		} else {
			coef[i] -= 1 << low
		}
	}
}

// skip takes n bits, at most 64.
func (b *bits) skip(n int) {
	for ; n > 16; n -= 16 {
		b.take(16)
	}
	b.take(n)
}

// reconstruct makes the samples of a component once all scans are read, and lets its coefficients go.
func (d *decoder) reconstruct(c *component) error {
	c.plane = d.newPlane(c)
	b := &d.block
	useful := uint64(1)<<(c.stream.need-1)<<1 - 1
	for by := range c.high {
		if d.ctx.Err() != nil {
			return d.ctx.Err()
		}
		for bx := range c.wide {
			coef, nonzero := c.at(bx, by)
			c.wipe(b)
			rows := c.dequantise(b, coef, *nonzero&useful)
			c.put(b, rows, bx, by)
		}
	}
	c.coef, c.nonzero = nil, nil
	return nil
}

func (c *component) dequantise(b *block, coef []int16, nonzero uint64) (rows uint8) {
	b[0] = int32(coef[0]) * c.quant[0]
	for todo := nonzero &^ 1; todo != 0; todo &= todo - 1 {
		k := mathbits.TrailingZeros64(todo)
		z := zigzag[k]
		b[z] = int32(coef[k]) * c.quant[k]
		rows |= 1 << (z >> 3)
	}
	return rows
}
