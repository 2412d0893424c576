package handlers_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// photo is a JPEG of the given size.
func photo(tb testing.TB, width, height int) string {
	tb.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.RGBA{R: uint8(x), G: uint8(y), B: 100, A: 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestPicturesByREST(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "photo.jpg", "", photo(t, 400, 300)})
	text := s.upload("owner", part{"file[]", "a.txt", "", "no picture"})
	path := "/files/" + f.ID
	sizes := map[string]struct{ query, size, kind string }{
		"the width alone":             {"?w=100", "100x75", "jpeg"},
		"the height alone":            {"?h=150", "200x150", "jpeg"},
		"both, cut":                   {"?w=100&h=100", "100x100", "jpeg"},
		"both, shown whole":           {"?w=100&h=100&fit=inside", "100x75", "jpeg"},
		"larger than it is":           {"?w=800", "800x600", "jpeg"},
		"no larger than it is":        {"?w=800&enlarge=false", "400x300", "jpeg"},
		"another format":              {"?w=10&f=png", "10x8", "png"},
		"a window":                    {"?crop=10,10,50,40", "50x40", "jpeg"},
		"turned":                      {"?rotate=90&w=30", "30x40", "jpeg"},
		"with twice the pixels":       {"?w=50&dpr=2", "100x75", "jpeg"},
		"all that hasura-storage has": {"?w=40&h=30&q=50&b=2&f=jpeg", "40x30", "jpeg"},
	}
	for name, test := range sizes {
		t.Run(name, func(t *testing.T) {
			a := s.send("owner", http.MethodGet, path+test.query, nil, nil)
			c, kind, err := image.DecodeConfig(bytes.NewReader(a.body))
			if got := fmt.Sprintf("%dx%d", c.Width, c.Height); err != nil || got != test.size || kind != test.kind || a.Header.Get("Content-Type") != "image/"+test.kind {
				t.Errorf("%s %s %s %v: %.200s", got, kind, a.Header.Get("Content-Type"), err, a.body)
			}
		})
	}
	outOfRange := "image manipulation parameters out of range: "
	unsupported := "image manipulation features are not supported for '" + text.MimeType + "'"
	runREST(t, s, map[string]restScenario{
		"what was never made":         {as: "owner", path: path + "?w=77", status: 200, asks: append([]string{"GetFiles as admin"}, seen...), stores: []string{"GET object", "GET variant", "PUT variant"}},
		"too wide":                    {as: "owner", path: path + "?w=9000", status: 400, code: "bad-request", message: outOfRange + "width 9000 exceeds the maximum of 8000", stores: nothing},
		"no width":                    {as: "owner", path: path + "?w=0", status: 400, code: "bad-request", message: outOfRange + "w=0 is not a whole number from 1 to 2147483647", asks: nothing},
		"more than all quality":       {as: "owner", path: path + "?q=101", status: 400, code: "bad-request", asks: nothing},
		"blurred beyond recognition":  {as: "owner", path: path + "?b=251", status: 400, code: "bad-request", stores: nothing},
		"nothing that blurs":          {as: "owner", path: path + "?b=NaN", status: 400, code: "bad-request", asks: nothing},
		"a format nobody has":         {as: "owner", path: path + "?f=bmp", status: 400, code: "bad-request", message: "format must be one of: same, webp, png, jpeg, avif, heic, auto. Got: bmp"},
		"a format that is only read":  {as: "owner", path: path + "?f=heic", status: 400, code: "bad-request"},
		"a preset the bucket has not": {as: "owner", path: path + "?preset=x", status: 400, code: "bad-request"},
		"of what is no picture":       {as: "owner", path: "/files/" + text.ID + "?w=10", status: 400, code: "not-an-image", message: unsupported, stores: nothing},
		"the same of what is none":    {as: "owner", path: "/files/" + text.ID + "?f=same", status: 200, body: "no picture"},
		"the same of a picture":       {as: "owner", path: path + "?f=same", status: 200, answers: map[string]string{"Etag": f.ETag}},
		"of a file he cannot see":     {as: "stranger", path: path + "?w=10", status: 404, code: "file-not-found", stores: nothing},
		"a parameter without meaning": {as: "owner", path: path + "?cachebuster=1", status: 200, answers: map[string]string{"Etag": f.ETag}},
	})
}

