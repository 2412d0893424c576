package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

const (
	secret = "the-webhook-secret"
	fileID = "6dd1e6a6-0a0e-4c0a-9d6e-3f6f6c2f8a01"
)

// stub is a service that writes down what it is asked, and answers with err or
// with content.
type stub struct {
	err     error
	content actions.Content
	panics  any
	calls   []string
}

func (s *stub) called(format string, args ...any) error {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
	if s.panics != nil {
		panic(s.panics)
	}
	return s.err
}

func (s *stub) CreateUpload(_ context.Context, as actions.Session, in actions.CreateUpload) (actions.Upload, error) {
	err := s.called("create %s %d as %s", in.Name, in.Size, as.Role())
	return actions.Upload{UploadID: "u", FileID: fileID, Method: "PUT", Headers: []actions.Header{}}, err
}

func (s *stub) CompleteUpload(_ context.Context, as actions.Session, in actions.CompleteUpload) (actions.File, error) {
	return actions.File{ID: fileID}, s.called("complete %s %d as %s", in.UploadID, len(in.Parts), as.Role())
}

func (s *stub) AbortUpload(_ context.Context, as actions.Session, in actions.AbortUpload) (actions.Aborted, error) {
	return actions.Aborted{UploadID: in.UploadID, Aborted: true}, s.called("abort %s as %s", in.UploadID, as.Role())
}

func (s *stub) DeleteFiles(_ context.Context, as actions.Session, in actions.DeleteFiles) (actions.Deleted, error) {
	return actions.Deleted{Deleted: in.IDs, NotFound: []string{}}, s.called("delete %v as %s", in.IDs, as.Role())
}

func (s *stub) Download(_ context.Context, as actions.Session, in actions.GetDownload) (actions.Download, error) {
	width := 0
	if in.Image != nil && in.Image.Width != nil {
		width = *in.Image.Width
	}
	err := s.called("download %s %d as %s", in.ID, width, as.Role())
	return actions.Download{ID: in.ID, URL: "https://store/x?a=1&b=2", Srcset: []actions.Source{}}, err
}

func (s *stub) Downloads(_ context.Context, as actions.Session, in actions.GetDownloads) ([]actions.Download, error) {
	return []actions.Download{}, s.called("downloads %v as %s", in.IDs, as.Role())
}

func (s *stub) CreateUploads(_ context.Context, as actions.Session, in actions.CreateUploads) ([]actions.Upload, error) {
	return []actions.Upload{}, s.called("create %d files as %s", len(in.Files), as.Role())
}

func (s *stub) ReplaceFile(_ context.Context, as actions.Session, in actions.ReplaceFile) (actions.Upload, error) {
	err := s.called("replace %s %d as %s", in.ID, in.Size, as.Role())
	return actions.Upload{UploadID: "u", FileID: in.ID, Method: "PUT", Headers: []actions.Header{}}, err
}

func (s *stub) UploadParts(_ context.Context, as actions.Session, in actions.ListParts) (actions.Parts, error) {
	return actions.Parts{UploadID: in.UploadID, FileID: fileID}, s.called("parts %s %v as %s", in.UploadID, in.PartNumbers, as.Role())
}

func (s *stub) CopyFile(_ context.Context, as actions.Session, in actions.CopyFile) (actions.File, error) {
	return actions.File{ID: fileID}, s.called("copy %s as %s", in.ID, as.Role())
}

func (s *stub) FileGone(_ context.Context, event actions.FileEvent) error {
	return s.called("gone %s", event.ID)
}

func (s *stub) Sweep(context.Context) (actions.Swept, error) {
	return actions.Swept{Completed: 2, Garbage: 3}, s.called("sweep")
}

func (s *stub) Reconcile(context.Context) (actions.Reconciling, error) {
	return actions.Reconciling{Started: true}, s.called("reconcile")
}

func (s *stub) SignedContent(_ context.Context, id, path string, query url.Values, _ string) (actions.Content, error) {
	return s.content, s.called("signed %s %s %s", id, path, query.Encode())
}

func (s *stub) Ready(context.Context) error { return s.called("ready") }

