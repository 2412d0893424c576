package localhasura_test

import (
	"encoding/json"
	"io/fs"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura"
)

// open starts a local Hasura on a fixture: its metadata folder, schema.sql and
// the rows of seed.sql.
func open(tb testing.TB, fixture fs.FS, env func(string) string) *localhasura.Server {
	tb.Helper()
	md, err := fs.Sub(fixture, "metadata")
	if err != nil {
		tb.Fatal(err)
	}
	s, err := localhasura.Open(tb.Context(), localhasura.Config{
		Metadata: md, Schema: read(tb, fixture, "schema.sql") + read(tb, fixture, "seed.sql"), Env: env, EventInterval: 50 * time.Millisecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func read(tb testing.TB, files fs.FS, name string) string {
	tb.Helper()
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

// metadataOf is the metadata folder of a project.
func metadataOf(tb testing.TB, files fs.FS) fs.FS {
	tb.Helper()
	inner, err := fs.Sub(files, "metadata")
	if err != nil {
		tb.Fatal(err)
	}
	return inner
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v) // test data can always be encoded
	return string(raw)
}
