package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"hasura-storage/graphql"
	"hasura-storage/handlers"
)

func TestOutcomes(t *testing.T) {
	gone := fmt.Errorf("asking: %w", context.Canceled)
	for _, c := range []struct{ got, want string }{
		{asked(nil), "ok"}, {asked(graphql.ErrNotAllowed), "refused"}, {asked(graphql.ErrUnavailable), "unavailable"},
		{asked(graphql.ErrUnknownOutcome), "unavailable"}, {asked(errors.Join(graphql.ErrUnavailable, gone)), "cancelled"},
		{called(&http.Response{StatusCode: http.StatusPartialContent}, nil), "ok"}, {called(&http.Response{StatusCode: http.StatusNotFound}, nil), "refused"},
		{called(&http.Response{StatusCode: http.StatusServiceUnavailable}, nil), "unavailable"}, {called(nil, errors.New("refused")), "unavailable"}, {called(nil, gone), "cancelled"},
		{worked(nil), "ok"}, {worked(gone), "cancelled"}, {worked(errors.New("bytes")), "failed"}, {class(0), "none"}, {class(4), "4xx"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func counting(tb testing.TB) Hooks {
	tb.Helper()
	all, err := New(tb.Context(), Options{Metrics: true})
	if err != nil {
		tb.Fatal(err)
	}
	return all.Hooks()
}

// TestCountingIsCheap: what is on the way of every download allocates nothing
// but the function that is called at its end.
func TestCountingIsCheap(t *testing.T) {
	watch := counting(t)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	a := handlers.Answered{Method: "GET", Route: "/v1/files/{id}", Status: 200, Bytes: 4096, Took: time.Millisecond}
	if n := testing.AllocsPerRun(100, func() {
		_, ended := watch.Request(r)
		ended(a)
	}); n > 1 {
		t.Errorf("a request costs %v allocations", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	watch := counting(b)
	r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
	a := handlers.Answered{Method: "GET", Route: "/v1/files/{id}", Status: 200, Bytes: 4096, Took: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		_, ended := watch.Request(r)
		ended(a)
	}
}
