package s3test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
)

// promise is one sentence of the contract and its proof.
type promise func(t *testing.T, b bench)

// bench is what a promise is tried on: an empty bucket.
type bench struct {
	*s3.Store
	ctx context.Context
}

// Contract checks every promise of package s3 on the bucket of store, which
// must be empty and is left with objects in it.
func Contract(t *testing.T, store *s3.Store) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for _, chapter := range []struct {
		name     string
		promises map[string]promise
	}{
		{"objects", objects}, {"copies", copies}, {"lists", lists}, {"multipart", multiparts}, {"presigned", presigned},
	} {
		t.Run(chapter.name, func(t *testing.T) {
			for _, sentence := range slices.Sorted(maps.Keys(chapter.promises)) {
				t.Run(sentence, func(t *testing.T) { chapter.promises[sentence](t, bench{store, ctx}) })
			}
		})
	}
}

// key is a name that no other promise uses.
func key(t *testing.T, last string) string {
	_, sentence, _ := strings.Cut(t.Name(), "/")
	return sentence + "/" + last
}

// noise is n bytes that look the same in every run.
func noise(n int) []byte {
	data := make([]byte, n)
	source := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = source.Read(data)
	return data
}

// streamed hides that a body can seek.
func streamed(data []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(data)} }

func (b bench) put(t *testing.T, key string, data []byte) s3.Object {
	t.Helper()
	object, err := b.Put(b.ctx, key, bytes.NewReader(data), int64(len(data)), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func (b bench) read(t *testing.T, key string, o s3.GetOptions) ([]byte, s3.Object) {
	t.Helper()
	body, object, err := b.Get(b.ctx, key, o)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return data, object
}

func (b bench) holds(t *testing.T, key string, want []byte) {
	t.Helper()
	if got, _ := b.read(t, key, s3.GetOptions{}); !bytes.Equal(got, want) {
		t.Fatalf("%s holds %d bytes, want %d (or other bytes)", key, len(got), len(want))
	}
}

func (b bench) absent(t *testing.T, key string) {
	t.Helper()
	_, err := b.Stat(b.ctx, key)
	wantErr(t, err, s3.ErrNotFound)
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("error is %v, want %v", got, want)
	}
}

func wantEqual[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}
