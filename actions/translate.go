package actions

import (
	"context"
	"errors"
	"strings"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// sessionError words a session that cannot be used.
func sessionError(err error) error {
	if bad, ok := errors.AsType[*graphql.InvalidVariableError](err); ok {
		return Errorf(BadRequest, "session variable %s cannot be sent as a header", bad.Name)
	}
	return Errorf(Unauthenticated, "the session has no role").Because(err)
}

// guarded are the texts with which our triggers begin, and what they mean.
var guarded = []Code{BadRequest, QuotaExceeded, FileTooBig, FileTooSmall, MimeTypeNotAllowed, BucketNotFound}

// hasuraError translates what graphql returns. The message of a refusal is
// Hasura's own: the caller would read the same by asking Hasura himself.
func hasuraError(err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	if errors.Is(err, graphql.ErrBusy) {
		return Errorf(Busy, "too many requests at once, try again").Because(err)
	}
	var e *graphql.Error
	if !errors.As(err, &e) {
		return Errorf(HasuraUnavailable, "Hasura could not be asked").Because(err)
	}
	for _, code := range guarded {
		if _, text, ok := strings.Cut(e.Message, string(code)+": "); ok {
			return Errorf(code, "%s", text).Because(err)
		}
	}
	switch {
	case errors.Is(err, graphql.ErrUnauthenticated):
		return Errorf(Unauthenticated, "%s", e.Message).Because(err)
	case errors.Is(err, graphql.ErrNotAllowed):
		return Errorf(NotAllowed, "%s", e.Message).Because(err)
	case errors.Is(err, graphql.ErrConflict):
		return Errorf(Conflict, "%s", e.Message).Because(err)
	case errors.Is(err, graphql.ErrInvalid):
		return Errorf(BadRequest, "%s", e.Message).Because(err)
	default:
		return Errorf(HasuraUnavailable, "Hasura is unavailable, try again").Because(err)
	}
}

// storeError translates what s3 returns where the object ought to exist.
func storeError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return Errorf(StorageUnavailable, "the object store is unavailable, try again").Because(err)
}

// gone reports whether an object is no longer what a row or a link said of it:
// it was deleted or replaced since.
func gone(err error) bool {
	return errors.Is(err, s3.ErrNotFound) || errors.Is(err, s3.ErrPreconditionFailed)
}

// imageError translates what images returns.
func imageError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, images.ErrTooLarge):
		return Errorf(ImageTooLarge, "%s", err)
	case errors.Is(err, images.ErrNotImage), errors.Is(err, images.ErrDamaged):
		return Errorf(NotAnImage, "%s", err)
	case errors.Is(err, images.ErrInvalidSpec):
		return Errorf(BadRequest, "%s", err)
	case errors.Is(err, images.ErrBusy):
		return Errorf(Busy, "too many pictures are being made, try again")
	default:
		return err
	}
}
