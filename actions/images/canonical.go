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
	out := []string{generation}
	add := func(key string, value any, given bool) {
		if given {
			out = append(out, key+fmt.Sprint(value))
		}
	}
	add("w", n.Width, n.Width != 0)
	add("h", n.Height, n.Height != 0)
	add("f", n.Fit, n.Fit != "")
	add("g", n.Gravity, n.Gravity != "")
	if n.Focal != nil {
		add("p", number(n.Focal.X)+"-"+number(n.Focal.Y), true)
	}
	if c := n.Crop; c != nil {
		add("c", fmt.Sprintf("%d-%d-%d-%d", c.X, c.Y, c.Width, c.Height), true)
	}
	add("e", 1, n.Enlarge)
	add("o", n.Format, n.Format != Same)
	add("q", n.Quality, n.Quality != 0)
	add("b", number(n.Blur), n.Blur != 0)
	add("s", number(n.Sharpen), n.Sharpen != 0)
	add("r", n.Rotate, n.Rotate != 0)
	add("x", n.Flip, n.Flip != NoFlip)
	add("m", 1, n.Grayscale)
	k := n.Background
	add("k", fmt.Sprintf("%02x%02x%02x%02x", k.R, k.G, k.B, k.A), k != color.NRGBA{})
	add("n", n.Padding, n.Padding != 0)
	return strings.Join(out, "_")
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
