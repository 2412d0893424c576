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
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hasura-storage/actions"
)

// observe gives each request an id and writes its one line. What holds for every
// answer is said here: no browser is to guess types.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &record{id: requestID(r.Header.Get("X-Request-Id")), stall: s.Stall}
		h := w.Header()
		h.Set("X-Request-Id", rec.id)
		h["X-Content-Type-Options"] = nosniff
		out := &writer{ResponseWriter: w, record: rec, deadline: http.NewResponseController(w)}
		if r.Body != nil && r.Body != http.NoBody {
			out.body = &body{ReadCloser: r.Body}
			r.Body = out.body
		}
		var ended func(Answered)
		if s.Watch != nil {
			var ctx context.Context
			ctx, ended = s.Watch(r)
			r = r.WithContext(ctx)
		}
		defer func() { // an aborted request has its line too
			s.line(r, rec, time.Since(start))
			if ended != nil {
				ended(rec.answered(r, time.Since(start)))
			}
		}()
		next.ServeHTTP(out, withRecord(r, rec))
		if rec.status == 0 {
			out.leave()
		}
	})
}

var nosniff = []string{"nosniff"} // shared by all answers: nobody changes it

// saneID is what a proxy in front may call a request, and what a role is called. Anything else could forge
// lines in somebody's log.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func requestID(given string) string {
	if given != "" && saneID.MatchString(given) {
		return given
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// line writes what happened: no address, query, name, token or variable, since
// any of them may be a secret.
func (s *server) line(r *http.Request, rec *record, took time.Duration) {
	route := chi.RouteContext(r.Context()).RoutePattern()
	entry := s.Log.Check(level(r, rec, route), "request")
	if entry == nil {
		return
	}
	entry.Write(append(rec.details(r),
		zap.String("request_id", rec.id),
		zap.String("method", method(r.Method)),
		zap.String("route", route),
		zap.Int("status", rec.status),
		zap.Int64("bytes", rec.bytes),
		zap.Duration("took", took),
	)...)
}

// answered tells whoever watches.
func (rec *record) answered(r *http.Request, took time.Duration) Answered {
	return Answered{
		Method: method(r.Method), Route: chi.RouteContext(r.Context()).RoutePattern(),
		Status: rec.status, Bytes: rec.bytes, Took: took,
		Failed: rec.err != nil && ours(rec.err.Code) && !clientGone(r, rec.err),
	}
}

// details are the fields that not every line has. A cause is told only where
// the fault is ours: those of callers may quote what they sent.
func (rec *record) details(r *http.Request) []zap.Field {
	fields := make([]zap.Field, 0, 12) // room for those of every line
	if rec.action != "" {
		fields = append(fields, zap.String("action", rec.action))
	}
	switch asked := r.Header.Get("X-Hasura-Role"); {
	case rec.role != "":
		fields = append(fields, zap.String("role", rec.role))
	case asked != "" && saneID.MatchString(asked): // whether he got it, Hasura alone knows
		fields = append(fields, zap.String("asked_role", asked))
	}
	if rec.err != nil {
		fields = append(fields, zap.String("code", string(rec.err.Code)))
	}
	if clientGone(r, rec.err) {
		return append(fields, zap.Bool("client_gone", true))
	}
	if rec.err != nil && ours(rec.err.Code) {
		fields = append(fields, zap.String("error", scrub(rec.err.Error())))
	}
	if rec.stack != nil {
		fields = append(fields, zap.ByteString("stack", rec.stack))
	}
	return fields
}

// level is error where somebody has to act, and debug for probes that went well.
func level(r *http.Request, rec *record, route string) zapcore.Level {
	switch {
	case rec.err != nil && ours(rec.err.Code) && !clientGone(r, rec.err):
		return zap.ErrorLevel
	case rec.err == nil && probe(route):
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
