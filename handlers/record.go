package handlers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

// record is what becomes known of a request while it is served: the material of
// its one line in the log. It is the request's context too, which carries itself
// and the route: one piece of memory instead of six for each request.
type record struct {
	context.Context //nolint:containedctx // the server's; the record takes its place

	routing *chi.Context
	begun   time.Time
	id      string // of the request, safe to print
	stall   time.Duration
	action  string
	role    string
	err     *actions.Error // what it was refused with
	stack   []byte         // of a panic
	status  int            // 0 until the answer has begun
	bytes   int64          // of the answer's body
}

type recordKey struct{}

// Value finds the record, chi's part of it, and what the server put there.
func (rec *record) Value(key any) any {
	switch key {
	case recordKey{}:
		return rec
	case chi.RouteCtxKey:
		return rec.routing
	default:
		return rec.Context.Value(key)
	}
}

// defaultStall is how long a client or the store may stand still.
const defaultStall = 30 * time.Second

// recordOf returns the request's record; without the middleware, one that nobody reads.
func recordOf(r *http.Request) *record {
	if rec, ok := r.Context().Value(recordKey{}).(*record); ok {
		return rec
	}
	return &record{stall: defaultStall}
}

// note keeps err for the log and returns its public face.
func note(r *http.Request, err error) *actions.Error {
	e := actions.Public(err)
	recordOf(r).err = e
	return e
}

// body remembers whether a request's body has been read to its end.
type body struct {
	io.ReadCloser
	ended bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}

// writer counts what is sent, and gives each piece its own time to be taken: a
// client may be slow for hours, but not stand still.
type writer struct {
	http.ResponseWriter
	record
	body *body     // nil where the request has none
	due  time.Time // the deadline that is set
}

func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.leave()
	}
	w.move(0)
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
		w.leave()
	}
	w.move(len(p))
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// leave ends the connection after an answer to a request whose body has not
// been read: the server would wait for the rest of it before it answers at all.
func (w *writer) leave() {
	if w.body != nil && !w.body.ended {
		w.Header().Set("Connection", "close")
	}
}

// Unwrap lets http.ResponseController find what the server can do.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// leastRate is what a client must take, in bytes for each time that it may stand still.
const leastRate = 256 << 10

// move shifts the deadline for a write of size bytes, not for every piece. The
// server itself clears it after the answer.
func (w *writer) move(size int) {
	stall := w.stall
	due := time.Now().Add(stall + stall*time.Duration(size)/leastRate)
	if due.Sub(w.due) < stall/16 {
		return
	}
	w.due = due
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(due) // tests' writers have none
}
