package actions_test

import (
	"strings"
	"testing"

	"hasura-storage/actions"
)

// TestAGalleryOfFilesThatAreNoPictures tells what is wrong with the files from
// what is wrong with the arguments: only the latter is an error.
func TestAGalleryOfFilesThatAreNoPictures(t *testing.T) {
	s := start(t)
	owner := user()
	s.graphql(nil, `mutation($presets: jsonb) { updateBucket(pk_columns: {id: "default"}, _set: {imagePresets: $presets}) { id } }`,
		map[string]any{"presets": map[string]any{"thumb": map[string]any{"width": 20}, "huge": map[string]any{"width": 1 << 20}}})
	text := s.upload(owner, "a.txt", "text/plain", []byte("text")).ID
	picture := s.upload(owner, "a.jpg", "image/jpeg", photo(t, "gray.jpg")).ID
	nowhere := s.upload(owner, "b.jpg", "image/jpeg", photo(t, "gray.jpg")).ID
	s.graphql(nil, `mutation($id: uuid!, $m: jsonb) { updateFile(pk_columns: {id: $id}, _set: {metadata: $m}) { id } }`,
		map[string]any{"id": nowhere, "m": map[string]any{"focalPoint": map[string]any{"x": 7, "y": 7}}})
	thumb, huge, unknown, side, big := "thumb", "huge", "unknown", 50, 1<<20
	for name, tc := range map[string]struct {
		image    actions.Image
		pictures int // links to pictures, of three
		err      string
	}{
		"a preset":                               {actions.Image{Preset: &thumb}, 2, ""},
		"a preset with widths":                   {actions.Image{Preset: &thumb, Widths: []int{10, 20}}, 2, ""},
		"a preset with no widths":                {actions.Image{Preset: &thumb, Widths: []int{}}, 2, ""},
		"a preset that the bucket does not have": {actions.Image{Preset: &unknown}, 0, ""},
		"a preset beyond the limits":             {actions.Image{Preset: &huge}, 0, ""},
		"a focal point outside of one":           {actions.Image{Width: &side, Height: &side, Gravity: "FOCAL"}, 1, ""},
		"a size beside a preset":                 {actions.Image{Preset: &thumb, Width: &side}, 0, "image.preset stands alone"},
		"a crop beside a preset":                 {actions.Image{Preset: &thumb, Crop: &actions.Crop{}}, 0, "image.preset stands alone"},
		"a width beyond the limits":              {actions.Image{Preset: &thumb, Widths: []int{big}}, 0, "width 1048576 exceeds"},
		"too many widths":                        {actions.Image{Preset: &thumb, Widths: make([]int, 21)}, 0, "image.widths holds 21 widths, at most 20"},
		"no width":                               {actions.Image{Widths: []int{0}}, 0, "image.widths: each must be at least 1"},
		"a size beyond the limits":               {actions.Image{Width: &big}, 0, "width 1048576 exceeds"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ids := range [][]string{{text, picture, nowhere}, {text}} {
				links, err := s.service.Downloads(t.Context(), owner, actions.GetDownloads{IDs: ids, Image: &tc.image})
				if tc.err != "" {
					if e := actions.Public(err); e == nil || e.Code != actions.BadRequest || !strings.Contains(e.Message, tc.err) {
						t.Errorf("got %v, want %q", err, tc.err)
					}
					continue
				}
				pictures := 0
				for _, link := range links {
					if strings.Contains(link.URL, "/signed/") {
						pictures++
					} else if len(link.Srcset) > 0 {
						t.Errorf("a plain link has a srcset: %v", link)
					}
				}
				if want := tc.pictures; err != nil || len(links) != len(ids) || len(ids) == 3 && pictures != want || len(ids) == 1 && pictures != 0 {
					t.Errorf("%d of %d are pictures, want %d; %v", pictures, len(links), want, err)
				}
			}
		})
	}
}
