package telemetry

import (
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// TestTracesArePassedOn: Hasura and the store learn of the trace that a request
// belongs to, and only of that.
func TestTracesArePassedOn(t *testing.T) {
	all, err := New(t.Context(), Options{Traces: "http://127.0.0.1:1", Log: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	watch := all.Hooks()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/files/x", nil)
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00") // not sampled: nothing is sent
	ctx, _ := watch.Request(r)

	toHasura := http.Header{}
	watch.Hasura(ctx, "GetFiles", toHasura)(nil)
	toStore, _ := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	watch.Store("GetObject", toStore)(&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil)
	for _, header := range []http.Header{toHasura, toStore.Header} {
		if got := header.Get("Traceparent"); !strings.HasPrefix(got, "00-4bf92f3577b34da6a3ce929d0e0e4736-") {
			t.Errorf("traceparent is %q", got)
		}
	}

	alone := http.Header{}
	watch.Hasura(t.Context(), "GetFiles", alone)(nil)
	if len(alone) > 0 {
		t.Errorf("what no request asked for has %v", alone)
	}
	if err := all.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNothingIsWatchedUnlessAskedFor(t *testing.T) {
	all, err := New(t.Context(), Options{})
	if all != nil || err != nil {
		t.Fatalf("%v, %v", all, err)
	}
	if watch := all.Hooks(); watch.Request != nil || watch.Hasura != nil || watch.Store != nil || watch.Transform != nil {
		t.Errorf("hooks are %v", watch)
	}
	if err := all.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
