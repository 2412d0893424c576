// Package api answers Hasura's administrative endpoints: /v1/metadata,
// /v2/query, /v1/version and /healthz. Start with New; command.go lists the
// commands.
package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"hasura-storage/graphql/localhasura/auth"
	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/store"
	"hasura-storage/graphql/localhasura/triggers"
)

// Backend is the server whose metadata is administered.
type Backend interface {
	// Current is what is in force. Callers do not change it.
	Current() State
	// Check tells what of m does not fit the database as q sees it; nothing
	// is put in force. q is a transaction or the committed state.
	Check(ctx context.Context, m *metadata.Metadata, q catalog.Queryer) ([]metadata.InconsistentObject, error)
	// Put reads the database's schema anew and puts m in force, without what
	// is inconsistent in it. The resource version goes up by one.
	Put(ctx context.Context, m *metadata.Metadata) error
}

// State is the metadata in force.
type State struct {
	Metadata     *metadata.Metadata
	Version      int // resource version; starts with 1
	Inconsistent []metadata.InconsistentObject
}

// API serves the endpoints. Use New.
type API struct {
	backend  Backend
	auth     *auth.Authenticator
	db       *store.DB
	triggers *triggers.Engine
	mu       sync.Mutex // one administrator at a time
}

// New makes the API of a server. All arguments are needed.
func New(b Backend, a *auth.Authenticator, db *store.DB, t *triggers.Engine) *API {
	return &API{backend: b, auth: a, db: db, triggers: t}
}

// ServeHTTP answers the endpoints; any other path or method is 404.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/metadata":
		a.serve(w, r, a.metadataRequest)
	case "POST /v2/query":
		a.serve(w, r, a.queryRequest)
	case "POST /v1/query":
		a.serve(w, r, a.legacyRequest)
	case "GET /v1/version":
		writeJSON(w, http.StatusOK, []byte(`{"server_type":"ce","version":"v2.43.0","local":true}`))
	case "GET /healthz", "GET /hasura/healthz":
		a.health(w, r)
	default:
		NotFound(w)
	}
}

// NotFound is the answer for everything that Hasura does not serve.
func NotFound(w http.ResponseWriter) {
	writeJSON(w, http.StatusNotFound, []byte(`{"path":"$","error":"resource does not exist","code":"not-found"}`))
}

// serve authenticates, reads the body, and runs an endpoint for the admin.
func (a *API) serve(w http.ResponseWriter, r *http.Request, run func(context.Context, *request) (any, *qerr.Error)) {
	session, err := a.auth.Authenticate(r.Header)
	if err != nil {
		writeJSON(w, err.HTTPStatus(), err.Plain(false))
		return
	}
	answer, err := a.answer(r, session, run)
	if err != nil {
		writeJSON(w, err.HTTPStatus(), err.Plain(a.auth.ShowsInternal(session)))
		return
	}
	raw, fault := jsontext.Encode(answer)
	if fault != nil {
		err = qerr.Internalf(fault, "internal error")
		writeJSON(w, err.HTTPStatus(), err.Plain(true))
		return
	}
	id := r.Header.Get("X-Request-Id")
	if id == "" {
		id = uuid.NewString()
	}
	w.Header().Set("X-Request-Id", id)
	writeJSON(w, http.StatusOK, raw)
}

func (a *API) answer(r *http.Request, session auth.Session, run func(context.Context, *request) (any, *qerr.Error)) (any, *qerr.Error) {
	body, fault := io.ReadAll(r.Body)
	if fault != nil {
		return nil, qerr.New(qerr.BadRequest, "the request body could not be read")
	}
	req, err := parseRequest(body)
	if err != nil {
		return nil, err
	}
	if !session.Admin {
		return nil, qerr.New(qerr.AccessDenied, "restricted access : admin only").At("$.args")
	}
	req.session = session
	a.mu.Lock()
	defer a.mu.Unlock()
	return run(r.Context(), req)
}

func (a *API) health(w http.ResponseWriter, r *http.Request) {
	text, status := "OK", http.StatusOK
	if _, err := a.db.Text(r.Context(), "SELECT 'yes'", nil); err != nil {
		text, status = "ERROR", http.StatusInternalServerError
	} else if len(a.backend.Current().Inconsistent) > 0 {
		text = "WARN: inconsistent objects in schema"
		if r.URL.Query().Get("strict") == "true" {
			text, status = "ERROR: inconsistent objects in schema", http.StatusInternalServerError
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and its type says so
}

// request is a command: {"type", "version", "args", "resource_version"}.
type request struct {
	Type            string          `json:"type"`
	Version         int             `json:"version"`
	Args            json.RawMessage `json:"args"`
	ResourceVersion *int            `json:"resource_version"`
	session         auth.Session
}

func parseRequest(body []byte) (*request, *qerr.Error) {
	if !json.Valid(body) {
		return nil, qerr.New(qerr.InvalidJSON, jsontext.Invalid(body))
	}
	var r request
	if err := decodeAt(body, &r, "$"); err != nil {
		return nil, err
	}
	if r.Type == "" {
		return nil, qerr.New(qerr.ParseFailed, `key "type" not found`)
	}
	return &r, nil
}
