package images

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// generation begins every canonical form. It is raised when the same Spec starts to give other pixels, so that what was stored under the
// old form is not mistaken for the new. Its first letter is no hexadecimal digit: a canonical form is never a UUID.
const generation = "i1"

// Canonical returns the one spelling of all Specs that give the same result, made of a-z, 0-9, "_", "." and "-": good for object keys and
// URLs. ParseCanonical reads it back.
func (s Spec) Canonical() string {
	n := s.normal()
	out := append(make([]byte, 0, 64), generation...)
	word := func(key byte, value string) {
		if value != "" {
			out = append(append(out, '_', key), value...)
		}
	}
	whole := func(key byte, value int) {
		if value != 0 {
			word(key, strconv.Itoa(value))
		}
	}
	fraction := func(key byte, value float64) {
		if value != 0 {
			word(key, number(value))
		}
	}
	truth := func(key byte, value bool) {
		if value {
			word(key, "1")
		}
	}
	whole('w', n.Width)
	whole('h', n.Height)
	word('f', string(n.Fit))
	word('g', string(n.Gravity))
	if n.Focal != nil {
		word('p', number(n.Focal.X)+"-"+number(n.Focal.Y))
	}
	if c := n.Crop; c != nil {
		word('c', fmt.Sprintf("%d-%d-%d-%d", c.X, c.Y, c.Width, c.Height))
	}
	truth('e', n.Enlarge)
	word('o', string(n.Format))
	whole('q', n.Quality)
	fraction('b', n.Blur)
	fraction('s', n.Sharpen)
	whole('r', n.Rotate)
	word('x', string(n.Flip))
	truth('m', n.Grayscale)
	if k := n.Background; k != (color.NRGBA{}) {
		word('k', fmt.Sprintf("%02x%02x%02x%02x", k.R, k.G, k.B, k.A))
	}
	whole('n', n.Padding)
	return string(out)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// ParseCanonical reads what Canonical wrote. Any other spelling, an older generation's included, is an ErrInvalidSpec: what stands
// in a key or a signed link was written by us.
func ParseCanonical(text string) (Spec, error) {
	var s Spec
	parts := strings.Split(text, "_")
	ok := parts[0] == generation && len(text) < 300
	for _, part := range parts[1:] {
		ok = ok && part != "" && set(&s, part[0], part[1:])
	}
	if !ok || s.Canonical() != text {
		return Spec{}, fmt.Errorf("%w: not a canonical form of this version", ErrInvalidSpec)
	}
	return s, nil
}

// set reads one member; nonsense may pass, since the result is compared with the text afterwards.
func set(s *Spec, key byte, value string) bool {
	numbers := parseNumbers(value)
	first := 0.0
	if len(numbers) > 0 {
		first = numbers[0]
	}
	switch key {
	case 'w':
		s.Width = int(first)
	case 'h':
		s.Height = int(first)
	case 'f':
		s.Fit = Fit(value)
	case 'g':
		s.Gravity = Gravity(value)
	case 'p':
		if len(numbers) != 2 {
			return false
		}
		s.Focal = &Point{X: numbers[0], Y: numbers[1]}
	case 'c':
		if len(numbers) != 4 {
			return false
		}
		s.Crop = &Rect{int(numbers[0]), int(numbers[1]), int(numbers[2]), int(numbers[3])}
	case 'e':
		s.Enlarge = true
	case 'o':
		s.Format = Format(value)
	case 'q':
		s.Quality = int(first)
	default:
		return setLook(s, key, value, first)
	}
	return true
}

func setLook(s *Spec, key byte, value string, first float64) bool {
	switch key {
	case 'b':
		s.Blur = first
	case 's':
		s.Sharpen = first
	case 'r':
		s.Rotate = int(first)
	case 'x':
		s.Flip = Flip(value)
	case 'm':
		s.Grayscale = true
	case 'k':
		c, err := ParseColor(value)
		s.Background = c
		return err == nil
	case 'n':
		s.Padding = int(first)
	default:
		return false
	}
	return true
}

// parseNumbers reads numbers between dashes; nil if one is none.
func parseNumbers(text string) []float64 {
	var out []float64
	for part := range strings.SplitSeq(text, "-") {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || v < 0 || v > 1e9 {
			return nil
		}
		out = append(out, v)
	}
	return out
}
