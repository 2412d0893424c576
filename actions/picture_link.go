package actions

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
)

const (
	formatAuto = "AUTO"
	formatSame = "SAME"
	maxWidths  = 20 // entries of one srcset
)

// pictureLink signs a link to what image makes of a file, and one more for each
// of the widths of a srcset.
func (s *Storage) pictureLink(f *graphql.File, image Image, life time.Duration) (Download, error) {
	if f.MimeType == nil || !images.Format(strings.TrimPrefix(essenceOf(*f.MimeType), "image/")).Readable() {
		return Download{}, Errorf(NotAnImage, "pictures cannot be made of %s", essenceOf(deref(f.MimeType)))
	}
	image, err := image.withPreset(&f.Bucket)
	if err != nil {
		return Download{}, err
	}
	spec, err := image.spec(f)
	if err != nil {
		return Download{}, err
	}
	if err := image.validWidths(); err != nil {
		return Download{}, err
	}
	expires := rounded(s.now(), life)
	to := link{id: f.Id, version: s.versionOf(f), expires: expires, auto: image.Format == formatAuto}
	answer := Download{ID: f.Id, ExpiresAt: expires.UTC(), Srcset: []Source{}}
	if answer.URL, err = s.signPicture(to, spec); err != nil {
		return Download{}, err
	}
	for _, width := range image.Widths {
		url, err := s.signPicture(to, narrowed(spec, width))
		if err != nil {
			return Download{}, err
		}
		answer.Srcset = append(answer.Srcset, Source{Width: width, URL: url})
	}
	return answer, nil
}

func (s *Storage) signPicture(to link, spec images.Spec) (string, error) {
	if err := spec.Validate(s.variants.limits); err != nil {
		return "", imageError(err)
	}
	to.spec = spec.Canonical()
	return s.links.sign(to), nil
}

// narrowed returns the spec for one width of a srcset, in the shape of the whole.
func narrowed(spec images.Spec, width int) images.Spec {
	if spec.Width > 0 && spec.Height > 0 {
		spec.Height = max(1, int(float64(spec.Height)*float64(width)/float64(spec.Width)+0.5))
	}
	spec.Width, spec.DPR = width, 0
	return spec
}

// validImage refuses what no file and no bucket's preset can make right.
func (s *Storage) validImage(i *Image) error {
	if i == nil {
		return nil
	}
	var spec images.Spec
	err := i.presetAlone()
	if err == nil && i.Preset == nil {
		spec, err = i.spec(&graphql.File{})
	}
	if err == nil {
		err = imageError(spec.Validate(s.variants.limits))
	}
	if err == nil {
		err = i.validWidths()
	}
	for n := 0; err == nil && n < len(i.Widths); n++ {
		err = imageError(narrowed(spec, i.Widths[n]).Validate(s.variants.limits))
	}
	return err
}

func (i Image) validWidths() error {
	if len(i.Widths) > maxWidths {
		return Errorf(BadRequest, "image.widths holds %d widths, at most %d are allowed", len(i.Widths), maxWidths)
	}
	if len(i.Widths) > 0 && slices.Min(i.Widths) < 1 {
		return Errorf(BadRequest, "image.widths: each must be at least 1")
	}
	return nil
}

// presetAlone holds a preset to standing for itself: only widths may stand beside it.
func (i Image) presetAlone() error {
	beside := i
	beside.Preset, beside.Widths = nil, nil
	if i.Preset != nil && !beside.isZero() {
		return Errorf(BadRequest, "image.preset stands alone: only widths may be given with it")
	}
	return nil
}

// withPreset returns what a preset of the bucket names, or the image itself
// where it names none.
func (i Image) withPreset(b *graphql.Bucket) (Image, error) {
	if err := i.presetAlone(); err != nil || i.Preset == nil {
		return i, err
	}
	var presets map[string]Image
	if b.ImagePresets != nil {
		if err := json.Unmarshal(*b.ImagePresets, &presets); err != nil {
			return i, Errorf(BadRequest, "image_presets of bucket %q cannot be read", b.Id).Because(err)
		}
	}
	preset, ok := presets[*i.Preset]
	if !ok || preset.Preset != nil {
		return i, Errorf(BadRequest, "bucket %q has no preset %q", b.Id, *i.Preset)
	}
	if i.Widths != nil {
		preset.Widths = i.Widths
	}
	return preset, nil
}

// mayChoose refuses, where only presets are allowed, what could be asked for in
// ever new ways: anything but a preset as its bucket has it. The admin may sign
// links to whatever he likes; a query by REST is signed by nobody, so there no
// role is given.
func (s *Storage) mayChoose(role string, i *Image) error {
	switch {
	case !s.presetsOnly || i == nil || role == "admin":
		return nil
	case i.Preset == nil:
		return Errorf(BadRequest, "pictures are made by presets alone: IMAGE_PRESETS_ONLY is set")
	case i.Widths != nil:
		return Errorf(BadRequest, "image.widths must stand in the preset: IMAGE_PRESETS_ONLY is set")
	}
	return nil
}

func (i Image) isZero() bool { return reflect.ValueOf(i).IsZero() }

// spec translates StorageImageInput; its enums are spelled as images spells
// them, in capitals.
func (i Image) spec(f *graphql.File) (images.Spec, error) {
	spec := images.Spec{
		Width: deref(i.Width), Height: deref(i.Height), Fit: images.Fit(strings.ToLower(i.Fit)),
		Gravity: images.Gravity(strings.ToLower(i.Gravity)), DPR: deref(i.DPR), Enlarge: deref(i.Enlarge),
		Quality: deref(i.Quality), Blur: deref(i.Blur), Sharpen: deref(i.Sharpen), Rotate: deref(i.Rotate),
		Flip: images.Flip(strings.ToLower(i.Flip)), Grayscale: deref(i.Grayscale), Padding: deref(i.Padding),
	}
	for name, given := range map[string]*int{"width": i.Width, "height": i.Height, "quality": i.Quality} {
		if given != nil && *given == 0 {
			return spec, Errorf(BadRequest, "image: %s must be at least 1", name)
		}
	}
	if i.Format != formatAuto && i.Format != formatSame {
		spec.Format = images.Format(strings.ToLower(i.Format))
	}
	if c := i.Crop; c != nil {
		spec.Crop = &images.Rect{X: c.X, Y: c.Y, Width: c.Width, Height: c.Height}
	}
	if spec.Gravity == images.Focal {
		spec.Focal = focalPoint(f)
	}
	if i.Background != nil {
		background, err := images.ParseColor(*i.Background)
		if err != nil {
			return spec, imageError(err)
		}
		spec.Background = background
	}
	return spec, nil
}

// focalPoint reads metadata.focalPoint = {"x": 0.5, "y": 0.5}, fractions of the
// upright picture; without it the centre is the focal point.
func focalPoint(f *graphql.File) *images.Point {
	if f.Metadata == nil {
		return nil
	}
	var metadata struct {
		FocalPoint *images.Point `json:"focalPoint"`
	}
	if json.Unmarshal(*f.Metadata, &metadata) != nil {
		return nil
	}
	return metadata.FocalPoint
}
