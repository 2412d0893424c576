package actions

import (
	"bytes"

	"hasura-storage/s3"
)

// Body is what Content.Open opens. Stop ends a Read that stands still; it may be
// called at any time, by another goroutine too.
type Body = s3.Body

// memory is a Body that is there already.
type memory struct{ bytes.Reader }

func (*memory) Close() error { return nil }

// Stop has nothing to end: no Read of memory stands still.
func (*memory) Stop() {}

// part is length bytes from offset on; a length of 0 is to the end.
func part(b []byte, offset, length int64) []byte {
	b = b[offset:]
	if length > 0 {
		b = b[:length]
	}
	return b
}
