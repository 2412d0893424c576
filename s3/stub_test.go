package s3_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hasura-storage/s3"
)

// stub is a store that answers as a test says and remembers what was asked.
type stub struct {
	*httptest.Server
	mu    sync.Mutex
	seen  []*http.Request
	reply http.HandlerFunc
}

// newStub answers with reply, after the request is noted. Bodies are left to reply.
func newStub(t *testing.T, reply http.HandlerFunc) *stub {
	t.Helper()
	s := &stub{reply: reply}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.mu.Unlock()
	s.reply(w, r)
}

// requests are what came so far, as "METHOD path?query".
func (s *stub) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]string, 0, len(s.seen))
	for _, r := range s.seen {
		all = append(all, r.Method+" "+r.URL.RequestURI())
	}
	return all
}

func (s *stub) headers(i int) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[i].Header
}

func (s *stub) options() s3.Options {
	return s3.Options{Endpoint: s.URL, Bucket: "bucket", AccessKey: "key", SecretKey: "secret"}
}

func (s *stub) store(t *testing.T) *s3.Store {
	t.Helper()
	return open(t, s.options())
}

func open(t *testing.T, o s3.Options) *s3.Store {
	t.Helper()
	store, err := s3.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// refuse answers as S3 does when something is wrong.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>stub says %s</Message></Error>", code, code)
}

// accept takes any upload, and answers reads with an object of five bytes.
func accept(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("ETag", `"tag"`)
	w.Header().Set("Last-Modified", "Tue, 15 Nov 1994 12:45:26 GMT")
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, "hello")
	}
}

// once answers the first request with first and all others with then.
func once(first, then http.HandlerFunc) http.HandlerFunc {
	var answered atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) {
		if !answered.Swap(true) {
			first(w, r)
			return
		}
		then(w, r)
	}
}

func wantPrefix(t *testing.T, got, want string) {
	t.Helper()
	if !strings.HasPrefix(got, want) {
		t.Fatalf("got %q, want it to begin with %q", got, want)
	}
}
