package handlers

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hasura-storage/actions"
)

// parameter reads one value of a query into an image. name is for its error.
type parameter func(i *actions.Image, name, value string) error

// imageParameters are the names in a query that ask for a picture: the first
// five are hasura-storage's, the others those of StorageImageInput.
var imageParameters = []struct {
	name string
	read parameter
}{
	{"w", wholeNumber(1, math.MaxInt32, func(i *actions.Image, n *int) { i.Width = n })},
	{"h", wholeNumber(1, math.MaxInt32, func(i *actions.Image, n *int) { i.Height = n })},
	{"q", wholeNumber(1, 100, func(i *actions.Image, n *int) { i.Quality = n })},
	{"b", number(func(i *actions.Image, n *float64) { i.Blur = n })},
	{"f", format},
	{"preset", word(func(i *actions.Image, v string) { i.Preset = &v })},
	{"fit", word(func(i *actions.Image, v string) { i.Fit = strings.ToUpper(v) })},
	{"gravity", word(func(i *actions.Image, v string) { i.Gravity = strings.ToUpper(v) })},
	{"flip", word(func(i *actions.Image, v string) { i.Flip = strings.ToUpper(v) })},
	{"crop", crop},
	{"dpr", number(func(i *actions.Image, n *float64) { i.DPR = n })},
	{"sharpen", number(func(i *actions.Image, n *float64) { i.Sharpen = n })},
	{"rotate", wholeNumber(-360, 360, func(i *actions.Image, n *int) { i.Rotate = n })},
	{"padding", wholeNumber(0, math.MaxInt32, func(i *actions.Image, n *int) { i.Padding = n })},
	{"enlarge", truth(func(i *actions.Image, b *bool) { i.Enlarge = b })},
	{"grayscale", truth(func(i *actions.Image, b *bool) { i.Grayscale = b })},
	{"background", word(func(i *actions.Image, v string) { i.Background = &v })},
}

// readImage returns the picture that a query asks for, nil if it asks for none.
// Here w and h enlarge unless enlarge=false says otherwise.
func readImage(query url.Values) (*actions.Image, error) {
	if len(query) == 0 {
		return nil, nil //nolint:nilnil // it asks for the file itself
	}
	var image actions.Image
	asked := false
	for _, p := range imageParameters {
		value := query.Get(p.name)
		if value == "" {
			continue
		}
		asked = true
		if err := p.read(&image, p.name, value); err != nil {
			return nil, err
		}
	}
	if !asked {
		return nil, nil //nolint:nilnil // it asks for the file itself
	}
	if image.Enlarge == nil && (image.Width != nil || image.Height != nil) {
		enlarge := true
		image.Enlarge = &enlarge
	}
	return &image, nil
}

// refusedParameter words a value that is wrong whatever the picture.
func refusedParameter(text string, args ...any) error {
	return actions.Errorf(actions.BadRequest, "image manipulation parameters out of range: "+text, args...)
}

func wholeNumber(least, most int, put func(*actions.Image, *int)) parameter {
	return func(i *actions.Image, name, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return refusedParameter("%s=%s is not a whole number from %d to %d", name, clip(value), least, most)
		}
		put(i, &n)
		return nil
	}
}

func number(put func(*actions.Image, *float64)) parameter {
	return func(i *actions.Image, name, value string) error {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			return refusedParameter("%s=%s is not a number from 0 on", name, clip(value))
		}
		put(i, &n)
		return nil
	}
}

func truth(put func(*actions.Image, *bool)) parameter {
	return func(i *actions.Image, name, value string) error {
		b, err := strconv.ParseBool(value)
		if err != nil {
			return refusedParameter("%s=%s is neither true nor false", name, clip(value))
		}
		put(i, &b)
		return nil
	}
}

func word(put func(*actions.Image, string)) parameter {
	return func(i *actions.Image, _, value string) error {
		put(i, value)
		return nil
	}
}

// crop reads "x,y,width,height".
func crop(i *actions.Image, name, value string) error {
	var n [4]int
	parts := strings.Split(value, ",")
	if len(parts) != len(n) {
		return refusedParameter("%s is not x,y,width,height", name)
	}
	for at, part := range parts {
		var err error
		if n[at], err = strconv.Atoi(strings.TrimSpace(part)); err != nil {
			return refusedParameter("%s is not x,y,width,height", name)
		}
	}
	i.Crop = &actions.Crop{X: n[0], Y: n[1], Width: n[2], Height: n[3]}
	return nil
}

// formats are the values of f. heic is known and not among them: pictures are
// read from it, never written.
var formats = []string{"same", "webp", "png", "jpeg", "avif", "gif", "auto"}

func format(i *actions.Image, _, value string) error {
	if value == "heic" {
		return actions.Errorf(actions.BadRequest, "format heic can be read but not written, choose one of: %s", strings.Join(formats, ", "))
	}
	if !slices.Contains(formats, value) {
		// In hasura-storage's words, whose clients may look for them.
		return actions.Errorf(actions.BadRequest, "format must be one of: same, webp, png, jpeg, avif, heic, auto. Got: %s", clip(value))
	}
	i.Format = strings.ToUpper(value)
	return nil
}
