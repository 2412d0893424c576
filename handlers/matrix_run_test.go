package handlers_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
)

// TestMatrix asks every route as every caller for a file in every state: see
// matrix. It runs against a stack of its own, or against the service that
// SCENARIO_URL names; what went on behind that one is then not looked at.
func TestMatrix(t *testing.T) {
	s, foreign := matrixTarget(t)
	shared := map[string]subject{}
	for _, route := range matrix {
		if foreign && route.deletes {
			continue
		}
		t.Run(route.does, func(t *testing.T) {
			route.each(t, func(as, state, want string) {
				t.Run(as+", "+state, func(t *testing.T) {
					on, made := shared[state]
					if !made || route.changes {
						on = s.subject(state, route.does)
					}
					if !route.changes {
						shared[state] = on
					}
					cell{route, as, state, want}.check(t, s, on, foreign)
				})
			})
		})
	}
}

// matrixTarget is the stack to ask, and whether it is somebody else's.
func matrixTarget(t *testing.T) (s *restStack, foreign bool) {
	t.Helper()
	address := os.Getenv("SCENARIO_URL")
	if address == "" {
		return startREST(t, nil), false
	}
	need := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			t.Fatalf("%s is required with SCENARIO_URL", name)
		}
		return value
	}
	owner, stranger := "Bearer "+need("SCENARIO_OWNER"), "Bearer "+need("SCENARIO_STRANGER")
	return &restStack{
		t: t, URL: strings.TrimRight(address, "/"), hasuraURL: strings.TrimRight(need("SCENARIO_HASURA"), "/"),
		callers: map[string]http.Header{
			"admin": {"X-Hasura-Admin-Secret": {need("SCENARIO_ADMIN_SECRET")}},
			"owner": {"Authorization": {owner}}, "stranger": {"Authorization": {stranger}}, "bad token": {"Authorization": {owner + "x"}},
			"anonymous": {}, "wrong secret": restCallers["wrong secret"], "claims admin": restCallers["claims admin"],
		},
	}, true
}

// each walks the cells of a route's grid.
func (r route) each(t *testing.T, visit func(as, state, want string)) {
	t.Helper()
	var states []string
	for line := range strings.Lines(strings.TrimSpace(r.grid)) {
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if states == nil {
			states = fields[1:]
			continue
		}
		if len(fields) != len(states)+1 {
			t.Fatalf("%s: %d cells in %q", r.does, len(fields)-1, line)
		}
		for i, want := range fields[1:] {
			visit(fields[0], states[i], want)
		}
	}
}

// subject is a file in some state, and what was got for it before it came to that.
type subject struct {
	id, etag, bucket, policy string
	content                  []byte
	link, signed             string // the owner's
}

// subject makes one, for a route. Every state begins with an upload by the owner.
func (s *restStack) subject(state, does string) subject {
	s.t.Helper()
	on := subject{bucket: "default", content: pixels(color.White)}
	if state == "public" {
		on.bucket = "public"
	}
	f := s.upload("owner", part{"bucket-id", "", "", on.bucket}, part{"file[]", "a.png", "", string(on.content)})
	on.id, on.etag = f.ID, f.ETag
	on.link = s.link("owner", f.ID, "?expires=600").URL
	if strings.Contains(does, "{signed}") {
		on.signed = s.after(s.graphql("owner", `query { storageDownload(id: "`+f.ID+`", image: {width: 2}) { url } }`), `"url":"`)
	}
	on.policy = s.after(s.admin(`{ bucket(id: "`+on.bucket+`") { cacheControl } }`), `"cacheControl":"`)
	s.bring(&on, state, f)
	return on
}

// bring lets a file that was uploaded come into a state.
func (s *restStack) bring(on *subject, state string, f actions.StoredFile) {
	s.t.Helper()
	switch state {
	case "absent", "not uploaded":
		if a := s.send("owner", http.MethodDelete, "/files/"+on.id, nil, nil); a.StatusCode != http.StatusNoContent {
			s.t.Fatalf("delete: %d %s", a.StatusCode, a.body)
		}
		if state == "not uploaded" {
			s.after(s.admin(`mutation { insertFile(object: {id: "`+on.id+`", name: "a.png", uploadedByUserId: "`+f.UploadedByUserID+`"}) { id } }`), on.id)
		}
	case "replaced":
		on.content = pixels(color.Black)
		_, f = s.put("owner", on.id, nil, part{"file", "b.png", "", string(on.content)})
		on.etag = f.ETag
	case "expired":
		s.after(s.admin(`mutation { updateFile(pk_columns: {id: "`+on.id+`"}, _set: {expiresAt: "2020-01-01T00:00:00Z"}) { id } }`), on.id)
	}
	s.settle(on.id)
}

