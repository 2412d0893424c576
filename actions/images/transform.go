package images

import (
	"context"
	"image"
	"image/color"

	"github.com/disintegration/imaging"

	"hasura-storage/actions/images/internal/planes"
)

// Result is a finished picture.
type Result struct {
	Bytes         []byte
	Format        Format
	ContentType   string
	Width, Height int // pixels
	Frames        int // 1 unless animated
}

// Transform makes of the file src what s says, within l. It runs in the caller's goroutine, returns soon after ctx ends – but not in the
// middle of a WebP, AVIF or PNG – and never panics. Its errors wrap ErrNotImage, ErrTooLarge, ErrDamaged or ErrInvalidSpec, or are ctx's.
// It keeps no reference to src. What it may need in memory, Cost tells beforehand.
func Transform(ctx context.Context, src []byte, s Spec, l Limits) (res Result, err error) {
	defer guard(&err)
	if err := s.Validate(l); err != nil {
		return Result{}, err
	}
	info, err := Probe(src)
	if err != nil {
		return Result{}, err
	}
	if err := l.Admit(len(src), info, s); err != nil {
		return Result{}, err
	}
	j := job{source: source{ctx: ctx, src: src, info: info, limits: l}, spec: s.normal(), format: s.Format.resultFor(info.Format)}
	if j.plan, err = newPlan(info, s); err != nil {
		return Result{}, err
	}
	if info.Animates(s) {
		return j.animate()
	}
	return j.still()
}

// Animates reports whether s makes an animation of such a picture, with all its frames.
func (i *Info) Animates(s Spec) bool { return i.Frames > 1 && s.Format.resultFor(i.Format) == GIF }

// resultFor returns the format in which a picture of the source's format comes out.
func (f Format) resultFor(source Format) Format {
	switch {
	case f != Same:
		return f
	case source == HEIC:
		return JPEG
	}
	return source
}

// job is one transform on its way.
type job struct {
	source
	spec   Spec
	plan   plan
	format Format
}

// oblique reports whether the picture is turned by other than quarter turns.
func (j *job) oblique() bool { return j.spec.Rotate%90 != 0 }

// pixelwise reports whether the result needs all three samples of every pixel: then chroma is kept at full size.
func (j *job) pixelwise() bool {
	return j.format != JPEG && j.format != WebP || j.oblique() || j.plan.framed()
}

func (j *job) still() (Result, error) {
	if err := j.plan.check(j.limits, j.format, 1, j.spec.Rotate); err != nil {
		return Result{}, err
	}
	j.shrink, j.fullChroma = j.plan.shrinks(), j.pixelwise()
	p, err := j.decode()
	if err != nil {
		return Result{}, err
	}
	if p, err = j.finish(p); err != nil {
		return Result{}, err
	}
	w, h := p.size()
	out, err := p.encode(j.format, j.spec.Quality)
	if err != nil {
		return Result{}, err
	}
	return Result{Bytes: out, Format: j.format, ContentType: j.format.ContentType(), Width: w, Height: h, Frames: 1}, nil
}

// finish brings a decoded picture to its size and applies all operations.
func (j *job) finish(p *picture) (*picture, error) {
	if j.spec.Gravity == Smart {
		j.plan.move(p.interest(&j.plan))
	}
	p = j.resize(p)
	if err := j.ctx.Err(); err != nil {
		return nil, err
	}
	p.toFullRange()
	p.each(func(c planes.Plane) planes.Plane { return c.Turned(j.plan.turn) })
	if j.oblique() {
		p = j.rotate(p)
	}
	if !j.format.carriesProfile() {
		p.toSRGB()
	}
	j.filter(p)
	if j.spec.Grayscale {
		p.toGray()
	}
	p = j.flatten(p)
	p.profile = p.usableProfile()
	return p, j.ctx.Err()
}

// resize brings the window to its size, in the frame of the file.
func (j *job) resize(p *picture) *picture {
	w, h := j.plan.turn.Inverse().Size(j.plan.width, j.plan.height)
	out := &picture{colours: p.colours, width: w, height: h, profile: p.profile}
	whole := planes.Box{W: float64(p.width), H: float64(p.height)}
	box := j.plan.window
	for i, c := range p.planes {
		b := planes.Box{X: box.X * p.scaleX[i], Y: box.Y * p.scaleY[i], W: box.W * p.scaleX[i], H: box.H * p.scaleY[i]}
		cw, ch := w, h
		if i > 0 && p.colours != rgb && !j.pixelwise() {
			cw, ch = (w+1)/2, (h+1)/2
			b = halfBox(b, w, h, j.plan.turn)
		}
		out.planes = append(out.planes, fitPlane(c, cw, ch, b, box == whole))
	}
	if p.alpha != nil {
		a := fitPlane(*p.alpha, w, h, box, box == whole)
		out.alpha = &a
	}
	return out
}

// fitPlane resamples, except where there is nothing to do.
func fitPlane(c planes.Plane, w, h int, box planes.Box, whole bool) planes.Plane {
	if whole && c.W == w && c.H == h {
		return c
	}
	return c.Resample(w, h, box, planes.Lanczos())
}

