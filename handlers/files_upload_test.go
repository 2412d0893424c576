package handlers_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// uploadAnswer is what a form with new files is answered with.
type uploadAnswer struct {
	ProcessedFiles []actions.StoredFile
	Error          *struct {
		Message, Code string
		Data          map[string]any
	}
}

// post sends a form with new files.
func (s *restStack) post(as string, parts ...part) (answer, uploadAnswer) {
	s.t.Helper()
	header, body := formOf(s.t, parts...)
	a := s.send(as, http.MethodPost, "/files", header, body)
	var out uploadAnswer
	if err := json.Unmarshal(a.body, &out); err != nil {
		s.t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	return a, out
}

// leftovers lists the objects and the open uploads that there are, once detached work has ended.
func (s *restStack) leftovers() (keys []string) {
	s.t.Helper()
	for _, prefix := range []string{"files/", "files-staging/", "files-variants/"} {
		for o, err := range s.objects.List(s.t.Context(), prefix, "") {
			if err != nil {
				s.t.Fatal(err)
			}
			keys = append(keys, o.Key)
		}
		for m, err := range s.objects.ListMultiparts(s.t.Context(), prefix) {
			if err != nil {
				s.t.Fatal(err)
			}
			keys = append(keys, "parts of "+m.Key)
		}
	}
	return keys
}

// admin asks Hasura as the admin and returns the answer's text.
func (s *restStack) admin(query string) string { return s.graphql("admin", query) }

// graphql asks Hasura as one of the callers and returns the answer's text.
func (s *restStack) graphql(as, query string) string {
	s.t.Helper()
	body, _ := json.Marshal(map[string]string{"query": query})
	r, _ := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.hasuraURL+"/v1/graphql", bytes.NewReader(body))
	maps.Copy(r.Header, s.callers[as])
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

// rows counts files and uploads, `{files} {open uploads}`.
func (s *restStack) rows() string {
	s.t.Helper()
	var out struct {
		Data struct {
			Files  []struct{ ID string }
			Opened []struct{ ID string }
		}
	}
	text := s.admin(`{ files { id } opened: storage_uploads(where: {state: {_eq: "open"}}) { id } }`)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		s.t.Fatal(text)
	}
	return fmt.Sprintf("%d files, %d open uploads", len(out.Data.Files), len(out.Data.Opened))
}

func TestUploadedFilesAreToldAsTheyAre(t *testing.T) {
	s := startREST(t, nil)
	id := "55555555-5555-4555-8555-555555555555"
	a, out := s.post("owner",
		part{"file[]", "ä note.txt", "", "hello"},
		part{"file[]", "styles.css", "text/css", "a { color: red }"},
		part{"metadata[]", "", "application/json", `{"id":"` + id + `","name":"renamed.txt","metadata":{"a":[1]}}`},
		part{"metadata[]", "", "", `{}`},
		part{"bucket-id", "", "", "public"},
	)
	if a.StatusCode != http.StatusCreated || len(out.ProcessedFiles) != 2 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	first, second := out.ProcessedFiles[0], out.ProcessedFiles[1]
	if first.ID != id || first.Name != "renamed.txt" || first.Size != 5 || first.BucketID != "public" || !first.IsUploaded ||
		first.ETag == "" || first.MimeType != "text/plain; charset=utf-8" || first.UploadedByUserID != ownerID || string(first.Metadata) != `{"a":[1]}` {
		t.Errorf("the first is %+v", first)
	}
	if second.Name != "styles.css" || second.MimeType != "text/css; charset=utf-8" {
		t.Errorf("the second is %+v", second)
	}
	for _, f := range out.ProcessedFiles {
		got := s.send("anonymous", http.MethodGet, "/files/"+f.ID, nil, nil)
		if got.StatusCode != http.StatusOK || got.Header.Get("Etag") != f.ETag {
			t.Errorf("download of %s: %d %s", f.Name, got.StatusCode, got.body)
		}
	}
	sum := sha256.Sum256([]byte("hello"))
	if text := s.admin(`{ files(where: {name: {_eq: "renamed.txt"}}) { sha256 } }`); !strings.Contains(text, hex.EncodeToString(sum[:])) {
		t.Errorf("the row has no sha256: %s", text)
	}
	s.settled(t, 2)
}

