package images

import (
	"context"

	blurhash "github.com/bbrks/go-blurhash"
)

// Facts is what is worth keeping about a picture.
type Facts struct {
	Width, Height int    // of the upright picture, in pixels
	Blurhash      string // a placeholder of 20 to 30 characters
}

// placeholderSide is the longer side of the picture of which the blurhash is made: it holds no detail that more pixels would show.
const placeholderSide = 32

// ReadFacts reads the size and makes a placeholder. It costs an eighth-size decode for a JPEG and a full one for other formats. Errors are those of
// Transform; where the picture is recognised but exceeds a limit or cannot be decoded, the size is returned together with the error.
func ReadFacts(ctx context.Context, src []byte, l Limits) (facts Facts, err error) {
	defer guard(&err)
	info, err := Probe(src)
	if err != nil {
		return facts, err
	}
	facts.Width, facts.Height = info.Width, info.Height
	s := Spec{Width: placeholderSide, Height: placeholderSide, Fit: Inside, Format: JPEG}
	if err := l.Admit(len(src), info, s); err != nil {
		return facts, err
	}
	j := job{source: source{ctx: ctx, src: src, info: info, limits: l}, spec: s.normal(), format: s.Format}
	if j.plan, err = newPlan(info, s); err != nil {
		return facts, err
	}
	j.shrink = j.plan.shrinks()
	p, err := j.decode()
	if err != nil {
		return facts, err
	}
	if p, err = j.finish(p); err != nil {
		return facts, err
	}
	x, y := 4, 3
	if info.Height > info.Width {
		x, y = 3, 4
	}
	facts.Blurhash, err = blurhash.Encode(x, y, p.rgba())
	return facts, err
}
