package s3_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

func TestReady(t *testing.T) {
	dated := func(by time.Duration, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
			w.WriteHeader(status)
		}
	}
	for sentence, c := range map[string]struct {
		reply http.HandlerFunc
		want  error
		text  string
	}{
		"the bucket is there":             {dated(0, 200), nil, ""},
		"the bucket is missing":           {dated(0, 404), s3.ErrNotFound, "bucket"},
		"the keys are refused":            {dated(0, 403), s3.ErrDenied, "bucket"},
		"a clock that is a bit off":       {dated(2*time.Minute, 200), nil, ""},
		"a clock six minutes ahead":       {dated(6*time.Minute, 200), s3.ErrUnavailable, "clock"},
		"a clock so late that we are out": {dated(-20*time.Minute, 403), s3.ErrUnavailable, "20m"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := newStub(t, c.reply).store(t).Ready(t.Context())
			wantOnly(t, err, c.want)
			if c.text != "" && !strings.Contains(err.Error(), c.text) {
				t.Fatalf("%v does not mention %q", err, c.text)
			}
		})
	}
}

func TestReadyAsksEachTime(t *testing.T) {
	store := newStub(t, func(_ http.ResponseWriter, _ *http.Request) {})
	ready := store.store(t)
	for range 2 {
		if err := ready.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	store.Close()
	start := time.Now()
	wantOnly(t, ready.Ready(t.Context()), s3.ErrUnavailable)
	if took := time.Since(start); took > 8*time.Second {
		t.Fatalf("a dead store was noticed after %s", took)
	}
}

func TestReadyIsShortWhereNobodyAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	store := open(t, s3.Options{Endpoint: "http://" + silent.Addr().String(), Bucket: "bucket", AccessKey: "key", SecretKey: "secret"})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	wantOnly(t, store.Ready(ctx), s3.ErrUnavailable)
}

func TestSkew(t *testing.T) {
	store := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusForbidden)
	}).store(t)
	skew, err := store.Skew(t.Context())
	if err != nil || (skew-time.Hour).Abs() > 2*time.Second {
		t.Fatal(skew, err)
	}
	if skew, err = s3test.Open(t, s3test.Local(t)).Skew(t.Context()); err != nil || skew.Abs() > 2*time.Second {
		t.Fatal(skew, err)
	}
}

func TestWrongKeysAndBuckets(t *testing.T) {
	good := s3test.Local(t)
	for sentence, c := range map[string]struct {
		change func(*s3.Options)
		want   error
	}{
		"a wrong secret":       {func(o *s3.Options) { o.SecretKey = "wrong" }, s3.ErrDenied},
		"an unknown key":       {func(o *s3.Options) { o.AccessKey = "unknown" }, s3.ErrDenied},
		"another region":       {func(o *s3.Options) { o.Region = "eu-west-1" }, s3.ErrInvalid},
		"a bucket that is not": {func(o *s3.Options) { o.Bucket = "no-such-bucket" }, s3.ErrNotFound},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := good
			c.change(&o)
			store := open(t, o)
			wantOnly(t, store.Ready(t.Context()), c.want)
			_, err := store.Put(t.Context(), "k", strings.NewReader("x"), 1, "")
			wantOnly(t, err, c.want)
		})
	}
}

func TestCreatingABucketTwiceIsFine(t *testing.T) {
	if err := open(t, s3test.Local(t)).CreateBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
}