// settled waits until n objects are left and nothing else.
func (s *restStack) settled(t *testing.T, n int) {
	t.Helper()
	var keys []string
	for range 100 {
		if keys = s.leftovers(); len(keys) == n {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d objects should be left: %q", n, keys)
}

func TestUploadsAreMadeWithFewCalls(t *testing.T) {
	s := startREST(t, nil)
	s.forget()
	s.upload("owner", part{"bucket-id", "", "", "default"}, part{"file[]", "a.txt", "", "hello"})
	time.Sleep(100 * time.Millisecond)
	asks, stores := s.noted()
	if got := strings.Join(stores, ","); got != "PUT object" {
		t.Errorf("the store got %s", got)
	}
	t.Logf("Hasura was asked %q", asks)
}

// TestATokenIsOneSender, whatever stands beside it.
func TestATokenIsOneSender(t *testing.T) {
	s := startREST(t, nil)
	token := s.callers["owner"].Get("Authorization")
	s.callers = map[string]http.Header{
		"owner": s.callers["owner"], "stranger": s.callers["stranger"], "admin": s.callers["admin"],
		"owner with junk":   {"Authorization": {token}, "X-Hasura-Junk": {"1"}},
		"owner with spaces": {"Authorization": {strings.Replace(token, " ", "   ", 1)}},
		"owner twice":       {"Authorization": {token, "Bearer x"}},
	}
	senders := func() (keys []string) {
		var out struct {
			Data struct {
				Uploads []struct {
					Key string `json:"session_key"`
				}
			}
		}
		text := s.admin(`{ uploads: storage_uploads { session_key } }`)
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(text)
		}
		for _, u := range out.Data.Uploads {
			keys = append(keys, u.Key)
		}
		slices.Sort(keys)
		return slices.Compact(keys)
	}
	for _, step := range []struct {
		as   string
		want int
	}{{"owner", 1}, {"owner with junk", 1}, {"owner with spaces", 1}, {"owner twice", 1}, {"stranger", 2}, {"admin", 3}} {
		s.upload(step.as, part{"file[]", "a.txt", "", "a"})
		if got := senders(); len(got) != step.want {
			t.Errorf("with %s there are %d senders, want %d", step.as, len(got), step.want)
		}
	}
}

func TestUploadsThatAreRefused(t *testing.T) {
	s := startREST(t, nil)
	s.sql(`INSERT INTO "storage.buckets" (id, min_upload_file_size, max_upload_file_size) VALUES ('small', 2, 10);
		INSERT INTO "storage.buckets" (id, allowed_mime_types) VALUES ('pictures', '["image/*"]');
		INSERT INTO "storage.buckets" (id, quota_bytes) VALUES ('full', 3)`)
	taken := s.upload("stranger", part{"file[]", "taken.txt", "", "taken"})
	form := func(parts ...part) []part { return parts }
	tests := map[string]struct {
		as      string
		parts   []part
		status  int
		code    string
		message string
		stored  int
		data    map[string]any
	}{
		"nobody":                         {"anonymous", form(part{"file[]", "a", "", "a"}), 403, "not-allowed", "you are not authorized", 0, map[string]any{"permission": "insert on files"}},
		"an expired token":               {"expired", form(part{"file[]", "a", "", "a"}), 401, "unauthenticated", "invalid or expired jwt", 0, nil},
		"a field of another name":        {"owner", form(part{"file", "a", "", "a"}), 400, "bad-request", "file[] not found in Multipart form", 0, nil},
		"an empty form":                  {"owner", form(), 400, "bad-request", "file[] not found in Multipart form", 0, nil},
		"metadata for more files":        {"owner", form(part{"file[]", "a", "", "a"}, part{"metadata[]", "", "", "{}"}, part{"metadata[]", "", "", "{}"}), 400, "bad-request", "file metadata length doesn't match number of files in request", 0, nil},
		"metadata that is no JSON":       {"owner", form(part{"file[]", "a", "", "a"}, part{"metadata[]", "", "", "{"}), 400, "bad-request", "couldn't decode metadata", 0, nil},
		"an id that is none":             {"owner", form(part{"file[]", "a", "", "a"}, part{"metadata[]", "", "", `{"id":"1"}`}), 400, "bad-request", "id must be a uuid", 0, nil},
		"an id that is taken":            {"owner", form(part{"file[]", "a", "", "a"}, part{"metadata[]", "", "", `{"id":"` + taken.ID + `"}`}), 400, "already-exists", "a file with id " + taken.ID + " exists already", 0, nil},
		"a bucket that is not there":     {"owner", form(part{"bucket-id", "", "", "none"}, part{"file[]", "a", "", "a"}), 404, "bucket-not-found", "bucket not found", 0, nil},
		"the bucket comes last":          {"owner", form(part{"file[]", "a", "", "a"}, part{"bucket-id", "", "", "none"}), 404, "bucket-not-found", "bucket not found", 0, nil},
		"too big, the bucket first":      {"owner", form(part{"bucket-id", "", "", "small"}, part{"file[]", "a", "", "hello"}, part{"file[]", "b", "", strings.Repeat("b", 20)}), 400, "file-too-big", "file too big", 1, map[string]any{"filename": "b", "size": 20.0, "maxSize": 10.0}},
		"too big, the bucket last":       {"owner", form(part{"file[]", "a", "", "hello"}, part{"file[]", "b", "", strings.Repeat("b", 20)}, part{"bucket-id", "", "", "small"}), 400, "file-too-big", "file too big", 1, map[string]any{"filename": "b", "size": 20.0, "maxSize": 10.0}},
		"too small":                      {"owner", form(part{"bucket-id", "", "", "small"}, part{"file[]", "a", "", "x"}), 400, "file-too-small", "file too small", 0, map[string]any{"filename": "a", "minSize": 2.0}},
		"empty, in the default bucket":   {"owner", form(part{"file[]", "a", "", ""}), 400, "file-too-small", "file too small", 0, nil},
		"of a type that is not allowed":  {"owner", form(part{"bucket-id", "", "", "pictures"}, part{"file[]", "a.png", "image/png", "no picture"}), 400, "mime-type-not-allowed", "", 0, nil},
		"beyond the quota":               {"owner", form(part{"bucket-id", "", "", "full"}, part{"file[]", "a", "", "four"}), 403, "quota-exceeded", "", 0, nil},
		"a name without a letter":        {"owner", form(part{"file[]", "a", "", "a"}, part{"metadata[]", "", "", `{"name":"/"}`}), 400, "bad-request", "name must not be empty", 0, nil},
		"101 parts":                      {"owner", many(101), 400, "bad-request", "the form has more than 100 parts", 0, nil},
		"a field without end":            {"owner", form(part{"metadata[]", "", "", strings.Repeat("x", 2<<20)}), 400, "bad-request", "metadata[] is longer than 1048576 bytes", 0, nil},
		"a part with headers too long":   {"owner", form(part{"file[]", strings.Repeat("n", 100<<10), "", "a"}), 400, "bad-request", "what stands before a part of the form is longer than 65536 bytes", 0, nil},
		"what it has no meaning for":     {"owner", form(part{"comment", "", "", strings.Repeat("x", 100<<10)}), 400, "bad-request", "file[] not found in Multipart form", 0, nil},
		"metadata larger than a row may": {"owner", form(part{"file[]", "a", "", "a"}, part{"metadata[]", "", "", `{"metadata":{"a":"` + strings.Repeat("x", 70<<10) + `"}}`}), 400, "bad-request", "metadata is larger than 65536 bytes", 0, nil},
	}
	objects := 1
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, out := s.post(test.as, test.parts...)
			if out.Error == nil {
				t.Fatalf("%d %s", a.StatusCode, a.body)
			}
			if a.StatusCode != test.status || out.Error.Code != test.code || test.message != "" && out.Error.Message != test.message {
				t.Errorf("%d %s: %s, want %d %s: %s", a.StatusCode, out.Error.Code, out.Error.Message, test.status, test.code, test.message)
			}
			if len(out.ProcessedFiles) != test.stored || !strings.Contains(string(a.body), `"processedFiles":[`) {
				t.Errorf("%d files are stored, want %d: %s", len(out.ProcessedFiles), test.stored, a.body)
			}
			for name, want := range test.data {
				if out.Error.Data[name] != want {
					t.Errorf("data.%s = %v, want %v", name, out.Error.Data[name], want)
				}
			}
			objects += test.stored
			s.settled(t, objects)
		})
	}
	if got, want := s.rows(), fmt.Sprintf("%d files, 0 open uploads", objects); got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
}

