package handlers_test

import (
	"bytes"
	"image"
	"net/http"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// presetsAlone is how whatever else is asked for is refused.
const presetsAlone = "pictures are made by presets alone: IMAGE_PRESETS_ONLY is set"

func startPresetsOnly(t *testing.T) (*restStack, actions.StoredFile) {
	t.Helper()
	s := startREST(t, func(o *actions.Options, _ *handlers.Options) { o.PresetsOnly = true })
	s.sql(`UPDATE "storage.buckets" SET image_presets = '{"thumb":{"width":20,"height":20,"format":"PNG"},"gallery":{"width":30,"widths":[10,20]}}' WHERE id = 'default'`)
	return s, s.upload("owner", part{"file[]", "photo.jpg", "", photo(t, 400, 300)})
}

func TestOnlyPresetsByREST(t *testing.T) {
	s, f := startPresetsOnly(t)
	path := "/files/" + f.ID
	link := s.link("owner", f.ID, "").URL
	png := map[string]string{"Content-Type": "image/png"}
	refused := func(as, path string) restScenario {
		return restScenario{as: as, path: path, status: 400, code: "bad-request", message: presetsAlone, stores: nothing}
	}
	runREST(t, s, map[string]restScenario{
		"a preset":                      {as: "owner", path: path + "?preset=thumb", status: 200, answers: png},
		"a preset, by a presigned URL":  {as: "anonymous", path: link + "&preset=thumb", status: 200, answers: png},
		"the file":                      {as: "owner", path: path, status: 200, answers: map[string]string{"Etag": f.ETag}},
		"the file, in its format":       {as: "owner", path: path + "?f=same", status: 200, answers: map[string]string{"Etag": f.ETag}},
		"a width":                       refused("owner", path+"?w=20"),
		"a format":                      refused("owner", path+"?f=auto"),
		"a width, for the admin":        refused("admin", path+"?w=20"),
		"a width, by a presigned URL":   refused("anonymous", link+"&w=20"),
		"a width of what is no picture": refused("owner", "/files/"+s.upload("owner", part{"file[]", "a.txt", "", "text"}).ID+"?w=20"),
		"a width of a file not seen":    {as: "stranger", path: path + "?w=20", status: 404, code: "file-not-found", stores: nothing},
	})
}

// links may be signed to presets, and to whatever the admin likes.
func TestOnlyPresetsAndSignedLinks(t *testing.T) {
	s, f := startPresetsOnly(t)
	owner := actions.Session{"x-hasura-role": "user", "x-hasura-user-id": ownerID}
	admin := actions.Session{"x-hasura-role": "admin"}
	width, thumb, gallery := 50, "thumb", "gallery"
	free := &actions.Image{Width: &width}
	for name, test := range map[string]struct {
		as    actions.Session
		image *actions.Image
		wide  int    // the picture behind the link
		set   int    // links of its srcset
		err   string // instead
	}{
		"a preset":               {owner, &actions.Image{Preset: &thumb}, 20, 0, ""},
		"a preset with widths":   {owner, &actions.Image{Preset: &gallery}, 30, 2, ""},
		"widths beside a preset": {owner, &actions.Image{Preset: &gallery, Widths: []int{11}}, 0, 0, "image.widths must stand in the preset: IMAGE_PRESETS_ONLY is set"},
		"a width":                {owner, free, 0, 0, presetsAlone},
		"nothing in particular":  {owner, &actions.Image{}, 0, 0, presetsAlone},
		"a width, by the admin":  {admin, free, 50, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			one, err := s.service.Download(t.Context(), test.as, actions.GetDownload{ID: f.ID, Image: test.image})
			many, errMany := s.service.Downloads(t.Context(), test.as, actions.GetDownloads{IDs: []string{f.ID}, Image: test.image})
			if test.err != "" {
				for _, err := range []error{err, errMany} {
					if e := actions.Public(err); e.Code != actions.BadRequest || e.Message != test.err {
						t.Errorf("%v", err)
					}
				}
				return
			}
			if err != nil || errMany != nil || len(many) != 1 || many[0].URL != one.URL || len(one.Srcset) != test.set {
				t.Fatalf("%+v %v, %+v %v", one, err, many, errMany)
			}
			a := s.send("anonymous", http.MethodGet, one.URL, nil, nil)
			if c, _, err := image.DecodeConfig(bytes.NewReader(a.body)); err != nil || c.Width != test.wide {
				t.Errorf("%d, %d wide, %v", a.StatusCode, c.Width, err)
			}
		})
	}
}
