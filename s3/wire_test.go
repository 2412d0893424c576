package s3_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

// What goes over the wire is pinned, because stores break on headers that they
// do not know: newer checksums, trailers, chunked signatures.
func TestHeadersOfRequests(t *testing.T) {
	signed := []string{"Accept-Encoding", "Authorization", "User-Agent", "X-Amz-Content-Sha256", "X-Amz-Date"}
	for name, c := range map[string]struct {
		call  func(*s3.Store)
		extra []string
	}{
		"put":  {func(s *s3.Store) { _, _ = s.Put(t.Context(), "k", strings.NewReader("hello"), 5, "") }, []string{"Content-Length", "Content-Type"}},
		"part": {func(s *s3.Store) { _, _ = s.PutPart(t.Context(), "k", "up", 1, strings.NewReader("hello"), 5) }, []string{"Content-Length"}},
		"get": {func(s *s3.Store) {
			if body, _, err := s.Get(t.Context(), "k", s3.GetOptions{}); err == nil {
				body.Close()
			}
		}, nil},
		"stat":     {func(s *s3.Store) { _, _ = s.Stat(t.Context(), "k") }, []string{"X-Amz-Checksum-Mode"}},
		"delete":   {func(s *s3.Store) { _ = s.Delete(t.Context(), "k") }, nil},
		"multiple": {func(s *s3.Store) { _ = s.Delete(t.Context(), "k", "l") }, []string{"Content-Length", "Content-Md5"}},
		"create":   {func(s *s3.Store) { _, _ = s.CreateMultipart(t.Context(), "k", "") }, []string{"Content-Length", "Content-Type"}},
		"copy": {func(s *s3.Store) { _, _ = s.Copy(t.Context(), "k", "l", s3.CopyOptions{IfMatch: "x", Size: 1}) },
			[]string{"Content-Length", "Content-Type", "X-Amz-Copy-Source", "X-Amz-Copy-Source-If-Match", "X-Amz-Metadata-Directive"}},
	} {
		t.Run(name, func(t *testing.T) {
			stub := newStub(t, accept)
			c.call(stub.store(t))
			h := stub.headers(0).Clone()
			h.Del("Accept-Encoding") // Go's own, unsigned
			got := slices.Sorted(maps.Keys(h))
			want := append(slices.Clone(signed[1:]), c.extra...)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("headers are %q, want %q", got, want)
			}
			if strings.Contains(strings.ToLower(h.Get("Authorization")), "accept-encoding") {
				t.Errorf("Accept-Encoding is signed: %s", h.Get("Authorization"))
			}
			if strings.HasPrefix(h.Get("X-Amz-Content-Sha256"), "STREAMING") {
				t.Errorf("the body is chunked: %s", h.Get("X-Amz-Content-Sha256"))
			}
		})
	}
}

func TestTheBucketsLocationIsNeverAsked(t *testing.T) {
	stub := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("location") {
			refuse(w, http.StatusNotImplemented, "NotImplemented")
			return
		}
		accept(w, r)
	})
	store := stub.store(t)
	if _, err := store.Put(t.Context(), "k", strings.NewReader("hello"), 5, ""); err != nil {
		t.Fatal(err)
	}
	body, _, err := store.Get(t.Context(), "k", s3.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	body.Close()
	if err := store.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := stub.requests(); len(got) != 3 {
		t.Fatalf("requests were %q", got)
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	store := s3test.Open(t, s3test.Local(t))
	for i := range 20 {
		if _, err := store.Put(t.Context(), fmt.Sprintf("k%03d", i), strings.NewReader(strings.Repeat("x", 1<<16)), 1<<16, ""); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond)
	before := goleak.IgnoreCurrent()
	for i := range 500 {
		readSome(t, store, fmt.Sprintf("k%03d", i%20), i%2 == 0)
	}
	for range store.List(t.Context(), "", "") {
		break
	}
	// Connections that wait for the next request are kept on purpose.
	goleak.VerifyNone(t, before,
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// readSome reads an object, or leaves in the middle as a client would.
func readSome(t *testing.T, store *s3.Store, key string, leave bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, _, err := store.Get(ctx, key, s3.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if leave {
		_, _ = io.CopyN(io.Discard, body, 100)
		return
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		t.Fatal(err)
	}
}