func many(n int) []part {
	parts := make([]part, n)
	for i := range parts {
		parts[i] = part{"nothing", "", "", ""}
	}
	return parts
}

func TestALargeFileGoesThroughInParts(t *testing.T) {
	s := startREST(t, nil)
	for _, size := range []int{64 << 10, 64<<10 + 1, 8 << 20, 8<<20 + 1, 20 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			content := make([]byte, size)
			_, _ = rand.Read(content)
			f := s.upload("owner", part{"file[]", "large.bin", "", string(content)})
			if f.Size != int64(size) {
				t.Errorf("size is %d", f.Size)
			}
			a := s.send("owner", http.MethodGet, "/files/"+f.ID, nil, nil)
			if !bytes.Equal(a.body, content) {
				t.Errorf("%d bytes came back, and they differ", len(a.body))
			}
		})
	}
}

// breaking is a body that stops in the middle until its sender has left.
type breaking struct {
	io.Reader
	reached, left chan struct{}
	stopped       bool
}

func (b *breaking) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if !errors.Is(err, io.EOF) || n > 0 {
		return n, err
	}
	if !b.stopped {
		b.stopped = true
		close(b.reached)
	}
	<-b.left
	return 0, errors.New("the sender has left")
}

func TestAClientThatLeavesLeavesNothing(t *testing.T) {
	s := startREST(t, nil)
	for _, size := range []int{10, 100 << 10, 9 << 20, 18 << 20} {
		header, whole := formOf(t, part{"file[]", "first.bin", "", "first"}, part{"file[]", "half.bin", "", strings.Repeat("x", size)})
		ctx, leave := context.WithCancel(t.Context())
		body := &breaking{Reader: io.LimitReader(whole, int64(size)+200), reached: make(chan struct{}), left: make(chan struct{})}
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/files", io.NopCloser(body))
		r.Header = header
		r.Header.Set("Authorization", restCallers["owner"].Get("Authorization"))
		go func() {
			<-body.reached
			time.Sleep(50 * time.Millisecond)
			leave()
			close(body.left)
		}()
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
			t.Errorf("%d bytes: answered %d", size, response.StatusCode)
		}
		s.settled(t, 0)
	}
	for range 50 {
		if s.rows() == "0 files, 0 open uploads" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("left are %s", s.rows())
}

