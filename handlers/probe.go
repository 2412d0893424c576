package handlers

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// healthz says that the process lives; nhost's clients expect these two letters.
func healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, "ok")
}

func (s *server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		BuildVersion string `json:"buildVersion"`
	}{s.Version})
}

// readiness asks Hasura and the store whether they answer. Anybody may ask us,
// so an answer is good for a second, and who comes meanwhile waits for it.
type readiness struct {
	ask func(context.Context) error

	mu    sync.Mutex
	asked time.Time
	err   error
}

const (
	readyTime = 5 * time.Second // to wait for both
	readyLife = time.Second
)

func (p *readiness) serve(w http.ResponseWriter, r *http.Request) {
	if err := p.check(r.Context()); err != nil {
		fail(w, r, http.StatusServiceUnavailable, err)
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Ready bool `json:"ready"`
	}{true})
}

// check asks on after the one who asked has gone: others wait for the answer.
func (p *readiness) check(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < readyLife {
		return p.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTime)
	defer cancel()
	p.err = p.ask(ctx)
	p.asked = time.Now()
	return p.err
}

// probe reports whether a route is asked every few seconds by a machine.
func probe(route string) bool {
	return strings.HasSuffix(route, "/healthz") || strings.HasSuffix(route, "/readyz")
}
