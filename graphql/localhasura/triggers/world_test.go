package triggers_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/store"
	"hasura-storage/graphql/localhasura/triggers"
)

const schema = `
CREATE TABLE "hdb_catalog.hasura_user"(session TEXT);
INSERT INTO "hdb_catalog.hasura_user" VALUES (NULL);
CREATE TABLE "app.parents"(id integer PRIMARY KEY, name text);
CREATE TABLE "app.items"(
	id uuid PRIMARY KEY, parent_id integer REFERENCES "app.parents"(id) ON DELETE CASCADE,
	name text, size bigint, done boolean, meta jsonb, updated_at timestamptz);
CREATE TRIGGER stamp AFTER UPDATE ON "app.items" BEGIN
	UPDATE "app.items" SET updated_at = '2024-01-01T00:00:00+00:00' WHERE id = NEW.id; END;
CREATE TRIGGER fill AFTER INSERT ON "app.items" BEGIN
	UPDATE "app.items" SET name = coalesce(NEW.name, 'filled') WHERE id = NEW.id; END;
`

// world is an engine on a database, and a webhook that notes what it gets.
type world struct {
	t      *testing.T
	db     *store.DB
	engine *triggers.Engine
	dir    string
	now    *clock
	hook   *hook
	env    map[string]string
}

type clock struct {
	sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.Lock()
	defer c.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.Lock()
	defer c.Unlock()
	c.at = c.at.Add(d)
}

// hook is a webhook. answer decides; nil answers 200.
type hook struct {
	*httptest.Server
	sync.Mutex
	bodies  []string
	headers []http.Header
	answer  func(w http.ResponseWriter, n int)
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.Lock()
		h.bodies = append(h.bodies, string(body))
		h.headers = append(h.headers, r.Header)
		n, answer := len(h.bodies), h.answer
		h.Unlock()
		if answer != nil {
			answer(w, n)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) got() []string {
	h.Lock()
	defer h.Unlock()
	return slices.Clone(h.bodies)
}

func newWorld(t *testing.T, tables string, env ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), hook: newHook(t),
		now: &clock{at: time.Date(2024, 5, 2, 10, 11, 12, 123450000, time.UTC)}}
	w.env = map[string]string{"BASE": w.hook.URL, "SECRET": "s3cret"}
	for i := 0; i < len(env); i += 2 {
		w.env[env[i]] = env[i+1]
	}
	w.open()
	w.exec(schema)
	w.apply(tables)
	w.engine.Start()
	return w
}

func (w *world) open() {
	w.t.Helper()
	db, err := store.Open(context.Background(), w.dir, w.now.now)
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := triggers.Open(context.Background(), triggers.Options{DB: db, Now: w.now.now, Interval: 5 * time.Millisecond,
		Env: func(name string) string { return w.env[name] }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.db, w.engine = db, e
	w.t.Cleanup(func() { e.Close(); db.Close() })
}

// exec writes as somebody outside Hasura would.
func (w *world) exec(script string) {
	w.t.Helper()
	ctx := context.Background()
	if err := w.db.Write(ctx, "", func(tx *store.Tx) error { return tx.Script(ctx, script) }); err != nil {
		w.t.Fatal(err)
	}
}

// mutate runs statements as one mutation, each flushed.
func (w *world) mutate(statements ...string) {
	w.t.Helper()
	ctx := context.Background()
	err := w.db.Write(ctx, `{"x-hasura-role":"user"}`, func(tx *store.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(ctx, s); err != nil {
				return err
			}
			if err := w.engine.Flush(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine.Wake()
}

func (w *world) apply(members string) []metadata.InconsistentObject {
	w.t.Helper()
	m, err := metadata.Parse([]byte(`{"version":3,` + members + `}`))
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := catalog.Read(context.Background(), w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	bad, err := w.engine.Apply(context.Background(), m, c)
	if err != nil {
		w.t.Fatal(err)
	}
	return bad
}

func (w *world) idle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.engine.Idle(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// onItems is metadata with event triggers on app.items.
func onItems(triggers ...string) string {
	return `"sources":[{"name":"default","kind":"postgres","tables":[{"table":{"schema":"app","name":"items"},"event_triggers":[` +
		strings.Join(triggers, ",") + `]}]}]`
}

func trigger(name, definition, more string) string {
	return `{"name":"` + name + `","webhook":"{{BASE}}/` + name + `","definition":` + definition + more + `}`
}

const insertOne = `INSERT INTO "app.items"(id, name, size, done, meta) VALUES ('a0000000-0000-0000-0000-000000000001', 'one', 9007199254740993, 1, '{"k":[1,null]}')`

// event parts a delivery for comparison; the ids are random.
func event(t *testing.T, body string) (op, before, after string) {
	t.Helper()
	var d struct {
		Event struct {
			Op   string
			Data struct{ Old, New json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	return d.Event.Op, string(d.Event.Data.Old), string(d.Event.Data.New)
}