func TestASenderThatStandsStillIsGivenUp(t *testing.T) {
	s := startREST(t, func(_ *actions.Options, o *handlers.Options) { o.Stall = time.Second })
	f := s.upload("owner", part{"file[]", "a.txt", "", "a"})
	for _, size := range []int{100, 200 << 10, 9 << 20} {
		for _, request := range []struct{ method, path, field string }{{http.MethodPost, "/files", "file[]"}, {http.MethodPut, "/files/" + f.ID, "file"}} {
			header, whole := formOf(t, part{request.field, "half.bin", "", strings.Repeat("x", 10<<20)})
			half, _ := io.ReadAll(io.LimitReader(whole, int64(size)))
			reader, writer := io.Pipe()
			go func() { _, _ = writer.Write(half) }() // and no more
			start := time.Now()
			a := s.send("owner", request.method, request.path, header, reader)
			if code, message := a.problem(); a.StatusCode != http.StatusRequestTimeout || code != "bad-request" || message != "the request's body was not sent to its end" {
				t.Errorf("%s of %d bytes: %d %s", request.method, size, a.StatusCode, a.body)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("given up after %s", took)
			}
			_ = reader.Close()
		}
	}
	s.settled(t, 1)
}

func TestRequestsLeaveNoGoroutines(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "large.bin", "", strings.Repeat("x", 4<<20)})
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	for i := range 60 {
		ctx, leave := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/files/"+f.ID, nil)
		r.Header.Set("Authorization", restCallers["owner"].Get("Authorization"))
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			_, _ = io.Copy(io.Discard, response.Body)
		} else {
			_, _ = io.CopyN(io.Discard, response.Body, 100)
		}
		leave()
		response.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	var after int
	for range 100 {
		if after = runtime.NumGoroutine(); after <= before+10 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, after)
}

