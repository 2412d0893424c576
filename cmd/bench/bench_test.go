package main

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// environment answers like os.Getenv.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		getenv func(string) string
		wrong  string // "" is right
	}{
		"nothing at all":           {environment(), ""},
		"everything":               {environment("DURATION", "500ms", "CONNECTIONS", "10", "CASES", "small,large", "PROFILE", "article", "ROWS", "10", "BUCKETS", "10"), ""},
		"a target":                 {environment("TARGET", "http://127.0.0.1:8000/v1/", "HEADERS", "X-A: 1|X-B: 2"), ""},
		"a duration without unit":  {environment("DURATION", "2"), "DURATION must be"},
		"a duration of nothing":    {environment("DURATION", "1ms"), "DURATION must be"},
		"too many connections":     {environment("CONNECTIONS", "1000000"), "CONNECTIONS must be"},
		"a profile that is none":   {environment("PROFILE", "fast"), "PROFILE must be"},
		"a target that is no URL":  {environment("TARGET", "localhost:8000"), "TARGET must be"},
		"a header without a colon": {environment("HEADERS", "X-A"), "HEADERS must hold"},
		"an unknown Hasura":        {environment("HASURA", "fast"), "HASURA must be"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSettings(tc.getenv)
			if tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("err = %v, want %q in it", err, tc.wrong)
			}
		})
	}
}

// server answers with a body of some size and counts requests.
func server(t *testing.T, status int, pause time.Duration) (addr string, served *atomic.Int64) {
	t.Helper()
	served = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		time.Sleep(pause)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), served
}

func TestPlans(t *testing.T) {
	for name, tc := range map[string]struct {
		plan        plan
		status      int
		least, most int // requests
		failed      bool
	}{
		"as fast as answers come":    {plan{Workers: 4, Duration: 200 * time.Millisecond}, 200, 20, 1 << 20, false},
		"at a fixed rate":            {plan{Workers: 4, Duration: 500 * time.Millisecond, Rate: 100}, 200, 30, 51, false},
		"each request only once":     {plan{Workers: 4, Duration: 5 * time.Second, Once: true}, 200, 3, 3, false},
		"several at once":            {plan{Workers: 1, Burst: 3, Duration: 200 * time.Millisecond}, 200, 3, 1 << 20, false},
		"a server that only refuses": {plan{Workers: 2, Duration: 100 * time.Millisecond}, 503, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			addr, served := server(t, tc.status, time.Millisecond)
			tc.plan.Addr = addr
			tc.plan.Requests = [][]byte{get(addr, "/a", nil), get(addr, "/b", nil), get(addr, "/c", nil)}
			o := tc.plan.run(t.Context())
			if o.Requests < tc.least || o.Requests > tc.most || (o.Failed > 0) != tc.failed {
				t.Errorf("%d requests and %d failures (%s), want %d to %d", o.Requests, o.Failed, o.Failure, tc.least, tc.most)
			}
			if int(served.Load()) < o.Requests || o.Bytes != int64(o.Requests)*1000 {
				t.Errorf("%d were served, %d bytes arrived", served.Load(), o.Bytes)
			}
		})
	}
}

// TestAStallIsNotHidden: at a fixed rate the requests that had to wait for a
// busy connection count from when they were due.
func TestAStallIsNotHidden(t *testing.T) {
	addr, _ := server(t, http.StatusOK, 50*time.Millisecond)
	p := plan{Addr: addr, Requests: [][]byte{get(addr, "/", nil)}, Workers: 1, Rate: 100, Duration: 500 * time.Millisecond}
	o := p.run(t.Context())
	if last := o.percentile(100); last < 200*time.Millisecond {
		t.Errorf("the longest wait is %s, though requests pile up", last)
	}
}

func TestPercentiles(t *testing.T) {
	o := outcome{}
	for i := range 100 {
		o.Waits = append(o.Waits, time.Duration(i))
	}
	for p, want := range map[int]time.Duration{0: 0, 50: 50, 95: 95, 99: 99, 100: 99} {
		if got := o.percentile(p); got != want {
			t.Errorf("percentile %d is %d, want %d", p, got, want)
		}
	}
	if (&outcome{}).percentile(50) != 0 {
		t.Error("nothing has a median")
	}
}

func TestTimesAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1500 * time.Nanosecond: "1.5µs", 12 * time.Millisecond: "12ms", 1234 * time.Millisecond: "1.23s", 345678 * time.Microsecond: "346ms",
	} {
		if got := short(d); got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
	}
}

func TestPlotsAreXML(t *testing.T) {
	r := &report{results: []result{{Case: "small", Flat: numbers{CPU: time.Millisecond}, Floor: &numbers{CPU: time.Microsecond}}, {Case: "upload"}}}
	for name, drawing := range map[string]string{
		"bars":           r.bars(),
		"a curve":        curve("memory", "MB", []point{{0, 1}, {1, 2}, {2, 1.5}}),
		"an empty curve": curve("memory", "MB", nil),
	} {
		decoder := xml.NewDecoder(strings.NewReader(drawing))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
}