// halfBox widens the window of a chroma plane of half size to whole samples: where the picture has an odd number of pixels the last sample covers a
// pixel that is not there. A turn may make the last sample the first.
func halfBox(b planes.Box, w, h int, t planes.Turn) planes.Box {
	stepX, stepY := b.W/float64(w), b.H/float64(h)
	x0, y0 := t.Point(0, 0, 1, 1)
	x1, y1 := t.Point(1, 0, 1, 1)
	if w%2 == 1 {
		b.W += stepX
		if x1+y1 < x0+y0 {
			b.X -= stepX
		}
	}
	x1, y1 = t.Point(0, 1, 1, 1)
	if h%2 == 1 {
		b.H += stepY
		if x1+y1 < x0+y0 {
			b.Y -= stepY
		}
	}
	return b
}

// filter blurs and sharpens. Sharpening leaves chroma alone: its edges would get coloured rims.
func (j *job) filter(p *picture) {
	w, h := p.size()
	if j.spec.Blur > 0 {
		p.each(func(c planes.Plane) planes.Plane {
			return c.BlurredXY(j.spec.Blur*float64(c.W)/float64(w), j.spec.Blur*float64(c.H)/float64(h))
		})
	}
	if j.spec.Sharpen <= 0 {
		return
	}
	for i := range p.planes {
		if i == 0 || p.colours == rgb {
			p.planes[i] = p.planes[i].Sharpened(j.spec.Sharpen, 1)
		}
	}
}

// rotate turns by any angle, on the small picture.
func (j *job) rotate(p *picture) *picture {
	back := j.spec.Background
	m := imaging.Rotate(p.nrgba(), float64(360-j.spec.Rotate), back)
	out := fromImage(m)
	out.profile = p.profile
	j.plan.canvas[0] += m.Rect.Dx() - j.plan.width
	j.plan.canvas[1] += m.Rect.Dy() - j.plan.height
	j.plan.width, j.plan.height = m.Rect.Dx(), m.Rect.Dy()
	return out
}

// carriesProfile reports whether a file of the format can say what its colours mean. AVIF can, but our encoder cannot make it.
func (f Format) carriesProfile() bool { return f == JPEG || f == PNG || f == WebP }

// opaque reports whether a format has no transparency.
func (f Format) opaque() bool { return f == JPEG }

// flatten puts the picture on its canvas, and the background behind what is transparent.
func (j *job) flatten(p *picture) *picture {
	back := j.spec.Background
	if j.format.opaque() && back.A == 0 {
		back = color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	}
	if j.format.opaque() {
		back = over(back, color.NRGBA{R: 255, G: 255, B: 255, A: 255})
	}
	if j.plan.framed() {
		p = j.place(p, back)
	}
	if p.alpha != nil && back.A > 0 {
		p.behind(back)
	}
	return p
}

// place lays the picture on a larger one, which is transparent unless the background is opaque.
func (j *job) place(p *picture, back color.NRGBA) *picture {
	w, h := j.plan.canvas[0], j.plan.canvas[1]
	if p.alpha == nil && back.A == 255 {
		fill := p.samples(back)
		for i := range p.planes {
			big := planes.New(w, h)
			big.Fill(fill[i])
			big.Paste(p.planes[i], j.plan.offset[0], j.plan.offset[1])
			p.planes[i] = big
		}
		return p
	}
	p.width, p.height = p.size()
	profile := p.profile
	p = p.onCanvas(w, h, image.Pt(j.plan.offset[0], j.plan.offset[1]))
	p.profile = profile
	return p
}

// samples returns a colour as p's planes would hold it.
func (p *picture) samples(c color.NRGBA) [3]uint8 {
	y, cb, cr := rgbToYCC(c.R, c.G, c.B)
	switch p.colours {
	case rgb:
		return [3]uint8{c.R, c.G, c.B}
	case gray:
		if c.R != c.G || c.G != c.B {
			p.toRGB()
			return [3]uint8{c.R, c.G, c.B}
		}
	default:
	}
	return [3]uint8{y, cb, cr}
}

// over returns the colour of c in front of an opaque one.
func over(c, behind color.NRGBA) color.NRGBA {
	mix := func(a, b uint8) uint8 { return times255(a, c.A) + times255(b, 255-c.A) }
	return color.NRGBA{R: mix(c.R, behind.R), G: mix(c.G, behind.G), B: mix(c.B, behind.B), A: 255}
}

// behind shows a colour through the transparent pixels of a picture with alpha. An opaque colour ends the alpha.
func (p *picture) behind(c color.NRGBA) {
	p.toRGB()
	back := [3]uint8{times255(c.R, c.A), times255(c.G, c.A), times255(c.B, c.A)}
	for y := range p.alpha.H {
		alpha := p.alpha.Row(y)
		for i := range p.planes {
			row := p.planes[i].Row(y)
			for x, a := range alpha {
				row[x] = clampByte(int32(row[x]) + int32(times255(back[i], 255-a)))
			}
		}
		for x, a := range alpha {
			alpha[x] = a + times255(c.A, 255-a)
		}
	}
	if c.A == 255 {
		p.alpha = nil
	}
}
