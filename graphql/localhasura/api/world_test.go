package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/api"
	"hasura-storage/graphql/localhasura/auth"
	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/store"
	"hasura-storage/graphql/localhasura/triggers"
)

const schema = `
CREATE TABLE "hdb_catalog.hasura_user"(session TEXT);
INSERT INTO "hdb_catalog.hasura_user" VALUES (NULL);
CREATE TABLE author(id integer PRIMARY KEY, name text NOT NULL, active boolean);
CREATE TABLE article(id integer PRIMARY KEY, title text, author_id integer REFERENCES author(id));
CREATE TABLE "blog.post"(id integer PRIMARY KEY);
`

// backend is the smallest server: it knows tables, relationships and the
// columns of select permissions.
type backend struct {
	state    api.State
	db       *store.DB
	triggers *triggers.Engine
}

func (b *backend) Current() api.State { return b.state }

func (b *backend) Put(ctx context.Context, m *metadata.Metadata) error {
	bad, err := b.Check(ctx, m, b.db)
	if err != nil {
		return err
	}
	tables, err := catalog.Read(ctx, b.db)
	if err != nil {
		return err
	}
	if _, err := b.triggers.Apply(ctx, m, tables); err != nil {
		return err
	}
	b.state = api.State{Metadata: m, Version: b.state.Version + 1, Inconsistent: bad}
	return nil
}

func (b *backend) Check(ctx context.Context, m *metadata.Metadata, q catalog.Queryer) ([]metadata.InconsistentObject, error) {
	tables, err := catalog.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	bad := b.triggers.Check(m, tables)
	for _, s := range m.Sources {
		for _, t := range s.Tables {
			bad = append(bad, checkTable(s, t, tables)...)
		}
	}
	return bad, nil
}

func checkTable(s metadata.Source, t metadata.Table, tables *catalog.Catalog) (bad []metadata.InconsistentObject) {
	found := tables.Table(t.Table.Schema, t.Table.Name)
	if found == nil {
		return append(bad, metadata.Inconsistent("table", fmt.Sprintf("table %s in source %s", t.Table, s.Name),
			fmt.Sprintf("no such table/view exists in source: %q", t.Table), t.Table))
	}
	for _, r := range t.ArrayRelationships {
		if k := r.Using.ForeignKey; k != nil && s.Table(*k.Table) == nil {
			bad = append(bad, metadata.Inconsistent("array_relation",
				fmt.Sprintf("array_relation %s in table %s in source %s", r.Name, t.Table, s.Name), fmt.Sprintf("table %q is not tracked", k.Table), r))
		}
	}
	for _, p := range t.SelectPermissions {
		for _, c := range p.Permission.Columns.Names {
			if found.Column(c) == nil {
				bad = append(bad, metadata.Inconsistent("select_permission",
					fmt.Sprintf("select_permission %s in table %s in source %s", p.Role, t.Table, s.Name), fmt.Sprintf("column %q does not exist", c), p))
			}
		}
	}
	return bad
}

// world is an API on a database of its own.
type world struct {
	t       *testing.T
	server  *httptest.Server
	backend *backend
	engine  *triggers.Engine
	db      *store.DB
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, "", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(ctx, "", func(tx *store.Tx) error { return tx.Script(ctx, schema) }); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		return map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": "s", "BASE": "http://127.0.0.1:1"}[name]
	}
	e, err := triggers.Open(ctx, triggers.Options{DB: db, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	a, err := auth.New(env)
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{db: db, triggers: e}
	if err := b.Put(ctx, &metadata.Metadata{Version: 3, Sources: []metadata.Source{{Name: "default", Kind: "postgres"}}}); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, server: httptest.NewServer(api.New(b, a, db, e)), backend: b, engine: e, db: db}
	t.Cleanup(func() { w.server.Close(); e.Close(); db.Close() })
	return w
}

// post sends a body as the admin unless headers say otherwise.
func (w *world) post(path, body string, headers ...string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("X-Hasura-Admin-Secret", "s")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

// step is one request and its answer; "…" in the answer stands for anything.
type step struct{ request, want string }

func ok(request string) step { return step{request, `{"message":"success"}`} }

func fails(request, code, message, path string) step {
	raw, _ := json.Marshal(message)
	return step{request, `{"path":"` + path + `","error":` + string(raw) + `,"code":"` + code + `"…`}
}

func (w *world) steps(path string, steps ...step) {
	w.t.Helper()
	for i, s := range steps {
		if _, got := w.post(path, s.request); !like(got, s.want) {
			w.t.Fatalf("step %d: %s\nanswer %s\nwant   %s", i, s.request, got, s.want)
		}
	}
}

func like(got, want string) bool {
	parts := strings.Split(want, "…")
	if len(parts) == 1 {
		return got == want
	}
	last := len(parts) - 1
	if !strings.HasPrefix(got, parts[0]) || !strings.HasSuffix(got, parts[last]) {
		return false
	}
	for _, part := range parts[:last] {
		_, after, found := strings.Cut(got, part)
		if !found {
			return false
		}
		got = after
	}
	return true
}

func cmd(kind, args string) string { return `{"type":"` + kind + `","args":` + args + `}` }
