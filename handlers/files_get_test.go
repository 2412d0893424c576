package handlers_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// restScenario is one request to a stack and everything that must come of it.
type restScenario struct {
	as     string // one of restCallers
	method string // "" is GET
	path   string
	header http.Header

	status  int
	body    string            // exactly, unless ""
	code    string            // of an error
	message string            // of an error; its X-Error too
	answers map[string]string // headers; "" means absent
	asks    []string          // operations at Hasura, all of them; nil is not looked at
	stores  []string          // calls of the store, all of them; nil is not looked at
}

var nothing = []string{}

func (sc restScenario) run(t *testing.T, s *restStack) {
	t.Helper()
	s.forget()
	method := sc.method
	if method == "" {
		method = http.MethodGet
	}
	a := s.send(sc.as, method, sc.path, sc.header, nil)
	if a.StatusCode != sc.status {
		t.Errorf("status = %d, want %d: %s", a.StatusCode, sc.status, a.body)
	}
	if sc.body != "" && string(a.body) != sc.body {
		t.Errorf("body = %q, want %q", a.body, sc.body)
	}
	if code, message := a.problem(); method != http.MethodHead && (code != sc.code || sc.message != "" && message != sc.message) {
		t.Errorf("error is %s: %s, want %s: %s", code, message, sc.code, sc.message)
	}
	if sc.message != "" && a.Header.Get("X-Error") != sc.message {
		t.Errorf("X-Error = %q, want %q", a.Header.Get("X-Error"), sc.message)
	}
	for name, want := range sc.answers {
		if got := strings.Join(a.Header.Values(name), ", "); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	asks, stores := s.noted()
	if sc.asks != nil && !slices.Equal(asks, sc.asks) {
		t.Errorf("Hasura was asked %q, want %q", asks, sc.asks)
	}
	if sc.stores != nil && !slices.Equal(stores, sc.stores) {
		t.Errorf("the store got %q, want %q", stores, sc.stores)
	}
}

func runREST(t *testing.T, s *restStack, scenarios map[string]restScenario) {
	t.Helper()
	for name, sc := range scenarios {
		t.Run(name, func(t *testing.T) { sc.run(t, s) })
	}
}

const (
	unfinishedID = "33333333-3333-4333-8333-333333333333"
	noSuchID     = "99999999-9999-4999-8999-999999999999"
)

// library is a stack with one file of each kind.
type library struct {
	*restStack
	private, public, expired, page actions.StoredFile
}

func startLibrary(t *testing.T, change func(*actions.Options, *handlers.Options)) library {
	t.Helper()
	s := startREST(t, change)
	l := library{restStack: s}
	l.private = s.upload("owner", part{"file[]", "0 to 9.txt", "", "0123456789"})
	l.public = s.upload("owner", part{"bucket-id", "", "", "public"}, part{"file[]", "public.txt", "", "for everybody"})
	l.expired = s.upload("owner", part{"file[]", "old.txt", "", "old"})
	l.page = s.upload("owner", part{"file[]", "page.html", "image/png", "<html><script>alert(1)</script></html>"})
	s.sql(`UPDATE "storage.files" SET expires_at = '2020-01-01T00:00:00+00:00' WHERE id = '` + l.expired.ID + `';
		INSERT INTO "storage.files" (id, name, uploaded_by_user_id) VALUES ('` + unfinishedID + `', 'never.txt', '` + ownerID + `')`)
	return l
}

// seen are the operations of a read that Hasura allows or does not.
var seen = []string{"GetFiles as admin", "VisibleFiles as the sender"}

func TestWhoMayReadWhat(t *testing.T) {
	l := startLibrary(t, nil)
	private, public := "/files/"+l.private.ID, "/files/"+l.public.ID
	unauthorized := "you are not authorized"
	runREST(t, l.restStack, map[string]restScenario{
		"the owner, a private file":           {as: "owner", path: private, status: 200, body: "0123456789", asks: seen, stores: []string{"GET object"}},
		"the admin, a private file":           {as: "admin", path: private, status: 200, body: "0123456789"},
		"a stranger, a private file":          {as: "stranger", path: private, status: 404, code: "file-not-found", message: "file not found", asks: seen, stores: nothing},
		"nobody, a private file":              {as: "anonymous", path: private, status: 404, code: "file-not-found", stores: nothing},
		"who claims to be admin":              {as: "claims admin", path: private, status: 404, code: "file-not-found", stores: nothing},
		"an expired token":                    {as: "expired", path: private, status: 401, code: "unauthenticated", message: "invalid or expired jwt", stores: nothing},
		"a wrong secret":                      {as: "wrong secret", path: private, status: 403, code: "not-allowed", message: unauthorized, stores: nothing},
		"nobody, a public file":               {as: "anonymous", path: public, status: 200, body: "for everybody"},
		"a stranger, a public file":           {as: "stranger", path: public, status: 200, body: "for everybody"},
		"a role that the token has not":       {as: "owner", path: private, header: http.Header{"X-Hasura-Role": {"editor"}}, status: 403, code: "not-allowed", message: unauthorized},
		"a file that is not there":            {as: "owner", path: "/files/" + noSuchID, status: 404, code: "file-not-found", stores: nothing},
		"a file that has not arrived":         {as: "owner", path: "/files/" + unfinishedID, status: 403, code: "not-allowed", message: "file is not uploaded", stores: nothing},
		"a file past its expiry":              {as: "owner", path: "/files/" + l.expired.ID, status: 404, code: "file-not-found", stores: nothing},
		"an id that is none":                  {as: "owner", path: "/files/1", status: 400, code: "bad-request", asks: nothing, stores: nothing},
		"its headers, to a stranger":          {as: "stranger", method: "HEAD", path: private, status: 404, answers: map[string]string{"X-Error": "file not found"}},
		"its headers":                         {as: "owner", method: "HEAD", path: private, status: 200, answers: map[string]string{"Content-Length": "10"}, stores: nothing},
		"a link to it, by a stranger":         {as: "stranger", path: private + "/presignedurl", status: 404, code: "file-not-found"},
		"a link to it, while it is not there": {as: "owner", path: "/files/" + unfinishedID + "/presignedurl", status: 403, code: "not-allowed", message: "file is not uploaded"},
		"deleted by a stranger":               {as: "stranger", method: "DELETE", path: private, status: 404, code: "file-not-found"},
		"deleted by nobody":                   {as: "anonymous", method: "DELETE", path: private, status: 403, code: "not-allowed", message: unauthorized},
	})
}

func TestConditionsAndRanges(t *testing.T) {
	l := startLibrary(t, nil)
	path := "/files/" + l.private.ID
	with := func(name, value string, more ...string) http.Header {
		h := http.Header{name: {value}}
		for i := 0; i+1 < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	etag := l.private.ETag
	modified := l.private.UpdatedAt.UTC().Format(http.TimeFormat)
	earlier := l.private.UpdatedAt.Add(-time.Hour).UTC().Format(http.TimeFormat)
	notModified := func(h http.Header) restScenario {
		return restScenario{as: "owner", path: path, header: h, status: 304, answers: map[string]string{"Etag": etag, "Content-Type": "", "Cache-Control": "private, max-age=3600"}, asks: seen, stores: nothing}
	}
	failed := func(h http.Header) restScenario {
		return restScenario{as: "owner", path: path, header: h, status: 412, code: "conflict", stores: nothing}
	}
	cut := func(h http.Header, body, contentRange string) restScenario {
		return restScenario{as: "owner", path: path, header: h, status: 206, body: body, answers: map[string]string{"Content-Range": contentRange, "Content-Length": strconv.Itoa(len(body))}, stores: []string{"GET object"}}
	}
	whole := func(h http.Header) restScenario {
		return restScenario{as: "owner", path: path, header: h, status: 200, body: "0123456789", answers: map[string]string{"Content-Range": "", "Accept-Ranges": "bytes"}}
	}
	runREST(t, l.restStack, map[string]restScenario{
		"the client has it":               notModified(with("If-None-Match", etag)),
		"among others, weakly":            notModified(with("If-None-Match", `"x", W/`+etag)),
		"it has any":                      notModified(with("If-None-Match", "*")),
		"without quotes":                  notModified(with("If-None-Match", strings.Trim(etag, `"`))),
		"it has not changed since":        notModified(with("If-Modified-Since", modified)),
		"it has changed since":            whole(with("If-Modified-Since", earlier)),
		"the tag counts, not the date":    whole(with("If-None-Match", `"x"`, "If-Modified-Since", modified)),
		"another version is wanted":       failed(with("If-Match", `"x"`)),
		"this version is wanted":          whole(with("If-Match", etag)),
		"only if it is old":               failed(with("If-Unmodified-Since", earlier)),
		"a date that is none":             whole(with("If-Modified-Since", "yesterday")),
		"the first bytes":                 cut(with("Range", "bytes=0-3"), "0123", "bytes 0-3/10"),
		"all, as a range":                 cut(with("Range", "bytes=0-"), "0123456789", "bytes 0-9/10"),
		"the last bytes":                  cut(with("Range", "bytes=-2"), "89", "bytes 8-9/10"),
		"more than there is":              cut(with("Range", "bytes=8-100"), "89", "bytes 8-9/10"),
		"a range of this version":         cut(with("Range", "bytes=1-1", "If-Range", etag), "1", "bytes 1-1/10"),
		"a range of another version":      whole(with("Range", "bytes=1-1", "If-Range", `"x"`)),
		"several ranges":                  whole(with("Range", "bytes=0-1,3-4")),
		"another unit":                    whole(with("Range", "lines=0-1")),
		"a range that is none":            whole(with("Range", "bytes=b-a")),
		"outside":                         {as: "owner", path: path, header: with("Range", "bytes=10-"), status: 416, code: "bad-request", answers: map[string]string{"Content-Range": "bytes */10"}, stores: nothing},
		"the condition is decided before": notModified(with("If-None-Match", etag, "Range", "bytes=99-")),
		"HEAD knows no ranges":            {as: "owner", method: "HEAD", path: path, header: with("Range", "bytes=0-1"), status: 200, answers: map[string]string{"Content-Length": "10"}, stores: nothing},
	})
}

func TestWhatAnAnswerSays(t *testing.T) {
	l := startLibrary(t, func(o *actions.Options, _ *handlers.Options) { o.CDNCacheControl = "max-age=7" })
	vary := "Authorization, X-Hasura-Admin-Secret, X-Hasura-Role"
	runREST(t, l.restStack, map[string]restScenario{
		"to its owner": {as: "owner", path: "/files/" + l.public.ID, status: 200, answers: map[string]string{
			"Cache-Control": "private, max-age=60", "Vary": vary, "Surrogate-Control": "", "Cdn-Cache-Control": "", "Surrogate-Key": l.public.ID,
			"Content-Disposition": `inline; filename="public.txt"`, "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "",
			"Content-Type": "text/plain; charset=utf-8", "Etag": l.public.ETag, "Last-Modified": l.public.UpdatedAt.UTC().Format(http.TimeFormat),
		}},
		"to everybody": {as: "anonymous", path: "/files/" + l.public.ID, status: 200, answers: map[string]string{
			"Cache-Control": "public, max-age=60, s-maxage=600", "Vary": vary, "Surrogate-Control": "public, max-age=60, s-maxage=600", "Cdn-Cache-Control": "max-age=7",
		}},
		"as an attachment": {as: "owner", path: "/files/" + l.private.ID + "?download", status: 200, answers: map[string]string{"Content-Disposition": `attachment; filename="0 to 9.txt"`}},
		"under a name": {as: "owner", path: "/files/" + l.private.ID + "?download=John%27s%20(1)%20%C3%A4.txt", status: 200, answers: map[string]string{
			"Content-Disposition": `attachment; filename="John's (1) _.txt"; filename*=UTF-8''John%27s%20%281%29%20%C3%A4.txt`,
		}},
		"a name that forges headers": {as: "owner", path: "/files/" + l.private.ID + "?download=a%0d%0aX-Y:%20z%22.txt", status: 200, answers: map[string]string{
			"X-Y": "", "Content-Disposition": `attachment; filename="a__X-Y: z_.txt"; filename*=UTF-8''a%0D%0AX-Y%3A%20z%22.txt`,
		}},
		"a page, which was called a picture": {as: "owner", path: "/files/" + l.page.ID, status: 200, answers: map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff",
		}},
		"of what cannot be read nothing is kept": {as: "stranger", path: "/files/" + l.private.ID, status: 404, code: "file-not-found", answers: map[string]string{"Cache-Control": "no-store", "Etag": ""}},
		"to a page of another origin":            {as: "anonymous", path: "/files/" + l.public.ID, header: http.Header{"Origin": {"https://app.example.com"}}, status: 200, answers: map[string]string{"Access-Control-Allow-Origin": "*"}},
	})
}

// TestNamesThatWereChangedByGraphQL: nobody looked at them before.
func TestNamesThatWereChangedByGraphQL(t *testing.T) {
	s := startREST(t, nil)
	for name, want := range map[string]string{
		`a\r\nX-Y: z\u0001\u001f\u007f\u0085.txt`: `inline; filename="a__X-Y: z____.txt"; filename*=UTF-8''a%0D%0AX-Y%3A%20z%01%1F%7F%C2%85.txt`,
		`\"; filename=\"b.exe`:                    `inline; filename="_; filename=_b.exe"; filename*=UTF-8''%22%3B%20filename%3D%22b.exe`,
	} {
		f := s.upload("owner", part{"file[]", "a.txt", "", "a"})
		s.after(s.graphql("owner", `mutation { updateFile(pk_columns: {id: "`+f.ID+`"}, _set: {name: "`+name+`"}) { id } }`), f.ID)
		a := s.send("owner", http.MethodGet, "/files/"+f.ID, nil, nil)
		if got := a.Header.Get("Content-Disposition"); a.StatusCode != http.StatusOK || got != want || a.Header.Get("X-Y") != "" {
			t.Errorf("%d %.200s, want %.200s", a.StatusCode, got, want)
		}
	}
}

func TestSharedCachesMayKeepWhatTheBucketSays(t *testing.T) {
	l := startLibrary(t, func(o *actions.Options, _ *handlers.Options) { o.CacheAuthorized = true })
	runREST(t, l.restStack, map[string]restScenario{
		"to its owner": {as: "owner", path: "/files/" + l.public.ID, status: 200, answers: map[string]string{
			"Cache-Control": "public, max-age=60, s-maxage=600", "Surrogate-Control": "public, max-age=60, s-maxage=600", "Vary": "",
		}},
	})
}
