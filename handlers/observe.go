package handlers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hasura-storage/actions"
)

// surface is all routes, and gives each request an id and writes its one line.
type surface struct {
	*chi.Mux
	server *server
}

// routings are reused, as chi does it where it makes them itself.
var routings = sync.Pool{New: func() any { return chi.NewRouteContext() }}

// ServeHTTP serves one request. What holds for every answer is said here: no
// browser is to guess types.
func (s surface) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	routing, _ := routings.Get().(*chi.Context)
	defer routings.Put(routing)
	routing.Reset()
	routing.Routes = s.Mux
	out := &writer{ResponseWriter: w, record: record{
		Context: r.Context(), routing: routing, begun: time.Now(), id: requestID(r.Header.Get("X-Request-Id")), stall: s.server.Stall,
	}}
	var ended func(Answered)
	if s.server.Watch != nil {
		out.Context, ended = s.server.Watch(r)
	}
	h := w.Header()
	h["X-Request-Id"] = []string{out.id}
	h["X-Content-Type-Options"] = nosniff
	r = r.WithContext(&out.record) // a copy: the server goes on looking at the body that it made
	if r.Body != nil && r.Body != http.NoBody {
		out.body = &body{ReadCloser: r.Body}
		r.Body = out.body
	}
	defer func() { // an aborted request has its line too
		done := line{r, &out.record}
		s.server.write(done)
		if ended != nil {
			ended(done.answered())
		}
	}()
	s.Mux.ServeHTTP(out, r)
	if out.status == 0 {
		out.leave()
	}
}

var nosniff = []string{"nosniff"} // shared by all answers: nobody changes it

// saneID is what a proxy in front may call a request, and what a role is called.
// Anything else could forge lines in somebody's log.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func requestID(given string) string {
	if given != "" && saneID.MatchString(given) {
		return given
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	var text [2 * len(b)]byte
	hex.Encode(text[:], b[:])
	return string(text[:])
}

// line is how the record of a request is written.
type line struct {
	*http.Request // as it was routed
	*record
}

// write writes what happened: no address, query, name, token or variable, since
// any of them may be a secret.
func (s *server) write(l line) {
	if entry := s.Log.Check(l.level(), "request"); entry != nil {
		entry.Write(zap.Inline(l)) // a list of fields would be a kilobyte for each request
	}
}

// answered tells whoever watches.
func (l line) answered() Answered {
	return Answered{
		Method: method(l.Method), Route: l.Pattern, Status: l.status, Bytes: l.bytes, Took: time.Since(l.begun), Failed: l.failed(),
	}
}

// failed reports whether somebody has to act.
func (l line) failed() bool { return l.err != nil && ours(l.err.Code) && !clientGone(l.Request, l.err) }

// MarshalLogObject tells a cause only where the fault is ours: those of callers
// may quote what they sent.
func (l line) MarshalLogObject(out zapcore.ObjectEncoder) error {
	if l.action != "" {
		out.AddString("action", l.action)
	}
	switch asked := l.Header.Get("X-Hasura-Role"); {
	case l.role != "":
		out.AddString("role", l.role)
	case asked != "" && saneID.MatchString(asked): // whether he got it, Hasura alone knows
		out.AddString("asked_role", asked)
	}
	if l.err != nil {
		out.AddString("code", string(l.err.Code))
	}
	if clientGone(l.Request, l.err) {
		out.AddBool("client_gone", true)
	} else if l.stack != nil {
		out.AddByteString("stack", l.stack)
	}
	if l.failed() {
		out.AddString("error", scrub(l.err.Error()))
	}
	out.AddString("request_id", l.id)
	out.AddString("method", method(l.Method))
	out.AddString("route", l.Pattern)
	out.AddInt("status", l.status)
	out.AddInt64("bytes", l.bytes)
	out.AddDuration("took", time.Since(l.begun))
	return nil
}

// level is error where somebody has to act, and debug for probes that went well.
func (l line) level() zapcore.Level {
	switch {
	case l.failed():
		return zap.ErrorLevel
	case l.err == nil && probe(l.Pattern):
		return zap.DebugLevel
	default:
		return zap.InfoLevel
	}
}

func ours(code actions.Code) bool {
	return code == actions.Internal || code == actions.StorageUnavailable || code == actions.HasuraUnavailable
}

// errClientGone is what is left of a download that nobody takes any more.
var errClientGone = errors.New("the client took no more")

// clientGone tells the end of a client's patience from a fault.
func clientGone(r *http.Request, err *actions.Error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, errClientGone) || r.Context().Err() != nil && errors.Is(err, context.Canceled)
}

// queries are what follows a question mark in an address: signatures stand there.
var queries = regexp.MustCompile(`\?[^\s"']+`)

func scrub(text string) string { return queries.ReplaceAllString(text, "?…") }

// method keeps a stranger's words out of the log.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch:
		return m
	}
	return "other"
}

// survive answers for a handler that panicked. Once an answer has begun it can
// only be cut off, so that nobody takes the half for the whole.
func survive(render renderer) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if v := recover(); v != nil {
					recovered(w, r, v, render)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

func recovered(w http.ResponseWriter, r *http.Request, v any, render renderer) {
	if v == http.ErrAbortHandler { //nolint:errorlint // the server compares it so
		panic(v)
	}
	rec, err := recordOf(r), fmt.Errorf("panic: %v", v)
	rec.stack = debug.Stack()
	if rec.status != 0 {
		_ = note(r, err)
		panic(http.ErrAbortHandler)
	}
	render(w, r, err)
}
