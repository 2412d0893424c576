package images

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"

	"hasura-storage/actions/images/internal/palette"
)

// animate transforms every frame of a GIF and keeps their times and the number of rounds.
func (j *job) animate() (Result, error) {
	if err := j.plan.check(j.limits, GIF, j.info.Frames, j.spec.Rotate); err != nil {
		return Result{}, err
	}
	g, err := gif.DecodeAll(bytes.NewReader(j.src))
	if err != nil {
		return Result{}, j.explain(err)
	}
	out := gif.GIF{Delay: g.Delay, LoopCount: g.LoopCount}
	c := newCanvas(g)
	first := j.plan
	for i := range g.Image {
		c.draw(i)
		j.plan = first
		p, err := j.finish(fromImage(c.shown))
		if err != nil {
			return Result{}, err
		}
		out.Image = append(out.Image, p.paletted())
		out.Disposal = append(out.Disposal, gif.DisposalBackground)
	}
	size := out.Image[0].Rect
	out.Config = image.Config{Width: size.Dx(), Height: size.Dy()}
	var file bytes.Buffer
	if err := gif.EncodeAll(&file, &out); err != nil {
		return Result{}, err
	}
	return Result{Bytes: file.Bytes(), Format: GIF, ContentType: GIF.ContentType(), Width: size.Dx(), Height: size.Dy(), Frames: len(g.Image)}, nil
}

func (p *picture) encodeGIF() ([]byte, error) {
	m := p.paletted()
	var file bytes.Buffer
	err := gif.EncodeAll(&file, &gif.GIF{Image: []*image.Paletted{m}, Delay: []int{0}, LoopCount: -1})
	return file.Bytes(), err
}

// paletted chooses up to 255 colours for the picture, and one for what is rather transparent than not.
func (p *picture) paletted() *image.Paletted {
	m := p.nrgba()
	transparent := false
	for i := 3; i < len(m.Pix); i += 4 {
		if m.Pix[i] < 128 {
			transparent = true
			break
		}
	}
	colours := palette.Of(m, 256-boolInt(transparent))
	if transparent {
		colours = append(colours, color.NRGBA{})
	}
	return palette.Apply(m, colours)
}
