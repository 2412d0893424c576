package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"hasura-storage/actions"
	"hasura-storage/graphql"
	"hasura-storage/graphql/localhasura"
	"hasura-storage/handlers"
	metadata "hasura-storage/hasura-metadata"
	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

const (
	stackSecret = "the-admin-secret-of-the-stack"
	stackJWTKey = "a key for tests that is at least thirty-two bytes long"
	ownerID     = "11111111-1111-4111-8111-111111111111"
	strangerID  = "22222222-2222-4222-8222-222222222222"
)

// restStack is the REST interface over HTTP on the real store and the local
// Hasura. It writes down which operations ran as whom and which calls the store got.
type restStack struct {
	t       testing.TB
	URL     string // of the service, with its prefix
	hasura  *localhasura.Server
	service *actions.Storage
	objects *s3.Store // past the recorder
	now     *shifted

	hasuraURL string                 // past the recorder
	callers   map[string]http.Header // by name: restCallers

	mu         sync.Mutex
	operations []string // "VisibleFiles as user"
	calls      []string // "GET object"
}

// shifted is the real clock, moved on.
type shifted struct {
	mu sync.Mutex
	by time.Duration
}

func (c *shifted) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.by)
}

func (c *shifted) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by += d
}

// startREST brings up a fresh stack with the starter's permissions; change may
// alter the service's options and the routes'.
func startREST(tb testing.TB, change func(*actions.Options, *handlers.Options)) *restStack {
	tb.Helper()
	s := &restStack{t: tb, now: &shifted{}, callers: restCallers}
	listener := httptest.NewUnstartedServer(nil)
	hasura := s.startHasura(s.relayActions(listener))
	store := s3test.Start(tb)
	s.objects = s3test.Open(tb, store)
	store.Endpoint = s.recordStore(store.Endpoint)
	client, err := graphql.New(graphql.Options{Endpoint: hasura, AdminSecret: stackSecret, Transport: &hasuraRecorder{stack: s}})
	if err != nil {
		tb.Fatal(err)
	}
	service := actions.Options{
		Hasura: client, Store: s3test.Open(tb, store), Log: zaptest.NewLogger(tb, zaptest.Level(zap.WarnLevel)), RootFolder: "files",
		PublicURL: "http://" + listener.Listener.Addr().String() + "/v1", SigningKeys: [][]byte{[]byte("a key of at least thirty-two bytes")}, Now: s.now.Now,
		FileCache: -1, // so that calls of the store tell what was read
	}
	routes := handlers.Options{Log: zap.NewNop(), Secret: secret, Prefix: "/v1", Version: "1.2.3", CORS: handlers.CORS{Origins: []string{"*"}}, AdminSecret: stackSecret}
	if change != nil {
		change(&service, &routes)
	}
	if s.service, err = actions.New(service); err != nil {
		tb.Fatal(err)
	}
	routes.Files = s.service
	if service.Proxied {
		routes.Receiver = s.service
	}
	listener.Config.Handler = handlers.New(s.service, routes)
	listener.Start()
	s.URL = listener.URL + "/v1"
	tb.Cleanup(func() {
		listener.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = s.service.Close(ctx)
	})
	return s
}

// relayActions lets actions through to the service, and no event: each deletion
// would be worked off twice, at some time.
func (s *restStack) relayActions(service *httptest.Server) string {
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/actions/") {
			http.NotFound(w, r)
			return
		}
		service.Config.Handler.ServeHTTP(w, r)
	}))
	s.t.Cleanup(relay.Close)
	return relay.URL
}

