package s3_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
)

func TestASmallPutIsOneRequest(t *testing.T) {
	store := newStub(t, accept)
	if _, err := store.store(t).Put(t.Context(), "k", bytes.NewReader(make([]byte, 1<<10)), 1<<10, ""); err != nil {
		t.Fatal(err)
	}
	if got := store.requests(); len(got) != 1 || got[0] != "PUT /bucket/k" {
		t.Fatalf("requests were %q", got)
	}
}

func TestAPutIsNotHeldInMemory(t *testing.T) {
	store := newStub(t, accept).store(t)
	const size = 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body := io.LimitReader(zeros{}, size)
	if _, err := store.Put(t.Context(), "k", body, size, ""); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Fatalf("a put of %d MiB allocated %d MiB", size>>20, grown>>20)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAPutIsRepeatedOnlyWhereTheBodyCanBe(t *testing.T) {
	var got []byte
	keep := func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		w.Header().Set("ETag", `"tag"`)
	}
	slowDown := func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusServiceUnavailable, "SlowDown") }
	data := strings.Repeat("0123456789", 50_000)

	t.Run("a body that seeks is sent again from its start", func(t *testing.T) {
		store := newStub(t, once(slowDown, keep))
		if _, err := store.store(t).Put(t.Context(), "k", strings.NewReader(data), int64(len(data)), ""); err != nil {
			t.Fatal(err)
		}
		if string(got) != data {
			t.Fatalf("the second attempt sent %d bytes", len(got))
		}
	})
	t.Run("a body that streams is sent once, and the store's reason is told", func(t *testing.T) {
		store := newStub(t, once(slowDown, keep))
		_, err := store.store(t).Put(t.Context(), "k", io.MultiReader(strings.NewReader(data)), int64(len(data)), "")
		if !errors.Is(err, s3.ErrUnavailable) || len(store.requests()) != 1 {
			t.Fatalf("%v after %d requests", err, len(store.requests()))
		}
	})
}

func TestAConnectionThatBreaksNeverLeavesAShortObject(t *testing.T) {
	data := strings.Repeat("0123456789", 100_000)
	var stored []string
	cut := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 1000)
		panic(http.ErrAbortHandler)
	}
	keep := func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			stored = append(stored, string(body))
		}
		w.Header().Set("ETag", `"tag"`)
	}
	for name, body := range map[string]io.Reader{"seeks": strings.NewReader(data), "streams": io.MultiReader(strings.NewReader(data))} {
		stored = nil
		_, err := newStub(t, once(cut, keep)).store(t).Put(t.Context(), "k", body, int64(len(data)), "")
		for _, object := range stored {
			if object != data {
				t.Errorf("%s: an object of %d bytes was stored", name, len(object))
			}
		}
		if err == nil && len(stored) == 0 || err != nil && !errors.Is(err, s3.ErrUnavailable) {
			t.Errorf("%s: error %v with %d objects stored", name, err, len(stored))
		}
	}
}

func TestEachAttemptIsSignedAnew(t *testing.T) {
	late := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(1100 * time.Millisecond)
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
	}
	store := newStub(t, once(late, accept))
	if _, err := store.store(t).Stat(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	first, second := store.headers(0), store.headers(1)
	if first.Get("X-Amz-Date") >= second.Get("X-Amz-Date") || first.Get("Authorization") == second.Get("Authorization") {
		t.Fatalf("signed at %s and again at %s", first.Get("X-Amz-Date"), second.Get("X-Amz-Date"))
	}
}

func TestLargePutsGoInParts(t *testing.T) {
	// The store refuses the first part: what matters is that nothing is left.
	store := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		case http.MethodPost:
			_, _ = io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>up</UploadId></InitiateMultipartUploadResult>")
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		default:
			refuse(w, http.StatusForbidden, "AccessDenied")
		}
	})
	_, err := store.store(t).Put(t.Context(), "k", zeros{}, s3.MaxPut+1, "")
	if !errors.Is(err, s3.ErrDenied) {
		t.Fatal(err)
	}
	got := store.requests()
	if len(got) != 4 {
		t.Fatalf("requests were %q", got)
	}
	wantPrefix(t, got[0], "HEAD /bucket/k")
	wantPrefix(t, got[1], "POST /bucket/k?uploads=")
	wantPrefix(t, got[2], "PUT /bucket/k?partNumber=1&uploadId=up")
	wantPrefix(t, got[3], "DELETE /bucket/k?uploadId=up")
}

func TestPartSize(t *testing.T) {
	for sentence, c := range map[string]struct{ size, atLeast, want int64 }{
		"small objects have the smallest part": {1, 0, s3.MinPart},
		"what is asked for is kept":            {1 << 30, 64 << 20, 64 << 20},
		"5 TiB need 525 MiB":                   {5 << 40, 64 << 20, 525 << 20},
		"ten thousand parts are enough":        {s3.MaxParts * s3.MinPart, 0, s3.MinPart},
		"one byte more needs a larger part":    {s3.MaxParts*s3.MinPart + 1, 0, 6 << 20},
	} {
		got := s3.PartSize(c.size, c.atLeast)
		if got != c.want {
			t.Errorf("%s: %d, want %d", sentence, got, c.want)
		}
		if parts := (c.size + got - 1) / got; parts > s3.MaxParts {
			t.Errorf("%s: %d parts", sentence, parts)
		}
	}
}
