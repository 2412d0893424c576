package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura"
	metadata "hasura-storage/hasura-metadata"
	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

// world is a Hasura with the whole project, a store, and the environment of a
// service between them.
type world struct {
	t      *testing.T
	hasura string
	store  *s3.Store
	env    map[string]string
	knows  *sync.Map // Hasura's own environment, read by its triggers at any time
}

func startWorld(t *testing.T) *world {
	t.Helper()
	project, err := metadata.WithStarter()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := fs.Sub(project, "metadata")
	if err != nil {
		t.Fatal(err)
	}
	knows := new(sync.Map)
	knows.Store("HASURA_GRAPHQL_ADMIN_SECRET", "the-admin-secret")
	knows.Store("HASURA_STORAGE_URL", "http://127.0.0.1:1")
	knows.Store("HASURA_STORAGE_SECRET", "the-secret")
	hasura := startHasura(t, localhasura.Config{
		Metadata: folder, Migrations: project,
		Env: func(name string) string {
			value, _ := knows.Load(name)
			text, _ := value.(string)
			return text
		},
	})
	o := s3test.Start(t)
	return &world{t: t, hasura: hasura, knows: knows, store: s3test.Open(t, o), env: map[string]string{
		"HASURA_ENDPOINT": hasura + "/v1", "HASURA_GRAPHQL_ADMIN_SECRET": "the-admin-secret", "HASURA_STORAGE_SECRET": "the-secret",
		"S3_ENDPOINT": "http://" + strings.TrimPrefix(o.Endpoint, "http://"), "S3_BUCKET": o.Bucket, "S3_REGION": o.Region,
		"S3_ACCESS_KEY": o.AccessKey, "S3_SECRET_KEY": o.SecretKey, "S3_ROOT_FOLDER": "files",
		"SIGNING_KEYS": "a key of at least thirty-two bytes",
	}}
}

// startHasura serves a local Hasura for the length of the test, and returns its
// address. It delivers no events meanwhile.
func startHasura(t *testing.T, c localhasura.Config) string {
	t.Helper()
	c.EventInterval = time.Hour
	server, err := localhasura.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		listener.Close()
		_ = server.Close()
	})
	return listener.URL
}

// run runs a command, and returns what it says.
func (w *world) run(args ...string) (string, error) {
	w.t.Helper()
	var out strings.Builder
	err := run(w.t.Context(), args, func(name string) string { return w.env[name] }, &out)
	return out.String(), err
}

// admin asks Hasura as its admin and returns the answer's text.
func (w *world) admin(query string) string {
	w.t.Helper()
	body, _ := json.Marshal(map[string]string{"query": query})
	r, _ := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.hasura+"/v1/graphql", bytes.NewReader(body))
	r.Header.Set("X-Hasura-Admin-Secret", "the-admin-secret")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if strings.Contains(string(text), `"errors"`) {
		w.t.Fatal(string(text))
	}
	return string(text)
}