// startHasura returns the address of a Hasura that calls the service at storage.
func (s *restStack) startHasura(storage string) string {
	s.t.Helper()
	project, err := metadata.WithStarter()
	if err != nil {
		s.t.Fatal(err)
	}
	folder, err := fs.Sub(project, "metadata")
	if err != nil {
		s.t.Fatal(err)
	}
	env := map[string]string{
		"HASURA_GRAPHQL_ADMIN_SECRET": stackSecret, "HASURA_GRAPHQL_UNAUTHORIZED_ROLE": "public",
		"HASURA_GRAPHQL_JWT_SECRET": `{"type":"HS256","key":"` + stackJWTKey + `"}`,
		"HASURA_STORAGE_URL":        storage, "HASURA_STORAGE_SECRET": secret,
	}
	s.hasura, err = localhasura.Open(s.t.Context(), localhasura.Config{
		Metadata: folder, Migrations: project, Env: func(name string) string { return env[name] }, Now: s.now.Now, EventInterval: time.Hour,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.sql(`INSERT INTO "storage.buckets" (id, cache_control) VALUES ('public', 'public, max-age=60, s-maxage=600')`)
	listener := httptest.NewServer(s.hasura.Handler())
	s.t.Cleanup(func() {
		listener.Close()
		_ = s.hasura.Close()
	})
	s.hasuraURL = listener.URL
	return listener.URL
}

// sql runs past Hasura.
func (s *restStack) sql(script string) {
	s.t.Helper()
	if err := s.hasura.Exec(s.t.Context(), script); err != nil {
		s.t.Fatal(err)
	}
}

// hasuraRecorder notes who asks Hasura what.
type hasuraRecorder struct{ stack *restStack }

func (h *hasuraRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var operation struct{ OperationName string }
	_ = json.Unmarshal(body, &operation)
	as := "the sender"
	if r.Header.Get("X-Hasura-Admin-Secret") == stackSecret && r.Header.Get("Authorization") == "" {
		as = "admin"
	}
	h.stack.mu.Lock()
	h.stack.operations = append(h.stack.operations, operation.OperationName+" as "+as)
	h.stack.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// recordStore stands before the store and notes what is asked of it.
func (s *restStack) recordStore(endpoint string) string {
	s.t.Helper()
	target, err := url.Parse("http://" + strings.TrimPrefix(endpoint, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.calls = append(s.calls, r.Method+" "+kindOfKey(r.URL.Path))
		s.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	s.t.Cleanup(listener.Close)
	return listener.URL
}

func kindOfKey(path string) string {
	for _, kind := range []string{"/files-staging/", "/files-variants/", "/files/"} {
		if strings.Contains(path, kind) {
			return map[string]string{"/files-staging/": "staging", "/files-variants/": "variant", "/files/": "object"}[kind]
		}
	}
	return "bucket"
}

// forget empties the notes, once what goes on behind uploads that have ended is over.
func (s *restStack) forget() {
	// An upload is looked at again an hour after its end, once it is settled.
	const unsettled = `SELECT count(*) FROM "storage.uploads" WHERE state <> 'open' AND julianday(next_check_at) - julianday(expires_at) < 0.9 / 24`
	for range 100 {
		if s.hasura == nil { // it runs elsewhere
			break
		}
		if left, err := s.hasura.Query(s.t.Context(), unsettled); err != nil || left == "0" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations, s.calls = nil, nil
}

// noted returns what was noted since, sorted, since some things happen at once.
func (s *restStack) noted() (operations, calls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.operations)), slices.Sorted(slices.Values(s.calls))
}

// The callers of the permission matrix.
var restCallers = map[string]http.Header{
	"admin":        {"X-Hasura-Admin-Secret": {stackSecret}},
	"owner":        {"Authorization": {"Bearer " + tokenFor(ownerID, time.Hour)}},
	"stranger":     {"Authorization": {"Bearer " + tokenFor(strangerID, time.Hour)}},
	"anonymous":    {},
	"expired":      {"Authorization": {"Bearer " + tokenFor(ownerID, -time.Hour)}},
	"bad token":    {"Authorization": {"Bearer " + tokenFor(ownerID, time.Hour) + "x"}},
	"wrong secret": {"X-Hasura-Admin-Secret": {"a guess"}},
	"claims admin": {"X-Hasura-Role": {"admin"}},
}

func tokenFor(user string, life time.Duration) string {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"exp": time.Now().Add(life).Unix(),
		"https://hasura.io/jwt/claims": map[string]any{
			"x-hasura-allowed-roles": []string{"user"}, "x-hasura-default-role": "user", "x-hasura-user-id": user,
		},
	}).SignedString([]byte(stackJWTKey))
	if err != nil {
		panic(err)
	}
	return token
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body []byte
}

// json decodes the body into a map.
func (a answer) json(tb testing.TB) map[string]any {
	tb.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		tb.Fatalf("%s is not JSON: %v", a.body, err)
	}
	return v
}

// problem returns code and message of an error's body.
func (a answer) problem() (code, message string) {
	var v struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(a.body, &v)
	return v.Error.Code, v.Error.Message
}

// send makes a request as one of the callers.
func (s *restStack) send(as, method, path string, header http.Header, body io.Reader) answer {
	s.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = s.URL + path
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, from := range []http.Header{s.callers[as], header} {
		maps.Copy(r.Header, from)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response, content}
}

// part is one part of a form that a test sends.
type part struct{ field, file, kind, value string }

// formOf writes a form, and returns its Content-Type and body.
func formOf(tb testing.TB, parts ...part) (http.Header, io.Reader) {
	tb.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, p.field)
		if p.file != "" {
			disposition += fmt.Sprintf(`; filename="%s"`, p.file)
		}
		h.Set("Content-Disposition", disposition)
		if p.kind != "" {
			h.Set("Content-Type", p.kind)
		}
		out, err := w.CreatePart(h)
		if err != nil {
			tb.Fatal(err)
		}
		_, _ = io.WriteString(out, p.value)
	}
	_ = w.Close()
	return http.Header{"Content-Type": {w.FormDataContentType()}}, &b
}

// upload stores one file and returns its row as the answer tells it.
func (s *restStack) upload(as string, parts ...part) actions.StoredFile {
	s.t.Helper()
	header, body := formOf(s.t, parts...)
	a := s.send(as, http.MethodPost, "/files", header, body)
	var out struct{ ProcessedFiles []actions.StoredFile }
	if err := json.Unmarshal(a.body, &out); err != nil || a.StatusCode != http.StatusCreated || len(out.ProcessedFiles) != 1 {
		s.t.Fatalf("upload: %d %s", a.StatusCode, a.body)
	}
	return out.ProcessedFiles[0]
}
