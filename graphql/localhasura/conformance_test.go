package localhasura_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"hasura-storage/graphql/localhasura"
)

const secret = "conformance-secret"

// conformance is one file of testdata/conformance: what to set up, what to ask
// and what must be answered. testdata/conformance/README.md explains it.
type conformance struct {
	Fixture string            `yaml:"fixture"` // folder of testdata/fixtures; default "blog"
	Env     map[string]string `yaml:"env"`
	SQL     string            `yaml:"sql"` // run before the steps, not through Hasura
	Webhook []webhookAnswer   `yaml:"webhook"`
	Steps   []step            `yaml:"steps"`
	step    `yaml:",inline"`
}

// webhookAnswer is what the webhook at {{WEBHOOK}} answers, one per call; the
// last one is repeated.
type webhookAnswer struct {
	Status  int               `yaml:"status"`
	Headers map[string]string `yaml:"headers"`
	Body    any               `yaml:"body"`
	Text    *string           `yaml:"text"` // instead of body, as it is
}

type step struct {
	Path      string            `yaml:"path"` // default /v1/graphql
	Method    string            `yaml:"method"`
	Role      string            `yaml:"role"`
	Vars      map[string]string `yaml:"vars"` // session variables, without x-hasura-
	Headers   map[string]string `yaml:"headers"`
	NoSecret  bool              `yaml:"no_secret"`
	Query     string            `yaml:"query"`
	Variables map[string]any    `yaml:"variables"`
	Operation string            `yaml:"operation"`
	Body      any               `yaml:"body"` // instead of query
	Text      *string           `yaml:"text"` // instead of body, as it is
	Status    int               `yaml:"status"`
	Answer    any               `yaml:"answer"`      // the whole JSON body
	Data      any               `yaml:"data"`        // short for {data: …}
	Error     *wantError        `yaml:"error"`       // short for the one error
	Plain     *string           `yaml:"answer_text"` // the whole body, as it is
	Has       map[string]string `yaml:"answer_headers"`
	Rows      map[string]string `yaml:"rows"` // SQL → text that it must answer afterwards
	Sent      any               `yaml:"sent"` // what the webhook got last
	SentHas   map[string]string `yaml:"sent_headers"`
}

type wantError struct {
	Code    string `yaml:"code"`
	Message string `yaml:"message"`
	Path    string `yaml:"path"`
}

func TestConformance(t *testing.T) {
	parent := t
	files, err := filepath.Glob("testdata/conformance/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases found: %v", err)
	}
	shared := &servers{open: map[string]*localhasura.Server{}}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			c := readConformance(t, file)
			if c.reads() {
				for _, step := range c.Steps {
					step.run(t, shared.get(parent, c.Fixture), &webhook{})
				}
				return
			}
			runConformance(t, c)
		})
	}
}

// servers are those that cases share which change nothing.
type servers struct {
	mu   sync.Mutex
	open map[string]*localhasura.Server // by fixture
}

// get opens a server that lives as long as parent.
func (s *servers) get(parent *testing.T, fixture string) *localhasura.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[fixture] == nil {
		env := map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret, "WEBHOOK": "http://127.0.0.1:9"}
		s.open[fixture] = open(parent, os.DirFS(filepath.Join("testdata/fixtures", fixture)), func(name string) string { return env[name] })
	}
	return s.open[fixture]
}

// reads reports whether a case leaves a server as it was and needs none of its
// own.
func (c conformance) reads() bool {
	for _, s := range c.Steps {
		if strings.Contains(s.Query, "mutation") || s.Query == "" || s.Path != "" || s.Sent != nil || s.SentHas != nil {
			return false
		}
	}
	return c.SQL == "" && len(c.Env) == 0 && len(c.Webhook) == 0
}

func readConformance(t *testing.T, file string) conformance {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := conformance{Fixture: "blog"}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if len(c.Steps) == 0 {
		c.Steps = []step{c.step}
	}
	return c
}

// webhook is the server behind {{WEBHOOK}}.
type webhook struct {
	mu      sync.Mutex
	answers []webhookAnswer
	body    []byte
	headers http.Header
}

// ServeHTTP notes the request and gives the next answer.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.body, _ = io.ReadAll(r.Body)
	h.headers = r.Header.Clone()
	if len(h.answers) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	a := h.answers[0]
	if len(h.answers) > 1 {
		h.answers = h.answers[1:]
	}
	a.write(w)
}

