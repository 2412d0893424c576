package graphql

import (
	"errors"
	"fmt"
)

// The few things that can come of asking Hasura. Each *Error wraps exactly one.
var (
	// ErrUnauthenticated: Hasura refused who asks (bad or expired token, wrong secret).
	ErrUnauthenticated = errors.New("hasura refused the credentials")
	// ErrNotAllowed: the caller's permissions, a check or a guard said no.
	ErrNotAllowed = errors.New("hasura does not allow it")
	// ErrConflict: a unique, foreign key or not-null constraint said no.
	ErrConflict = errors.New("a constraint does not allow it")
	// ErrInvalid: a value is not of its column's type.
	ErrInvalid = errors.New("hasura refused a value")
	// ErrUnavailable: Hasura did not answer, or not as itself, and nothing was changed.
	ErrUnavailable = errors.New("hasura is unavailable")
	// ErrUnknownOutcome: a mutation was sent and its answer is missing or is no
	// clear refusal. It may have happened: read the state before deciding anything.
	ErrUnknownOutcome = errors.New("the outcome at hasura is unknown")
)

// Error is an answer of Hasura's that is not data, or the lack of an answer.
// Code, Message and Path are Hasura's own; they are empty where nothing came.
type Error struct {
	Code, Message, Path string
	kind                error // one of the sentinels
	cause               error // transport error or nil
}

func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%v: %v", e.kind, e.cause)
	}
	return fmt.Sprintf("%v: %s: %s (%s)", e.kind, e.Code, e.Message, e.Path)
}

// Unwrap returns the sentinel and, where there is one, the transport's error.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// Refused reports whether err is Hasura's own clear no to what a mutation was to
// write: it has judged the mutation, and undone it.
func Refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && refusals[e.Code]
}

var refusals = map[string]bool{
	"permission-error": true, "constraint-violation": true, "data-exception": true, "validation-failed": true,
}

// Undone reports whether it is certain that a mutation has changed nothing: it was
// refused, or Hasura did not begin it, for who asked or for how.
func Undone(err error) bool {
	var e *Error
	return errors.As(err, &e) && kinds[e.Code] != nil
}

// kinds maps the codes of Hasura's answers (Hasura.Base.Error) after which nothing
// has changed. A code that is not listed says nothing about what happened: database errors, timeouts and
// serialization failures are among them.
var kinds = map[string]error{
	"access-denied":           ErrUnauthenticated,
	"invalid-headers":         ErrUnauthenticated,
	"invalid-jwt":             ErrUnauthenticated,
	"jwt-invalid-claims":      ErrUnauthenticated,
	"jwt-missing-role-claims": ErrUnauthenticated,
	"permission-error":        ErrNotAllowed,
	"permission-denied":       ErrNotAllowed,
	"validation-failed":       ErrNotAllowed,
	"not-found":               ErrNotAllowed, // missing session variable
	"constraint-violation":    ErrConflict,
	"data-exception":          ErrInvalid,
	"parse-failed":            ErrInvalid,
}

// answered classifies an error that Hasura sent.
func answered(code, message, path string, mutation bool) *Error {
	kind, known := kinds[code]
	switch {
	case known:
	case mutation:
		kind = ErrUnknownOutcome
	default:
		kind = ErrUnavailable
	}
	return &Error{Code: code, Message: message, Path: path, kind: kind}
}

// unanswered classifies a request that brought no answer of Hasura's. sent says
// whether it may have reached Hasura.
func unanswered(cause error, mutation, sent bool) *Error {
	if mutation && sent {
		return &Error{kind: ErrUnknownOutcome, cause: cause}
	}
	return &Error{kind: ErrUnavailable, cause: cause}
}
