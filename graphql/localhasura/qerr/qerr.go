// Package qerr is the one error type of the local Hasura: a code, a message
// and a path, rendered as Hasura renders them for GraphQL and for its other
// endpoints. Every package below localhasura returns it, so a rule is worded
// once, where it is broken.
package qerr

import (
	"encoding/json"
	"fmt"
	"net/http"

	"hasura-storage/graphql/localhasura/jsontext"
)

// Codes that Hasura uses, as clients match on them.
const (
	AccessDenied        = "access-denied"
	AlreadyExists       = "already-exists"
	AlreadyTracked      = "already-tracked"
	AlreadyUntracked    = "already-untracked"
	BadRequest          = "bad-request"
	Conflict            = "conflict"
	ConstraintError     = "constraint-error"
	ConstraintViolation = "constraint-violation"
	DataException       = "data-exception"
	DependencyError     = "dependency-error"
	InvalidConfig       = "invalid-configuration"
	InvalidHeaders      = "invalid-headers"
	InvalidJSON         = "invalid-json"
	InvalidJWT          = "invalid-jwt"
	InvalidParams       = "invalid-params"
	JWTInvalidClaims    = "jwt-invalid-claims"
	JWTMissingRoles     = "jwt-missing-role-claims"
	MethodNotAllowed    = "method-not-allowed"
	NotExists           = "not-exists"
	NotFound            = "not-found"
	NotSupported        = "not-supported"
	ParseFailed         = "parse-failed"
	PermissionDenied    = "permission-denied"
	PermissionError     = "permission-error"
	PostgresError       = "postgres-error"
	Unexpected          = "unexpected"
	UnexpectedPayload   = "unexpected-payload"
	ValidationFailed    = "validation-failed"
)

// Error is one error as Hasura reports it; a request has at most one.
type Error struct {
	// Code is one of the constants above, or an action webhook's own text.
	Code string
	// Message is what the client reads.
	Message string
	// Path leads to the offending part of the request and starts with "$".
	Path string
	// Status is used outside /v1/graphql, which always answers 200. 0 means 400.
	Status int
	// Internal is shown to the admin and in development mode only. nil = none.
	Internal any
	// Extensions, when set, is the whole "extensions" member of the GraphQL
	// answer: neither path nor code are added, as for action webhooks.
	Extensions json.RawMessage
}

// New makes an error of status 400 at the path "$".
func New(code, message string) *Error {
	return &Error{Code: code, Message: message, Path: "$", Status: http.StatusBadRequest}
}

// Newf is New with a format.
func Newf(code, format string, args ...any) *Error {
	return New(code, fmt.Sprintf(format, args...))
}

// Internalf makes an "unexpected" error of status 500 with the public message
// given; cause, if not nil, is its internal part.
func Internalf(cause error, format string, args ...any) *Error {
	e := Newf(Unexpected, format, args...)
	e.Status = http.StatusInternalServerError
	if cause != nil {
		e.Internal = cause.Error()
	}
	return e
}

// Unsupported refuses a feature that the local Hasura does not have. feature
// is a noun phrase in Hasura's own words, such as "subscriptions" or "an
// asynchronous action".
func Unsupported(feature string) *Error {
	return Newf(NotSupported, "not supported by the local Hasura: %s; use a real one", feature)
}

// At returns a copy of the error with another path.
func (e *Error) At(path string) *Error {
	c := *e
	c.Path = path
	return &c
}

// WithStatus returns a copy of the error with another HTTP status.
func (e *Error) WithStatus(status int) *Error {
	c := *e
	c.Status = status
	return &c
}

// Error implements error for logs; clients get one of the renderings.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%s)", e.Code, e.Message, e.Path)
}

// HTTPStatus is the status for endpoints that keep it; never 0.
func (e *Error) HTTPStatus() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

// GraphQL renders the body of /v1/graphql: {"errors":[{message, extensions}]}.
// internal says whether the reader may see the internal part.
func (e *Error) GraphQL(internal bool) []byte {
	type item struct {
		Message    string `json:"message"`
		Extensions any    `json:"extensions"`
	}
	body := struct {
		Errors []item `json:"errors"`
	}{[]item{{Message: e.Message, Extensions: e.extensions(internal)}}}
	return encode(body)
}

func (e *Error) extensions(internal bool) any {
	if e.Extensions != nil {
		return e.Extensions
	}
	ext := struct {
		Path     string `json:"path"`
		Code     string `json:"code"`
		Internal any    `json:"internal,omitempty"`
	}{Path: e.path(), Code: e.Code}
	if internal {
		ext.Internal = e.Internal
	}
	return ext
}

// Plain renders the body of the other endpoints: {path, error, code}.
// internal says whether the reader may see the internal part.
func (e *Error) Plain(internal bool) []byte {
	body := struct {
		Path     string `json:"path"`
		Error    string `json:"error"`
		Code     string `json:"code"`
		Internal any    `json:"internal,omitempty"`
	}{Path: e.path(), Error: e.Message, Code: e.Code}
	if internal {
		body.Internal = e.Internal
	}
	return encode(body)
}

func (e *Error) path() string {
	if e.Path == "" {
		return "$"
	}
	return e.Path
}

// encode writes JSON. A value that cannot be encoded is a fault of the caller
// and becomes its message.
func encode(v any) []byte {
	raw, err := jsontext.Encode(v)
	if err != nil {
		return fmt.Appendf(nil, `{"path":"$","error":%q,"code":"unexpected"}`, err.Error())
	}
	return raw
}