func (a webhookAnswer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	if a.Text != nil {
		_, _ = io.WriteString(w, *a.Text)
		return
	}
	_ = json.NewEncoder(w).Encode(a.Body)
}

func runConformance(t *testing.T, c conformance) {
	t.Helper()
	hook := &webhook{answers: c.Webhook}
	hooks := httptest.NewServer(hook)
	t.Cleanup(hooks.Close)
	fixture := os.DirFS(filepath.Join("testdata/fixtures", c.Fixture))
	env := map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret, "WEBHOOK": hooks.URL}
	maps.Copy(env, c.Env)
	s := open(t, fixture, func(name string) string { return env[name] })
	if c.SQL != "" {
		if err := s.Exec(t.Context(), c.SQL); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range c.Steps {
		step.run(t, s, hook)
	}
}

func (s step) run(t *testing.T, server *localhasura.Server, hook *webhook) {
	t.Helper()
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, s.request(t))
	s.judge(t, w)
	for query, want := range s.Rows {
		got, err := server.Query(t.Context(), query)
		if err != nil || got != want {
			t.Errorf("%s: got %s (%v), want %s", query, got, err, want)
		}
	}
	s.judgeWebhook(t, hook)
}

func (s step) request(t *testing.T) *http.Request {
	t.Helper()
	body := s.Body
	if body == nil {
		m := map[string]any{"query": s.Query}
		if s.Variables != nil {
			m["variables"] = s.Variables
		}
		if s.Operation != "" {
			m["operationName"] = s.Operation
		}
		body = m
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if s.Text != nil {
		raw = []byte(*s.Text)
	}
	method, path := s.Method, s.Path
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/v1/graphql"
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(raw))
	s.header(r.Header)
	return r
}

func (s step) header(h http.Header) {
	if !s.NoSecret {
		h.Set("X-Hasura-Admin-Secret", secret)
	}
	if s.Role != "" {
		h.Set("X-Hasura-Role", s.Role)
	}
	for name, value := range s.Vars {
		h.Set("X-Hasura-"+name, value)
	}
	for name, value := range s.Headers {
		h.Set(name, value)
	}
}

func (s step) judge(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	want := s.Status
	if want == 0 {
		want = http.StatusOK
	}
	if w.Code != want {
		t.Errorf("status %d, want %d", w.Code, want)
	}
	for name, value := range s.Has {
		if got := w.Header().Get(name); got != value {
			t.Errorf("header %s: %q, want %q", name, got, value)
		}
	}
	switch answer := s.wanted(); {
	case s.Plain != nil:
		if got := w.Body.String(); got != *s.Plain {
			t.Errorf("got  %s\nwant %s", got, *s.Plain)
		}
	case answer != nil:
		equalJSON(t, withoutInternal(w.Body.Bytes()), answer)
	}
}

func (s step) wanted() any {
	switch {
	case s.Error != nil:
		return map[string]any{"errors": []any{map[string]any{
			"message": s.Error.Message, "extensions": map[string]any{"code": s.Error.Code, "path": s.Error.Path}}}}
	case s.Data != nil:
		return map[string]any{"data": s.Data}
	}
	return s.Answer
}

// withoutInternal drops the part of errors that only the admin sees: SQL and
// addresses, which differ from Hasura's.
func withoutInternal(body []byte) any {
	v := decode(body)
	strip := func(v any) {
		o, _ := v.(map[string]any)
		errs, _ := o["errors"].([]any)
		for _, e := range errs {
			ext, _ := e.(map[string]any)["extensions"].(map[string]any)
			delete(ext, "internal")
		}
	}
	strip(v)
	if list, ok := v.([]any); ok {
		for _, item := range list {
			strip(item)
		}
	}
	return v
}

func (s step) judgeWebhook(t *testing.T, hook *webhook) {
	t.Helper()
	hook.mu.Lock()
	defer hook.mu.Unlock()
	if s.Sent != nil {
		equalJSON(t, decode(hook.body), s.Sent)
	}
	for name, want := range s.SentHas {
		if got := hook.headers.Get(name); got != want {
			t.Errorf("the webhook got header %s: %q, want %q", name, got, want)
		}
	}
}

func decode(raw []byte) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return v
}

func equalJSON(t *testing.T, got, want any) {
	t.Helper()
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, decode(raw)) {
		text, _ := json.Marshal(got)
		t.Errorf("\ngot  %s\nwant %s", text, raw)
	}
}
