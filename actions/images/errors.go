package images

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// The sentinels tell what kind of answer a caller owes. The text of each error that wraps one says what was found and, where there is
// one, the limit; it holds nothing but numbers and names of formats and fields, and may be shown to anybody.
var (
	// ErrNotImage: the bytes are of no format that this package decodes.
	ErrNotImage = errors.New("not an image that can be transformed")
	// ErrTooLarge: the picture, or what was asked for, exceeds a limit.
	ErrTooLarge = errors.New("image too large")
	// ErrDamaged: the format was recognised, but the file is cut short or cannot be decoded.
	ErrDamaged = errors.New("damaged image")
	// ErrInvalidSpec: a field of the Spec makes no sense or exceeds its limit; see FieldError.
	ErrInvalidSpec = errors.New("invalid image options")
	// ErrBusy: a Pool has no place left; the same request may succeed a little later.
	ErrBusy = errors.New("too many image transforms at once")
)

// FieldError names the field of a Spec that was refused. It is an ErrInvalidSpec.
type FieldError struct {
	Field   string // in lower case, as GraphQL writes it
	Problem string // what is wrong with it, with the limit: "9000 exceeds the maximum of 8000"
}

// Error returns field and problem in one sentence.
func (e *FieldError) Error() string { return e.Field + " " + e.Problem }

// Unwrap returns ErrInvalidSpec.
func (e *FieldError) Unwrap() error { return ErrInvalidSpec }

func fieldError(field, format string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// PanicError is a panic of a decoder or encoder, caught. It is an ErrDamaged: the input brought it about.
type PanicError struct {
	Value any
	Stack []byte // for the log only
}

// Error does not show the panic's value, which may hold anything.
func (e *PanicError) Error() string { return "damaged image: the decoder gave up" }

// Unwrap returns ErrDamaged.
func (e *PanicError) Unwrap() error { return ErrDamaged }

// guard is deferred around all work on foreign bytes.
func guard(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

func damaged(f Format, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrDamaged, f, err)
}
