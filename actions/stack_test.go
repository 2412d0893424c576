package actions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/graphql"
	"hasura-storage/graphql/localhasura"
	metadata "hasura-storage/hasura-metadata"
	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

const adminSecret = "admin-secret"

// stack is the service on the real store and the local Hasura, with a proxy
// before each and a clock of its own. Events are not delivered: a test calls
// FileGone itself, or loses the event.
type stack struct {
	t       testing.TB
	service *actions.Storage
	clock   *clock

	hasura  *faults.Proxy
	store   *faults.Proxy
	objects *s3.Store // past the proxy, as the test sees it
	admin   string    // the local Hasura's own URL
	options actions.Options
	bucket  s3.Options // of the real store
}

// clock is the time of the service and of the local Hasura, in the precision
// that a database keeps.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// start brings up a fresh stack with the starter's permissions.
func start(t testing.TB) *stack { return startWith(t, s3.Options{}, nil) }

// startWith does so with options of the store, and with project, unless nil, for metadata.
func startWith(t testing.TB, store s3.Options, project fs.FS) *stack {
	t.Helper()
	s := &stack{t: t, clock: &clock{now: time.Now().Truncate(time.Microsecond)}}
	s.admin = s.startHasura(project)
	s.hasura = faults.New(t, s.admin)

	o := s3test.Start(t)
	s.bucket = o
	s.objects = s3test.Open(t, o)
	s.store = faults.New(t, "http://"+strings.TrimPrefix(o.Endpoint, "http://"))
	o.Endpoint, o.UnsignedLength = s.store.URL, store.UnsignedLength

	client, err := graphql.New(graphql.Options{Endpoint: s.hasura.URL, AdminSecret: adminSecret, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s.options = actions.Options{
		Hasura: client, Store: s3test.Open(t, o), Log: zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel)),
		RootFolder: "files", PublicURL: "http://service.example/v1", SigningKeys: [][]byte{[]byte("a key of at least thirty-two bytes")},
		Now: s.clock.Now,
	}
	s.service = s.instance()
	return s
}

// instance starts one more instance of the service on the same stack.
func (s *stack) instance() *actions.Storage {
	s.t.Helper()
	service, err := actions.New(s.options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := service.Close(ctx); err != nil {
			s.t.Errorf("detached work did not end: %v", err)
		}
	})
	return service
}

