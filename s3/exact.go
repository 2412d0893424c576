package s3

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// exactly makes a reader of exactly size bytes of body: it fails where the
// body ends early, and where it does not end it fails before its last byte is
// handed on. So the store never sees a complete request for a body of the
// wrong length. The result can seek only if body can.
func exactly(body io.Reader, size int64) (source, error) {
	reader := &exact{body: body, size: size}
	if size == 0 {
		// Such a body is never read by the request, so its end is looked for here.
		if err := reader.end(); !errors.Is(err, io.EOF) {
			return nil, err
		}
		return reader, nil
	}
	if seeker, ok := body.(io.Seeker); ok {
		// A pipe, say, has the method but not the ability.
		if start, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			return &rewindable{exact: reader, seeker: seeker, start: start}, nil
		}
	}
	return reader, nil
}

// source is a body on its way to the store.
type source interface {
	io.Reader
	// failure is what went wrong with the body itself, or nil. It does not
	// wait for a Read that is still going on.
	failure() error
}

type exact struct {
	body io.Reader
	size int64

	mu   sync.Mutex // the end of one attempt may overlap the next one's start
	read int64
	err  atomic.Pointer[error] // sticky
}

func (e *exact) failure() error {
	if err := e.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (e *exact) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.failure(); err != nil {
		return 0, err
	}
	if left := e.size - e.read; int64(len(p)) > left {
		p = p[:left]
	}
	if len(p) == 0 {
		return 0, io.EOF
	}
	n, err := e.body.Read(p)
	e.read += int64(n)
	return e.judge(n, err)
}

// judge decides what the n bytes just read, and the error beside them, mean.
func (e *exact) judge(n int, err error) (int, error) {
	if e.read < e.size {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: the body ended after %d of %d bytes", ErrInvalid, e.read, e.size)
		}
		return n, e.keep(err)
	}
	if err == nil {
		err = e.end()
	}
	if errors.Is(err, io.EOF) {
		return n, nil
	}
	return 0, e.keep(err)
}

func (e *exact) keep(err error) error {
	if err != nil {
		e.err.Store(&err)
	}
	return err
}

// end reads on after the last byte, where nothing may come.
func (e *exact) end() error {
	n, err := io.ReadFull(e.body, make([]byte, 1))
	if n > 0 {
		return fmt.Errorf("%w: the body is longer than %d bytes", ErrInvalid, e.size)
	}
	return err
}

// rewindable can be sent again, from where the body stood at first.
type rewindable struct {
	*exact
	seeker io.Seeker
	start  int64
}

// Seek goes back to the start, which is all that a repeated request needs. A
// body that was found wrong once is not worth another try.
func (r *rewindable) Seek(offset int64, whence int) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.failure(); err != nil {
		return 0, err
	}
	if offset != 0 || whence != io.SeekStart {
		return 0, errors.New("s3: a body can only be rewound")
	}
	if _, err := r.seeker.Seek(r.start, io.SeekStart); err != nil {
		return 0, err
	}
	r.read = 0
	return 0, nil
}
