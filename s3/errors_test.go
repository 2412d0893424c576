package s3_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
)

var sentinels = []error{s3.ErrNotFound, s3.ErrPreconditionFailed, s3.ErrDenied, s3.ErrInvalid, s3.ErrUnavailable}

// wantOnly demands this sentinel and no other; nil means none at all.
func wantOnly(t *testing.T, err, want error) {
	t.Helper()
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) != errors.Is(sentinel, want) {
			t.Fatalf("%v: is %v: %t", err, sentinel, errors.Is(err, sentinel))
		}
	}
}

func TestAnswersBecomeSentinels(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "NoSuchKey", s3.ErrNotFound},
		{404, "NoSuchBucket", s3.ErrNotFound},
		{404, "NoSuchUpload", s3.ErrNotFound},
		{412, "PreconditionFailed", s3.ErrPreconditionFailed},
		{403, "AccessDenied", s3.ErrDenied},
		{403, "SignatureDoesNotMatch", s3.ErrDenied},
		{403, "RequestTimeTooSkewed", s3.ErrDenied},
		{401, "Unauthorized", s3.ErrDenied},
		{400, "InvalidPart", s3.ErrInvalid},
		{400, "EntityTooLarge", s3.ErrInvalid},
		{416, "InvalidRange", s3.ErrInvalid},
		{501, "NotImplemented", s3.ErrInvalid},
		{409, "OperationAborted", s3.ErrUnavailable},
		{409, "BucketNotEmpty", s3.ErrInvalid},
		{503, "SlowDown", s3.ErrUnavailable},
		{500, "InternalError", s3.ErrUnavailable},
		{507, "InsufficientStorage", s3.ErrUnavailable},
		{302, "Found", s3.ErrUnavailable},
	} {
		store := newStub(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, c.status, c.code) }).store(t)
		_, _, err := store.Get(shortly(t), "k", s3.GetOptions{})
		if err == nil {
			t.Fatalf("%d %s is no error", c.status, c.code)
		}
		wantOnly(t, err, c.want)
	}
}

// shortly bounds the library's own repetitions of what may pass.
func shortly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func TestHeadAnswersWithoutABodyBecomeSentinels(t *testing.T) {
	for status, want := range map[int]error{404: s3.ErrNotFound, 403: s3.ErrDenied, 400: s3.ErrInvalid, 412: s3.ErrPreconditionFailed} {
		store := newStub(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }).store(t)
		_, err := store.Stat(t.Context(), "k")
		wantOnly(t, err, want)
	}
}

func TestOneWhoGaveUpGetsHisOwnError(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	store := newStub(t, hang).store(t)

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := store.Stat(ctx, "k")
	wantOnly(t, err, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}

	_, err = store.Stat(shortly(t), "k")
	wantOnly(t, err, s3.ErrUnavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestABodyThatBreaksOffIsNoEnd(t *testing.T) {
	store := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.Header().Set("Last-Modified", "Tue, 15 Nov 1994 12:45:26 GMT")
		_, _ = io.WriteString(w, "only this")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}).store(t)
	body, _, err := store.Get(t.Context(), "k", s3.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	_, err = io.ReadAll(body)
	wantOnly(t, err, s3.ErrUnavailable)
}

func TestAStoreThatIgnoresRangesIsNoticed(t *testing.T) {
	store := newStub(t, accept).store(t)
	_, _, err := store.Get(t.Context(), "k", s3.GetOptions{Offset: 2})
	wantOnly(t, err, s3.ErrUnavailable)
}

func TestAFailureInsideAnOKIsNoticed(t *testing.T) {
	broken := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			accept(w, r)
			return
		}
		refuse(w, http.StatusOK, "InternalError")
	}
	store := newStub(t, broken).store(t)
	_, err := store.Copy(t.Context(), "a", "b", s3.CopyOptions{})
	wantOnly(t, err, s3.ErrUnavailable)
	_, err = store.CompleteMultipart(shortly(t), "a", "up", []s3.Part{{Number: 1, ETag: "x"}})
	wantOnly(t, err, s3.ErrUnavailable)
	_, err = store.CreateMultipart(t.Context(), "a", "")
	wantOnly(t, err, s3.ErrUnavailable)
}

func TestErrorsNameWhatWasAskedButNoSecret(t *testing.T) {
	store := newStub(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 403, "AccessDenied") }).store(t)
	_, err := store.Stat(t.Context(), "the-key")
	if text := err.Error(); !strings.Contains(text, "the-key") || strings.Contains(text, "secret") {
		t.Fatal(text)
	}
}
