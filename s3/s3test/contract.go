package s3test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hasura-storage/s3"
)

// promise is one sentence of the contract and its proof.
type promise func(b bench)

// bench is what a promise is tried with.
type bench struct {
	*testing.T
	*s3.Store
}

// Contract checks every promise of package s3 on the bucket of store, which
// must be empty and is left with objects in it.
func Contract(t *testing.T, store *s3.Store) {
	t.Helper()
	for _, chapter := range []struct {
		name     string
		promises map[string]promise
	}{
		{"objects", objects}, {"copies", copies}, {"lists", lists}, {"multipart", multiparts}, {"presigned", presigned},
	} {
		t.Run(chapter.name, func(t *testing.T) {
			for _, sentence := range slices.Sorted(maps.Keys(chapter.promises)) {
				t.Run(sentence, func(t *testing.T) { chapter.promises[sentence](bench{t, store}) })
			}
		})
	}
}

// key is a name that no other promise uses.
func (b bench) key(last string) string {
	_, sentence, _ := strings.Cut(b.Name(), "/")
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

func (b bench) put(key string, data []byte) s3.Object {
	b.Helper()
	object, err := b.Put(b.Context(), key, bytes.NewReader(data), int64(len(data)), "text/plain")
	if err != nil {
		b.Fatal(err)
	}
	return object
}

func (b bench) read(key string, o s3.GetOptions) ([]byte, s3.Object) {
	b.Helper()
	body, object, err := b.Get(b.Context(), key, o)
	if err != nil {
		b.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		b.Fatal(err)
	}
	return data, object
}

func (b bench) holds(key string, want []byte) {
	b.Helper()
	if got, _ := b.read(key, s3.GetOptions{}); !bytes.Equal(got, want) {
		b.Fatalf("%s holds %d bytes, want %d (or other bytes)", key, len(got), len(want))
	}
}

func (b bench) absent(key string) {
	b.Helper()
	_, err := b.Stat(b.Context(), key)
	b.wantErr(err, s3.ErrNotFound)
}

func (b bench) wantErr(got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Fatalf("error is %v, want %v", got, want)
	}
}

func wantEqual[T comparable](b bench, what string, got, want T) {
	b.Helper()
	if got != want {
		b.Fatalf("%s is %v, want %v", what, got, want)
	}
}
