package handlers

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"time"

	"hasura-storage/actions"
)

const (
	maxParts      = 100      // of one form
	maxSkipped    = 64 << 20 // bytes of a part that has no meaning
	maxPartHeader = 64 << 10 // bytes before a part's body, what the reader buffers included
)

// form reads a request's multipart body as it comes, never more than a piece at
// a time. Each piece may take its own time; what stands between the parts is bounded.
type form struct {
	parts  *multipart.Reader
	body   *incoming
	length int64
	seen   int
	part   *multipart.Part // the one before
}

// readForm begins to read a request's form. Call done when nothing more is read.
func (s *server) readForm(w http.ResponseWriter, r *http.Request) (f *form, done func(), err error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || parameters["boundary"] == "" {
		return nil, nil, actions.Errorf(actions.BadRequest, "the request's body must be multipart/form-data with a boundary")
	}
	body := &incoming{Reader: r.Body, allowance: unbounded, deadline: http.NewResponseController(w), stall: s.Stall}
	f = &form{parts: multipart.NewReader(body, parameters["boundary"]), body: body, length: r.ContentLength}
	return f, body.done, nil
}

// Length is the request's, an upper bound of its parts'.
func (f *form) Length() int64 { return f.length }

// Next ends the part before and returns the next one.
func (f *form) Next() (actions.FormPart, error) {
	if err := f.skip(); err != nil {
		return actions.FormPart{}, err
	}
	f.body.allowance = maxPartHeader
	part, err := f.parts.NextRawPart()
	f.body.allowance = unbounded
	if errors.Is(err, io.EOF) {
		return actions.FormPart{}, io.EOF
	}
	if err != nil {
		return actions.FormPart{}, f.broken(err)
	}
	f.part = part
	if f.seen++; f.seen > maxParts {
		return actions.FormPart{}, actions.Errorf(actions.BadRequest, "the form has more than %d parts", maxParts)
	}
	return actions.FormPart{
		Field: part.FormName(), FileName: part.FileName(), ContentType: part.Header.Get("Content-Type"),
		Body: partBody{part, f},
	}, nil
}

// skip reads what is left of a part that nobody wanted.
func (f *form) skip() error {
	if f.part == nil {
		return nil
	}
	_, err := io.CopyN(io.Discard, f.part, maxSkipped)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return f.broken(err)
	}
	return actions.Errorf(actions.BadRequest, "the form's part %q is not known here and is longer than %d bytes", clip(f.part.FormName()), maxSkipped)
}

// broken words what is wrong with a form.
func (f *form) broken(err error) error {
	switch {
	case errors.Is(err, errPartHeader):
		return actions.Errorf(actions.BadRequest, "what stands before a part of the form is longer than %d bytes", maxPartHeader)
	case f.body.failure != nil:
		return f.body.unfinished()
	default:
		return actions.Errorf(actions.BadRequest, "the form cannot be read: it ends early or its parts are malformed").Because(err)
	}
}

// partBody gives the errors of a part their meaning.
type partBody struct {
	part *multipart.Part
	form *form
}

func (b partBody) Read(p []byte) (int, error) {
	n, err := b.part.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, b.form.broken(err)
	}
	return n, err //nolint:wrapcheck // io.EOF must stay itself
}

// incoming is a request's body whose deadline moves with its bytes.
type incoming struct {
	io.Reader
	deadline  *http.ResponseController
	stall     time.Duration
	moved     time.Time
	allowance int64 // bytes that may be read until it is set again
	failure   error // of the connection
}

const unbounded int64 = 1 << 62

var errPartHeader = errors.New("too much before a part")

func (b *incoming) Read(p []byte) (int, error) {
	if b.allowance <= 0 {
		return 0, errPartHeader
	}
	if now := time.Now(); now.Sub(b.moved) > time.Second {
		b.moved = now
		_ = b.deadline.SetReadDeadline(now.Add(b.stall)) // tests' writers have none
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.allowance)])
	b.allowance -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.failure = err
	}
	return n, err //nolint:wrapcheck // io.EOF must stay itself
}

// unfinished words a body that its sender did not send to the end.
func (b *incoming) unfinished() error {
	return actions.Errorf(actions.BadRequest, "the request's body was not sent to its end").Because(fmt.Errorf("%w: %w", errClientGone, b.failure))
}

// done lets the connection wait for its next request as long as the server lets it.
func (b *incoming) done() { _ = b.deadline.SetReadDeadline(time.Time{}) }
