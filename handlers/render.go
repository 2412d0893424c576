package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"strconv"

	"hasura-storage/actions"
)

// status is the HTTP status of each code. Sizes, types and pictures that are
// refused are 400, as the clients of hasura-storage expect.
var status = map[actions.Code]int{
	actions.BadRequest:            http.StatusBadRequest,
	actions.Unauthenticated:       http.StatusUnauthorized,
	actions.NotAllowed:            http.StatusForbidden,
	actions.BucketNotFound:        http.StatusNotFound,
	actions.FileNotFound:          http.StatusNotFound,
	actions.UploadNotFound:        http.StatusNotFound,
	actions.AlreadyExists:         http.StatusConflict,
	actions.Conflict:              http.StatusConflict,
	actions.FileTooBig:            http.StatusBadRequest,
	actions.FileTooSmall:          http.StatusBadRequest,
	actions.SizeMismatch:          http.StatusBadRequest,
	actions.ChecksumMismatch:      http.StatusBadRequest,
	actions.MimeTypeNotAllowed:    http.StatusBadRequest,
	actions.QuotaExceeded:         http.StatusForbidden,
	actions.VirusFound:            http.StatusForbidden,
	actions.UploadIncomplete:      http.StatusConflict,
	actions.UploadCompleting:      http.StatusConflict,
	actions.PresignedURLsDisabled: http.StatusForbidden,
	actions.NotAnImage:            http.StatusBadRequest,
	actions.ImageTooLarge:         http.StatusBadRequest,
	actions.Busy:                  http.StatusServiceUnavailable,
	actions.StorageUnavailable:    http.StatusServiceUnavailable,
	actions.HasuraUnavailable:     http.StatusServiceUnavailable,
	actions.Internal:              http.StatusInternalServerError,
}

// statusOf is for codes that another version of package actions may bring.
func statusOf(code actions.Code) int {
	if s, ok := status[code]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// renderer answers a request with an error, in the form of one protocol.
type renderer func(w http.ResponseWriter, r *http.Request, err error)

// hasuraError is the body that Hasura understands. Its members travel to the
// client as they are; a "path" would be taken for one of the GraphQL query's.
type hasuraError struct {
	Message    string         `json:"message"`
	Extensions map[string]any `json:"extensions"`
}

func forHasura(e *actions.Error) hasuraError {
	extensions := make(map[string]any, len(e.Details)+1)
	maps.Copy(extensions, e.Details)
	delete(extensions, "path")
	extensions["code"] = e.Code
	return hasuraError{Message: e.Message, Extensions: extensions}
}

// renderAction answers a Hasura action. Hasura shows message and extensions of
// a 4xx alone; of a 5xx the client would read "internal error" and nothing else.
func renderAction(w http.ResponseWriter, r *http.Request, err error) {
	e := note(r, err)
	code := statusOf(e.Code)
	if code >= http.StatusInternalServerError {
		code = http.StatusBadRequest
	}
	writeJSON(w, code, forHasura(e))
}

// renderUnavailable answers a trigger with a 503, after which Hasura delivers
// again as long as its retry_conf says.
func renderUnavailable(w http.ResponseWriter, r *http.Request, err error) {
	writeJSON(w, http.StatusServiceUnavailable, forHasura(note(r, err)))
}

// restError is the body of an error for browsers and apps.
type restError struct {
	Error problem `json:"error"`
}

type problem struct {
	Message string         `json:"message"`
	Code    actions.Code   `json:"code"`
	Data    map[string]any `json:"data"`
}

// renderREST answers a browser or an app.
func renderREST(w http.ResponseWriter, r *http.Request, err error) {
	fail(w, r, restStatus(err), err)
}

// restStatus is the status of an error where browsers, or the clients of
// hasura-storage, expect another one than its code's.
func restStatus(err error) int {
	switch e := actions.Public(err); {
	case errors.Is(err, errCondition):
		return http.StatusPreconditionFailed
	case errors.Is(err, errClientGone) && errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case e.Code == actions.AlreadyExists:
		return http.StatusBadRequest
	default:
		return statusOf(e.Code)
	}
}

// fail is renderREST with a status of its own: that of a route, a method, a
// condition or a range.
func fail(w http.ResponseWriter, r *http.Request, code int, err error) {
	e := refuse(w, r, err)
	writeJSON(w, code, restError{problem{Message: e.Message, Code: e.Code, Data: e.Details}})
}

// refuse notes an error and sets the headers that go with it.
func refuse(w http.ResponseWriter, r *http.Request, err error) *actions.Error {
	e := note(r, err)
	w.Header().Set("X-Error", oneLine(e.Message)) // all that a HEAD can show
	if e.Code == actions.Busy {
		w.Header().Set("Retry-After", "1")
	}
	return e
}

// oneLine makes a text fit for a header: visible ASCII, and not endless.
func oneLine(text string) string {
	out := make([]byte, 0, min(len(text), maxErrorHeader))
	for _, c := range text {
		if len(out) == maxErrorHeader {
			break
		}
		if c < ' ' || c > '~' {
			c = '?'
		}
		out = append(out, byte(c))
	}
	return string(out)
}

// maxErrorHeader is in bytes; proxies commonly allow 4 or 8 KiB for all headers.
const maxErrorHeader = 512

// writeJSON answers with v, whole: Hasura wants a body with every status, and a
// length lets the connection be used again.
func writeJSON(w http.ResponseWriter, code int, v any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // the ampersands of signed URLs stay readable
	if err := encoder.Encode(v); err != nil {
		code = http.StatusBadRequest
		body.Reset()
		body.WriteString(`{"message":"internal error","extensions":{"code":"internal"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(body.Bytes())
}