func TestAStrangerIsRefusedBeforeTheBody(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "a.txt", "", "a"})
	for _, request := range []struct{ as, method, path string }{
		{"anonymous", http.MethodPost, "/files"}, {"expired", http.MethodPost, "/files"},
		{"stranger", http.MethodPut, "/files/" + f.ID}, {"anonymous", http.MethodPut, "/files/" + f.ID},
	} {
		reader, writer := io.Pipe()
		form := multipart.NewWriter(writer)
		sent := make(chan int64, 1)
		go func() {
			var n int64
			if part, err := form.CreateFormFile("file[]", "endless.bin"); err == nil { // he may have been refused by now
				n, _ = io.Copy(part, endless{})
			}
			sent <- n
		}()
		start := time.Now()
		a := s.send(request.as, request.method, request.path, http.Header{"Content-Type": {form.FormDataContentType()}}, reader)
		_ = reader.Close()
		if n := <-sent; n > 16<<20 || time.Since(start) > 5*time.Second {
			t.Errorf("%s %s as %s: %d bytes were taken in %s", request.method, request.path, request.as, n, time.Since(start))
		}
		if a.StatusCode < 401 || a.StatusCode > 404 {
			t.Errorf("%s %s as %s: %d %s", request.method, request.path, request.as, a.StatusCode, a.body)
		}
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAnUploadOfADeadProcessIsSwept(t *testing.T) {
	s := startREST(t, nil)
	key := "files/0123456789abcdefghijklmnop/66666666-6666-4666-8666-666666666666"
	if _, err := s.objects.Put(t.Context(), key, strings.NewReader("x"), 1, ""); err != nil {
		t.Fatal(err)
	}
	s.sql(`INSERT INTO "storage.files" (id, name) VALUES ('66666666-6666-4666-8666-666666666666', 'half.txt');
		INSERT INTO "storage.uploads" (id, file_id, kind, version, object_key, size, part_size, session_key, next_check_at, expires_at, leased_until)
		VALUES ('77777777-7777-4777-8777-777777777777', '66666666-6666-4666-8666-666666666666', 'rest', '0123456789abcdefghijklmnop', '` + key + `', 0, 8388608, 'k', now(), '2020-01-01T00:00:00+00:00', '2999-01-01T00:00:00+00:00')`)
	if _, err := s.service.Sweep(t.Context()); err != nil || s.rows() != "1 files, 1 open uploads" {
		t.Errorf("while its lease holds: %s, %v", s.rows(), err)
	}
	s.sql(`UPDATE "storage.uploads" SET leased_until = now()`)
	s.now.advance(2 * time.Minute)
	if _, err := s.service.Sweep(t.Context()); err != nil || s.rows() != "0 files, 0 open uploads" {
		t.Errorf("afterwards: %s, %v", s.rows(), err)
	}
	s.settled(t, 0)
}

func TestOps(t *testing.T) {
	s := startREST(t, nil)
	kept := s.upload("owner", part{"file[]", "kept.txt", "", "kept"})
	lost := s.upload("owner", part{"file[]", "lost.txt", "", "lost"})
	s.sql(`INSERT INTO "storage.files" (id, name) VALUES ('33333333-3333-4333-8333-333333333333', 'never.txt')`)
	for o, err := range s.objects.List(t.Context(), "files/", "") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(o.Key, lost.ID) {
			_ = s.objects.Delete(t.Context(), o.Key)
		}
	}
	orphan := "files/" + strings.Repeat("0", 26) + "/44444444-4444-4444-8444-444444444444"
	for _, key := range []string{orphan, "files/a b%41", "files2/" + kept.ID} {
		if _, err := s.objects.Put(t.Context(), key, strings.NewReader("x"), 1, ""); err != nil {
			t.Fatal(err)
		}
	}
	s.now.advance(2 * time.Second) // an object has its age in whole seconds
	steps := []struct{ path, want string }{
		{"list-orphans", `{"files":["` + orphan + `"],"foreign":["files/a b%41"]}`},
		{"delete-orphans", `{"files":["` + orphan + `"],"foreign":["files/a b%41"]}`},
		{"list-orphans", `{"files":[],"foreign":["files/a b%41"]}`},
		{"list-broken-metadata", `{"metadata":[{"id":"` + lost.ID + `","name":"lost.txt","bucketId":"default","isUploaded":true}]}`},
		{"delete-broken-metadata", `{"metadata":[{"id":"` + lost.ID + `","name":"lost.txt","bucketId":"default","isUploaded":true}]}`},
		{"list-broken-metadata", `{"metadata":[]}`},
		{"list-not-uploaded", `{"metadata":[{"id":"33333333-3333-4333-8333-333333333333","name":"never.txt","bucketId":"default","isUploaded":false}]}`},
	}
	for _, step := range steps {
		a := s.send("admin", http.MethodPost, "/ops/"+step.path, nil, nil)
		if got := strings.TrimSpace(string(a.body)); a.StatusCode != http.StatusOK || got != step.want {
			t.Errorf("%s: %d %s, want %s", step.path, a.StatusCode, got, step.want)
		}
	}
	for _, as := range []string{"owner", "anonymous", "wrong secret", "claims admin"} {
		if a := s.send(as, http.MethodPost, "/ops/list-orphans", nil, nil); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d %s", as, a.StatusCode, a.body)
		}
	}
}
