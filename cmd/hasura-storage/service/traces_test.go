package service

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver takes traces as a collector does.
type receiver struct {
	*httptest.Server

	mu    sync.Mutex
	spans []*otlp.Span
	about []string // attributes of the resource
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, request *http.Request) {
		body := io.Reader(request.Body)
		if request.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(body)
		}
		content, _ := io.ReadAll(body)
		var batch collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(content, &batch); err != nil {
			t.Error(err)
		}
		r.take(&batch)
		w.Header().Set("Content-Type", "application/x-protobuf")
	})
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(batch *collector.ExportTraceServiceRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range batch.GetResourceSpans() {
		for _, a := range of.GetResource().GetAttributes() {
			r.about = append(r.about, a.GetKey()+"="+a.GetValue().GetStringValue())
		}
		for _, scope := range of.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
}

// tree tells each span with its parents, outermost first.
func (r *receiver) tree() []string {
	byID := map[string]*otlp.Span{}
	for _, s := range r.spans {
		byID[string(s.GetSpanId())] = s
	}
	lines := make([]string, 0, len(r.spans))
	for _, s := range r.spans {
		line := s.GetName()
		for up := byID[string(s.GetParentSpanId())]; up != nil; up = byID[string(up.GetParentSpanId())] {
			line = up.GetName() + " > " + line
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// TestTracesGoThrough sends a request with a parent through the whole deployment
// to a receiver that speaks OTLP.
func TestTracesGoThrough(t *testing.T) {
	traces := startReceiver(t)
	d := deploy(t)
	photo, err := os.ReadFile("../../../actions/images/testdata/photo_12mp.jpg")
	if err != nil {
		t.Fatal(err)
	}
	stop := d.run()
	picture := d.upload(string(photo))
	stop()

	d.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = traces.URL
	stop = d.run()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, d.service+"/v1/files/"+picture+"?w=64", nil)
	for name, value := range map[string]string{
		"X-Hasura-Admin-Secret": d.env["HASURA_GRAPHQL_ADMIN_SECRET"], "X-Hasura-Role": "user", "X-Hasura-User-Id": owner,
		"Traceparent": "00-" + trace + "-" + parent + "-01",
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for _, path := range []string{"/healthz", "/readyz"} {
		d.ask("GET", path, nil, "", 200)
	}
	stop() // and so sends what there is

	const request = "GET /v1/files/{id}"
	want := []string{
		request,
		request + " > GetFiles", // as the admin: the row, and its version once more after the transform
		request + " > GetObject",
		request + " > PutObject",
		request + " > VisibleFiles",
		request + " > image transform",
	}
	if got := traces.tree(); !slices.Equal(got, want) {
		t.Errorf("spans are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range traces.spans {
		if got := hex.EncodeToString(s.GetTraceId()); got != trace {
			t.Errorf("%s is of trace %s", s.GetName(), got)
		}
		if s.GetName() == request && hex.EncodeToString(s.GetParentSpanId()) != parent {
			t.Errorf("the request's parent is %s", hex.EncodeToString(s.GetParentSpanId()))
		}
		for _, strange := range []string{picture, owner, "note.txt"} {
			if strings.Contains(s.String(), strange) {
				t.Errorf("%s tells %q: %s", s.GetName(), strange, s)
			}
		}
	}
	if !slices.Contains(traces.about, "service.name=hasura-storage") {
		t.Errorf("the resource is %q", traces.about)
	}
}
