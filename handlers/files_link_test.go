package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
)

// link asks for a presigned URL.
func (s *restStack) link(as, id, query string) actions.PresignedURL {
	s.t.Helper()
	a := s.send(as, http.MethodGet, "/files/"+id+"/presignedurl"+query, nil, nil)
	var l actions.PresignedURL
	if err := json.Unmarshal(a.body, &l); err != nil || a.StatusCode != http.StatusOK || a.Header.Get("Cache-Control") != "no-store" {
		s.t.Fatalf("%d %s %s", a.StatusCode, a.body, a.Header)
	}
	return l
}

func TestPresignedURLs(t *testing.T) {
	l := startLibrary(t, nil)
	link := l.link("owner", l.private.ID, "")
	if link.Expiration != 30 || !strings.HasPrefix(link.URL, l.URL+"/files/"+l.private.ID+"/presignedurl/contents?") {
		t.Errorf("%+v", link)
	}
	changed := func(change func(url.Values)) string {
		u, _ := url.Parse(link.URL)
		query := u.Query()
		change(query)
		u.RawQuery = query.Encode()
		return u.String()
	}
	runREST(t, l.restStack, map[string]restScenario{
		"by anybody": {as: "anonymous", path: link.URL, status: 200, body: "0123456789", asks: []string{"GetFiles as admin"}, stores: []string{"GET object"},
			answers: map[string]string{"Vary": "", "Etag": l.private.ETag, "Content-Disposition": `inline; filename="0 to 9.txt"`}},
		"its headers":            {as: "anonymous", method: "HEAD", path: link.URL, status: 200, answers: map[string]string{"Content-Length": "10"}, stores: nothing},
		"a range of it":          {as: "anonymous", path: link.URL, header: http.Header{"Range": {"bytes=-1"}}, status: 206, body: "9"},
		"what the client has":    {as: "anonymous", path: link.URL, header: http.Header{"If-None-Match": {l.private.ETag}}, status: 304, stores: nothing},
		"another file's":         {as: "anonymous", path: strings.ReplaceAll(link.URL, l.private.ID, l.public.ID), status: 403, code: "not-allowed", asks: nothing, stores: nothing},
		"a longer life":          {as: "anonymous", path: changed(func(q url.Values) { q.Set("X-Amz-Expires", "3600") }), status: 403, code: "not-allowed", asks: nothing},
		"no number of seconds":   {as: "anonymous", path: changed(func(q url.Values) { q.Set("X-Amz-Expires", "x") }), status: 400, code: "bad-request", message: "problem parsing X-Amz-Expires"},
		"no date":                {as: "anonymous", path: changed(func(q url.Values) { q.Set("X-Amz-Date", "x") }), status: 400, code: "bad-request", message: "problem parsing X-Amz-Date"},
		"no signature":           {as: "anonymous", path: changed(func(q url.Values) { q.Del("X-Amz-Signature") }), status: 400, code: "bad-request"},
		"a life beyond the cap":  {as: "owner", path: "/files/" + l.private.ID + "/presignedurl?expires=3601", status: 400, code: "bad-request", message: "expires must be between 1 and 3600 seconds"},
		"a life that is none":    {as: "owner", path: "/files/" + l.private.ID + "/presignedurl?expires=x", status: 400, code: "bad-request", message: "expires must be a number of seconds"},
		"a life of nothing":      {as: "owner", path: "/files/" + l.private.ID + "/presignedurl?expires=0", status: 400, code: "bad-request", message: "expires must be between 1 and 3600 seconds"},
		"of a file past its end": {as: "admin", path: "/files/" + l.expired.ID + "/presignedurl", status: 404, code: "file-not-found"},
	})
	if long := l.link("admin", l.private.ID, "?expires=604800"); long.Expiration != 604800 {
		t.Errorf("the admin's link lives %d seconds", long.Expiration)
	}
	if a := l.send("anonymous", http.MethodGet, link.URL, nil, nil); !strings.HasPrefix(a.Header.Get("Cache-Control"), "max-age=2") {
		t.Errorf("Cache-Control is %q", a.Header.Get("Cache-Control"))
	}
	_, replaced := l.put("owner", l.private.ID, nil, part{"file", "x", "", "replaced"})
	runREST(t, l.restStack, map[string]restScenario{
		"the new version": {as: "anonymous", path: link.URL, status: 200, body: "replaced", answers: map[string]string{"Etag": replaced.ETag}},
	})
	l.sql(`UPDATE "storage.buckets" SET presigned_urls_enabled = 0 WHERE id = 'default'`)
	text := "presigned URLs are not enabled on the bucket where this file is located in"
	runREST(t, l.restStack, map[string]restScenario{
		"links were forbidden since": {as: "anonymous", path: link.URL, status: 403, code: "presigned-urls-disabled", message: text},
		"no new ones":                {as: "owner", path: "/files/" + l.private.ID + "/presignedurl", status: 403, code: "presigned-urls-disabled", message: text},
	})
	l.now.advance(31 * time.Second)
	runREST(t, l.restStack, map[string]restScenario{
		"after its end": {as: "anonymous", path: link.URL, status: 400, code: "bad-request", message: "signature already expired", asks: nothing},
	})
}
