package actions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Code names what went wrong in one word that clients may switch on. The list
// is closed and the same in actions, events and REST; codes are only ever added.
type Code string

// The codes. What each means to a client stands in the README's table.
const (
	BadRequest            Code = "bad-request"
	Unauthenticated       Code = "unauthenticated"
	NotAllowed            Code = "not-allowed"
	BucketNotFound        Code = "bucket-not-found"
	FileNotFound          Code = "file-not-found"
	UploadNotFound        Code = "upload-not-found"
	AlreadyExists         Code = "already-exists"
	Conflict              Code = "conflict"
	FileTooBig            Code = "file-too-big"
	FileTooSmall          Code = "file-too-small"
	SizeMismatch          Code = "size-mismatch"
	ChecksumMismatch      Code = "checksum-mismatch"
	MimeTypeNotAllowed    Code = "mime-type-not-allowed"
	QuotaExceeded         Code = "quota-exceeded"
	VirusFound            Code = "virus-found"
	UploadIncomplete      Code = "upload-incomplete"
	UploadCompleting      Code = "upload-completing"
	PresignedURLsDisabled Code = "presigned-urls-disabled"
	NotAnImage            Code = "not-an-image"
	ImageTooLarge         Code = "image-too-large"
	Busy                  Code = "busy"
	StorageUnavailable    Code = "storage-unavailable"
	HasuraUnavailable     Code = "hasura-unavailable"
	Internal              Code = "internal"
)

// Codes lists every code once, in the order of the documentation.
func Codes() []Code {
	return []Code{
		BadRequest, Unauthenticated, NotAllowed, BucketNotFound, FileNotFound, UploadNotFound,
		AlreadyExists, Conflict, FileTooBig, FileTooSmall, SizeMismatch, ChecksumMismatch,
		MimeTypeNotAllowed, QuotaExceeded, VirusFound, UploadIncomplete, UploadCompleting,
		PresignedURLsDisabled, NotAnImage, ImageTooLarge, Busy, StorageUnavailable,
		HasuraUnavailable, Internal,
	}
}

// Error is the only error that leaves the service. Code, Message and Details
// are public; the cause is for the log alone.
type Error struct {
	Code    Code
	Message string
	Details map[string]any
	cause   error
}

// Errorf returns an Error without a hidden cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because returns a copy of e that keeps cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// With returns a copy of e with one more public detail.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Details = maps.Clone(e.Details)
	if c.Details == nil {
		c.Details = map[string]any{}
	}
	c.Details[name] = value
	return &c
}

// Error is the text for the log: it includes the cause.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Unwrap returns the hidden cause.
func (e *Error) Unwrap() error { return e.cause }

// Public finds the *Error in err. Any other error becomes Internal (Busy for a
// deadline that passed), so that no unknown text reaches a client.
func Public(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(Busy, "the operation took too long, try again").Because(err)
	default:
		return Errorf(Internal, "internal error").Because(err)
	}
}

// has reports whether err is an *Error of one of the codes.
func has(err error, codes ...Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(codes, e.Code)
}
