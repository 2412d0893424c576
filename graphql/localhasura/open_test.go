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
func open(t testing.TB, fixture fs.FS, env func(string) string) *localhasura.Server {
	t.Helper()
	md, err := fs.Sub(fixture, "metadata")
	if err != nil {
		t.Fatal(err)
	}
	s, err := localhasura.Open(t.Context(), localhasura.Config{
		Metadata: md, Schema: read(t, fixture, "schema.sql") + read(t, fixture, "seed.sql"), Env: env, EventInterval: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func read(t testing.TB, files fs.FS, name string) string {
	t.Helper()
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func sub(t testing.TB, files fs.FS, dir string) fs.FS {
	t.Helper()
	inner, err := fs.Sub(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	return inner
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v) // test data can always be encoded
	return string(raw)
}