func TestPicturesHaveFactsOfTheirOwn(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "photo.jpg", "", photo(t, 400, 300)})
	path := "/files/" + f.ID + "?w=64"
	first := s.send("owner", http.MethodGet, path, nil, nil)
	etag := first.Header.Get("Etag")
	if first.StatusCode != http.StatusOK || etag == f.ETag || etag == "" {
		t.Fatalf("%d, ETag %s of %s", first.StatusCode, etag, f.ETag)
	}
	other := s.send("owner", http.MethodGet, "/files/"+f.ID+"?w=65", nil, nil)
	if other.Header.Get("Etag") == etag {
		t.Error("two pictures have one ETag")
	}
	length := strconv.Itoa(len(first.body))
	modified := first.Header.Get("Last-Modified")
	fresh := "/files/" + f.ID + "?w=63"
	runREST(t, s, map[string]restScenario{
		"the client has it":        {as: "owner", path: path, header: http.Header{"If-None-Match": {etag}}, status: 304, asks: seen, stores: nothing},
		"it was never made":        {as: "owner", path: fresh, header: http.Header{"If-None-Match": {"*"}}, status: 304, asks: seen, stores: nothing},
		"it was never made, 412":   {as: "owner", path: fresh, header: http.Header{"If-Match": {etag}}, status: 412, code: "conflict", asks: seen, stores: nothing},
		"it has not changed since": {as: "owner", path: path, header: http.Header{"If-Modified-Since": {modified}}, status: 304, stores: nothing},
		"a range of it":            {as: "owner", path: path, header: http.Header{"Range": {"bytes=0-1"}}, status: 206, body: "\xff\xd8", answers: map[string]string{"Content-Range": "bytes 0-1/" + length}},
		"its headers": {as: "owner", method: "HEAD", path: path, status: 200, answers: map[string]string{"Content-Length": length, "Content-Type": "image/jpeg", "Etag": etag, "Cache-Control": "private, max-age=3600", "Surrogate-Key": f.ID,
			"Vary": "Authorization, X-Hasura-Admin-Secret, X-Hasura-Role", "Content-Disposition": `inline; filename="photo.jpg"`}},
		"its headers, in a format":     {as: "owner", method: "HEAD", path: path + "&f=png", status: 200, answers: map[string]string{"Content-Type": "image/png", "Content-Disposition": `inline; filename="photo.jpg.png"`}},
		"the format is chosen: webp":   {as: "owner", method: "HEAD", path: path + "&f=auto", header: http.Header{"Accept": {"text/html, image/webp;q=0.9, */*;q=0.1"}}, status: 200, answers: map[string]string{"Content-Type": "image/webp", "Vary": "Accept, Authorization, X-Hasura-Admin-Secret, X-Hasura-Role"}},
		"the format is chosen: none":   {as: "owner", method: "HEAD", path: path + "&f=auto", header: http.Header{"Accept": {"*/*"}}, status: 200, answers: map[string]string{"Content-Type": "image/jpeg"}},
		"the format is chosen: not it": {as: "owner", method: "HEAD", path: path + "&f=auto", header: http.Header{"Accept": {"image/webp;q=0"}}, status: 200, answers: map[string]string{"Content-Type": "image/jpeg"}},
	})
	link := s.link("owner", f.ID, "")
	runREST(t, s, map[string]restScenario{
		"by a link": {as: "anonymous", method: "HEAD", path: link.URL + "&w=64", status: 200, answers: map[string]string{"Content-Length": length, "Etag": etag, "Vary": "", "Surrogate-Key": f.ID}},
	})
	if strings.Contains(string(first.body), "Exif") {
		t.Error("the picture has metadata")
	}
}

// presets of a bucket stand for themselves.
func TestPresetsByREST(t *testing.T) {
	s := startREST(t, nil)
	s.sql(`UPDATE "storage.buckets" SET image_presets = '{"thumb":{"width":20,"height":20,"format":"PNG"}}' WHERE id = 'default'`)
	f := s.upload("owner", part{"file[]", "photo.jpg", "", photo(t, 400, 300)})
	a := s.send("owner", http.MethodGet, "/files/"+f.ID+"?preset=thumb", nil, nil)
	if c, kind, err := image.DecodeConfig(bytes.NewReader(a.body)); err != nil || c.Width != 20 || c.Height != 20 || kind != "png" {
		t.Errorf("%v %s %v: %.200s", c, kind, err, a.body)
	}
	runREST(t, s, map[string]restScenario{
		"a preset stands alone": {as: "owner", path: "/files/" + f.ID + "?preset=thumb&b=1", status: 400, code: "bad-request"},
	})
}