// file is content of the given text.
func file(text string) actions.Content {
	return actions.Content{
		ContentType: "image/jpeg", ETag: `"abc"`, CacheControl: "max-age=60", Disposition: `inline; filename="a.jpg"`,
		LastModified: time.Date(2024, 5, 2, 10, 11, 12, 0, time.UTC), Size: int64(len(text)),
		Open: func(_ context.Context, offset, length int64) (actions.Body, error) {
			text := text[offset:]
			if length > 0 {
				text = text[:length]
			}
			return body{strings.NewReader(text)}, nil
		},
	}
}

// body is a text that never stands still.
type body struct{ *strings.Reader }

func (body) Close() error { return nil }
func (body) Stop()        {}

// options are what most cases run with.
func options() handlers.Options {
	return handlers.Options{Log: zap.NewNop(), Secret: secret, Prefix: "/v1", Version: "1.2.3", CORS: handlers.CORS{Origins: []string{"*"}}}
}

// scenario is one request and everything that it must and must not bring about.
type scenario struct {
	service stub
	options func(*handlers.Options)

	method, path, body string            // method "" is POST with a body, else GET
	headers            map[string]string // beside the right secret; "" takes one away

	status  int
	has     []string          // in the answer's body
	lacks   []string          // nowhere in body or headers
	answers map[string]string // headers; "" means absent
	calls   []string          // of the service, all of them
	logs    []string          // in the one line of the log
	unsaid  []string          // nowhere in the log
}

func (sc scenario) run(t *testing.T) {
	t.Helper()
	core, lines := observer.New(zap.DebugLevel)
	o := options()
	o.Log = zap.New(core)
	if sc.options != nil {
		sc.options(&o)
	}
	w := httptest.NewRecorder()
	handlers.New(&sc.service, o).ServeHTTP(w, sc.request())
	sc.checkAnswer(t, w)
	if !slices.Equal(sc.service.calls, sc.calls) {
		t.Errorf("calls are %q, want %q", sc.service.calls, sc.calls)
	}
	sc.checkLog(t, lines.All())
}

func (sc scenario) request() *http.Request {
	method := sc.method
	if method == "" {
		method = map[bool]string{true: http.MethodPost, false: http.MethodGet}[sc.body != ""]
	}
	r := httptest.NewRequest(method, sc.path, strings.NewReader(sc.body))
	r.Header.Set("X-Hasura-Storage-Secret", secret)
	for name, value := range sc.headers {
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
	return r
}

func (sc scenario) checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	if w.Code != sc.status {
		t.Errorf("status = %d, want %d: %s", w.Code, sc.status, body)
	}
	for _, text := range sc.has {
		if !strings.Contains(body, text) {
			t.Errorf("the body lacks %q: %s", text, body)
		}
	}
	for _, text := range sc.lacks {
		if strings.Contains(body+fmt.Sprint(w.Header()), text) {
			t.Errorf("the answer has %q: %s %v", text, body, w.Header())
		}
	}
	for name, value := range sc.answers {
		if got := w.Header().Get(name); got != value {
			t.Errorf("header %s = %q, want %q", name, got, value)
		}
	}
}

func (sc scenario) checkLog(t *testing.T, lines []observer.LoggedEntry) {
	t.Helper()
	if len(lines) != 1 {
		t.Fatalf("the log has %d lines, want one", len(lines))
	}
	text := flatten(t, lines[0])
	for _, want := range sc.logs {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q: %s", want, text)
		}
	}
	for _, secret := range append(sc.unsaid, secret) {
		if strings.Contains(text, secret) {
			t.Errorf("the log tells %q: %s", secret, text)
		}
	}
}

// flatten is a line as it is written in production.
func flatten(t *testing.T, line observer.LoggedEntry) string {
	t.Helper()
	buf, err := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg", LevelKey: "level", EncodeLevel: zapcore.LowercaseLevelEncoder, EncodeDuration: zapcore.StringDurationEncoder}).
		EncodeEntry(line.Entry, line.Context)
	if err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func runAll(t *testing.T, scenarios map[string]scenario) {
	t.Helper()
	for name, sc := range scenarios {
		t.Run(name, sc.run)
	}
}
