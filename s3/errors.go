package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/minio/minio-go/v7"
)

// What can go wrong, for errors.Is. The store's own answer stays wrapped
// beneath and is for logs, not for clients.
var (
	// ErrNotFound: no such object, multipart upload or bucket.
	ErrNotFound = errors.New("not found in the store")
	// ErrPreconditionFailed: the object is not the one that IfMatch names.
	ErrPreconditionFailed = errors.New("the object has changed")
	// ErrDenied: the store refuses our keys or forbids the request.
	ErrDenied = errors.New("denied by the store")
	// ErrInvalid: the request can never succeed as it is, such as a key or
	// size beyond a limit, a range outside the object, or parts that do not fit.
	ErrInvalid = errors.New("refused by the store as invalid")
	// ErrUnavailable: no usable answer. What was asked may or may not have
	// happened; asking again may help.
	ErrUnavailable = errors.New("the store is unavailable")
)

// translate gives an error of the library its sentinel. It is the only place
// that knows S3's codes. doing and key name the request.
func translate(doing, key string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("s3: %s %q: %w", doing, key, err)
	}
	return fmt.Errorf("s3: %s %q: %w: %w", doing, key, kind(err), err)
}

// translateUpload is translate for a request with a body. What went wrong with
// the body comes first: the library rewords such errors until they look like
// the store's. A failing reader of the caller's is not the store's fault and
// gets no sentinel.
func translateUpload(doing, key string, body source, err error) error {
	if cause := body.failure(); cause != nil {
		return fmt.Errorf("s3: %s %q: %w", doing, key, cause)
	}
	return translate(doing, key, err)
}

// kind chooses the sentinel of an error.
func kind(err error) error {
	for _, known := range []error{ErrNotFound, ErrPreconditionFailed, ErrDenied, ErrInvalid, ErrUnavailable} {
		if errors.Is(err, known) {
			return known
		}
	}
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return ErrUnavailable
	}
	if known, ok := codes[answer.Code]; ok {
		return known
	}
	return kindOfStatus(answer.StatusCode)
}

// codes are the answers whose status alone would mislead.
var codes = map[string]error{
	minio.NoSuchKey:          ErrNotFound,
	minio.NoSuchBucket:       ErrNotFound,
	"NoSuchUpload":           ErrNotFound,
	minio.PreconditionFailed: ErrPreconditionFailed,
	minio.AccessDenied:       ErrDenied,
	"RequestTimeout":         ErrUnavailable,
	"SlowDown":               ErrUnavailable,
	"InternalError":          ErrUnavailable,
	"OperationAborted":       ErrUnavailable,
	"NotImplemented":         ErrInvalid,
	minio.APINotSupported:    ErrInvalid,
	// The library's own checks before sending; it gives some no status.
	"UnexpectedEOF":           ErrInvalid,
	minio.InvalidArgument:     ErrInvalid,
	minio.InvalidBucketName:   ErrInvalid,
	"XMinioInvalidObjectName": ErrInvalid,
}

func kindOfStatus(status int) error {
	switch status {
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusPreconditionFailed:
		return ErrPreconditionFailed
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrDenied
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return ErrUnavailable
	}
	if status >= 400 && status < 500 || status == http.StatusNotImplemented {
		return ErrInvalid
	}
	return ErrUnavailable
}

// notImplemented tells whether the store says that it lacks the operation, as
// some do for multi-delete and for copies.
func notImplemented(err error) bool {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return false
	}
	return answer.StatusCode == http.StatusNotImplemented || answer.StatusCode == http.StatusMethodNotAllowed ||
		answer.Code == "NotImplemented" || answer.Code == minio.MethodNotAllowed || answer.Code == minio.APINotSupported
}
