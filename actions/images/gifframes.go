package images

import (
	"image"
	"image/draw"
	"image/gif"
)

// canvas shows the frames of a GIF one after the other, as a viewer sees them: a frame of the file holds only what changes.
type canvas struct {
	gif   *gif.GIF
	shown *image.RGBA
	saved *image.RGBA // what was there before the last frame, where that is to be restored
}

func newCanvas(g *gif.GIF) *canvas {
	return &canvas{gif: g, shown: image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))}
}

// draw shows frame i; the frames before it must have been drawn.
func (c *canvas) draw(i int) {
	if i > 0 {
		c.dispose(i - 1)
	}
	if c.gif.Disposal[i] == gif.DisposalPrevious {
		if c.saved == nil {
			c.saved = image.NewRGBA(c.shown.Rect)
		}
		copy(c.saved.Pix, c.shown.Pix)
	}
	frame := c.gif.Image[i]
	draw.Draw(c.shown, frame.Rect, frame, frame.Rect.Min, draw.Over)
}

// dispose takes frame i away as the file says.
func (c *canvas) dispose(i int) {
	switch c.gif.Disposal[i] {
	case gif.DisposalBackground:
		draw.Draw(c.shown, c.gif.Image[i].Rect, image.Transparent, image.Point{}, draw.Src)
	case gif.DisposalPrevious:
		copy(c.shown.Pix, c.saved.Pix)
	}
}