func (s *stack) startHasura(project fs.FS) string {
	s.t.Helper()
	if project == nil {
		var err error
		if project, err = metadata.WithStarter(); err != nil {
			s.t.Fatal(err)
		}
	}
	folder, err := fs.Sub(project, "metadata")
	if err != nil {
		s.t.Fatal(err)
	}
	env := map[string]string{
		"HASURA_GRAPHQL_ADMIN_SECRET": adminSecret,
		"HASURA_STORAGE_URL":          "http://127.0.0.1:1",
		"HASURA_STORAGE_SECRET":       "unused",
	}
	server, err := localhasura.Open(s.t.Context(), localhasura.Config{
		Metadata: folder, Migrations: project, Env: func(name string) string { return env[name] }, Now: s.clock.Now, EventInterval: time.Hour,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	s.t.Cleanup(func() {
		listener.Close()
		_ = server.Close()
	})
	return listener.URL
}

// graphql asks the local Hasura directly, as the admin or with a session's variables.
func (s *stack) graphql(as actions.Session, query string, variables map[string]any) map[string]any {
	s.t.Helper()
	data, failure := s.ask(as, query, variables)
	if failure != "" {
		s.t.Fatalf("Hasura: %s", failure)
	}
	return data
}

func (s *stack) ask(as actions.Session, query string, variables map[string]any) (data map[string]any, failure string) {
	s.t.Helper()
	body, _ := json.Marshal(map[string]any{"query": query, "variables": variables})
	r, _ := http.NewRequest(http.MethodPost, s.admin+"/v1/graphql", bytes.NewReader(body))
	r.Header.Set("x-hasura-admin-secret", adminSecret)
	for name, value := range as {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Data   map[string]any
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	if len(answer.Errors) > 0 {
		return nil, answer.Errors[0].Message
	}
	return answer.Data, ""
}

// user returns the session of a new user.
func user() actions.Session {
	return actions.Session{"x-hasura-role": "user", "x-hasura-user-id": uuid.NewString()}
}

// put sends bytes to a presigned URL and returns the status.
func put(t testing.TB, url string, headers []actions.Header, body []byte) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		r.Header.Set(h.Name, h.Value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// get fetches a URL.
func get(t testing.TB, url string) (int, []byte, http.Header) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body, resp.Header
}

// upload creates, sends and completes a file.
func (s *stack) upload(as actions.Session, name, mimeType string, body []byte) actions.File {
	s.t.Helper()
	ticket := s.create(as, actions.CreateUpload{Name: name, Size: graphql.Bigint(len(body)), MimeType: &mimeType})
	if status := put(s.t, *ticket.URL, ticket.Headers, body); status != http.StatusOK {
		s.t.Fatalf("PUT: status %d", status)
	}
	file, err := s.service.CompleteUpload(s.t.Context(), as, actions.CompleteUpload{UploadID: ticket.UploadID})
	if err != nil {
		s.t.Fatalf("complete: %v", err)
	}
	return file
}

func (s *stack) create(as actions.Session, in actions.CreateUpload) actions.Upload {
	s.t.Helper()
	ticket, err := s.service.CreateUpload(s.t.Context(), as, in)
	if err != nil {
		s.t.Fatalf("create: %v", err)
	}
	return ticket
}

// download returns the bytes that the session's link gives, or the error's code.
func (s *stack) download(as actions.Session, id string) ([]byte, actions.Code) {
	s.t.Helper()
	link, err := s.service.Download(s.t.Context(), as, actions.GetDownload{ID: id})
	if err != nil {
		return nil, code(err)
	}
	status, body, _ := get(s.t, link.URL)
	if status != http.StatusOK {
		s.t.Fatalf("GET: status %d %s", status, body)
	}
	return body, ""
}

func code(err error) actions.Code {
	if err == nil {
		return ""
	}
	return actions.Public(err).Code
}

// keys lists everything in the bucket.
func (s *stack) keys() []string {
	s.t.Helper()
	var keys []string
	for o, err := range s.objects.List(s.t.Context(), "", "") {
		if err != nil {
			s.t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

// fileRow returns the row of a file as the admin sees it, or nil.
func (s *stack) fileRow(id string) map[string]any {
	s.t.Helper()
	data := s.graphql(nil, `query($id: uuid!) { file(id: $id) { id name size mimeType etag objectKey isUploaded sha256 width height placeholder metadata bucketId expiresAt } }`, map[string]any{"id": id})
	row, _ := data["file"].(map[string]any)
	return row
}

// uploadRow returns the row of an upload, or nil.
func (s *stack) uploadRow(id string) map[string]any {
	s.t.Helper()
	data := s.graphql(nil, `query($id: uuid!) { storage_uploads_by_pk(id: $id) { id state object_key staging_key attempts } }`, map[string]any{"id": id})
	row, _ := data["storage_uploads_by_pk"].(map[string]any)
	return row
}

// sweep runs a sweep after d has passed.
func (s *stack) sweep(d time.Duration) actions.Swept {
	s.t.Helper()
	s.clock.Advance(d)
	done, err := s.service.Sweep(s.t.Context())
	if err != nil {
		s.t.Fatalf("sweep: %v", err)
	}
	return done
}

// holds checks I1 and I2 for everything there is: each uploaded row names an
// object of its size and ETag, and every object is named by a row or an upload.
func (s *stack) holds() {
	s.t.Helper()
	data := s.graphql(nil, `{
		files(where: {isUploaded: {_eq: true}}) { id size etag objectKey }
		storage_uploads { file_id object_key staging_key }
		storage_garbage { file_id object_key }
	}`, nil)
	named := map[string]bool{}
	present := map[string]string{}
	for _, row := range rows(data["files"]) {
		id, _ := row["id"].(string)
		key, legacy := row["objectKey"].(string)
		if !legacy {
			key = "files/" + id
		}
		named[key] = true
		present[id] = strings.Split(strings.TrimPrefix(key, "files/"), "/")[0]
		o, err := s.objects.Stat(s.t.Context(), key)
		if err != nil {
			s.t.Errorf("I1: file %s names %s: %v", id, key, err)
			continue
		}
		if fmt.Sprint(row["size"]) != fmt.Sprint(float64(o.Size)) || row["etag"] != o.ETag {
			s.t.Errorf("I1: file %s says %v %v, its object is %d %s", id, row["size"], row["etag"], o.Size, o.ETag)
		}
	}
	for _, row := range rows(data["storage_uploads"]) {
		for _, column := range []string{"object_key", "staging_key"} {
			if key, ok := row[column].(string); ok {
				named[key] = true
			}
		}
	}
	for _, row := range rows(data["storage_garbage"]) {
		if key, ok := row["object_key"].(string); ok {
			named[key] = true
		}
	}
	for _, key := range s.keys() {
		if parts := strings.Split(key, "/"); parts[0] == "files-variants" && present[parts[1]] == parts[2] {
			continue
		}
		if !named[key] {
			s.t.Errorf("I2: nobody names %s", key)
		}
	}
}

func rows(value any) []map[string]any {
	list, _ := value.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, v := range list {
		out = append(out, v.(map[string]any))
	}
	return out
}