// settle waits until nothing more goes on in our own stack for a file: its
// garbage is gone, and its uploads wait for their last look, an hour later.
func (s *restStack) settle(id string) {
	s.t.Helper()
	if s.service == nil {
		return
	}
	soon := s.now.Now().Add(10 * time.Minute).Format(time.RFC3339)
	query := `{ storage_garbage(where: {file_id: {_eq: "` + id + `"}}) { id }
		storage_uploads(where: {file_id: {_eq: "` + id + `"}, next_check_at: {_lt: "` + soon + `"}}) { id } }`
	for range 500 {
		if !strings.Contains(s.admin(query), `"id"`) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("what was done with %s does not end", id)
}

// after returns what stands after a text up to the next quote; both must be there.
func (s *restStack) after(text, before string) string {
	s.t.Helper()
	_, rest, found := strings.Cut(text, before)
	value, _, ended := strings.Cut(rest, `"`)
	if !found || !ended {
		s.t.Fatalf("no %s in %s", before, text)
	}
	return strings.ReplaceAll(value, `\u0026`, "&")
}

// pixels is a small picture of one colour.
func pixels(c color.Color) []byte {
	m := image.NewGray(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		m.Set(i%4, i/4, c)
	}
	var b bytes.Buffer
	_ = png.Encode(&b, m)
	return b.Bytes()
}

// cell is one route, caller and state, and the outcome that they should have.
type cell struct {
	route
	as, state, want string
}

func (c cell) check(t *testing.T, s *restStack, on subject, foreign bool) {
	t.Helper()
	want, known := outcomes[c.want]
	if !known {
		t.Fatalf("there is no outcome %q", c.want)
	}
	method, path, _ := strings.Cut(c.does, " ")
	path = strings.NewReplacer("{id}", on.id, "{link}", on.link, "{signed}", on.signed).Replace(path)
	header, body := http.Header{}, bytes.NewBuffer(nil)
	if c.form != nil {
		h, form := formOf(t, c.form(on.id)...)
		header = h
		_, _ = body.ReadFrom(form)
	}
	s.forget()
	a := s.send(c.as, method, path, header, body)
	c.answered(t, a, want, on)
	if foreign {
		return
	}
	if c.changes {
		s.settle(on.id)
	}
	c.wentOn(t, s)
}

// answered compares status, error, headers and body.
func (c cell) answered(t *testing.T, a answer, want outcome, on subject) {
	t.Helper()
	if a.StatusCode != want.status {
		t.Fatalf("status = %d, want %d: %s", a.StatusCode, want.status, a.body)
	}
	fill := strings.NewReplacer("{id}", on.id, "{etag}", on.etag, "{policy}", c.policy(on), "{content}", string(on.content))
	want.message = fill.Replace(want.message)
	head := a.Request.Method == http.MethodHead
	if code, message := a.problem(); !head && (code != want.code || want.message != "" && message != want.message) {
		t.Errorf("error is %s: %s, want %s: %s", code, message, want.code, want.message)
	}
	headers := want.headers
	if want.code != "" {
		headers = map[string]string{"X-Error": want.message + "*", "Cache-Control": "no-store", "Content-Type": "application/json*", "Etag": "", "Surrogate-Key": ""}
	}
	for name, pattern := range headers {
		if got := strings.Join(a.Header.Values(name), ", "); !matches(got, fill.Replace(pattern)) {
			t.Errorf("%s = %q, want %q", name, got, fill.Replace(pattern))
		}
	}
	if pattern := fill.Replace(want.body); !head && !matches(string(a.body), pattern) {
		t.Errorf("body = %q, want %q", a.body, pattern)
	}
	if head && len(a.body) > 0 {
		t.Errorf("HEAD has a body: %q", a.body)
	}
}

// policy is the bucket's for a caller without credentials, and private for others.
func (c cell) policy(on subject) string {
	if c.as == "anonymous" {
		return on.policy
	}
	return "private*"
}

// matches reports whether text is the pattern, or begins with it if it ends in "*".
func matches(text, pattern string) bool {
	if start, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(text, start)
	}
	return text == pattern
}

// wentOn compares what Hasura and the store were asked meanwhile.
func (c cell) wentOn(t *testing.T, s *restStack) {
	t.Helper()
	behind, listed := c.behind[c.want]
	if !listed {
		behind = c.behind[""]
	}
	if c.as == "admin" {
		behind = strings.ReplaceAll(behind, "the sender", "admin")
	}
	asks, stores, _ := strings.Cut(behind, "→")
	gotAsks, gotStores := s.noted()
	if got, want := c.tally(gotAsks), inOrder(asks); got != want {
		t.Errorf("Hasura was asked\n%s, want\n%s", got, want)
	}
	if got, want := c.tally(gotStores), inOrder(stores); got != want {
		t.Errorf("the store got\n%s, want\n%s", got, want)
	}
}

// tally writes sorted calls as the matrix has them: "PUT object, GET object ×2".
func (c cell) tally(calls []string) string {
	var all []string
	for at := 0; at < len(calls); {
		n := 1
		for at+n < len(calls) && calls[at+n] == calls[at] {
			n++
		}
		times := ""
		if n > 1 && !c.walks {
			times = fmt.Sprintf(" ×%d", n)
		}
		all = append(all, calls[at]+times)
		at += n
	}
	return strings.Join(all, ", ")
}

// inOrder sorts what a text lists.
func inOrder(text string) string {
	all := strings.Split(strings.TrimSpace(text), ", ")
	slices.Sort(all)
	return strings.Join(all, ", ")
}
