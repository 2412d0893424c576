package localhasura_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura"
)

// eventHook notes the events that it gets as "OP old new session".
type eventHook struct {
	sync.Mutex
	got []string
}

// ServeHTTP accepts an event.
func (h *eventHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var d struct {
		Event struct {
			Op      string
			Session json.RawMessage `json:"session_variables"`
			Data    struct{ Old, New json.RawMessage }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil || r.Header.Get("X-Secret") != "s3cret" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.Lock()
	defer h.Unlock()
	e := d.Event
	h.got = append(h.got, e.Op+" "+string(e.Data.Old)+" "+string(e.Data.New)+" "+string(e.Session))
}

func openEvents(t *testing.T) (*localhasura.Server, *eventHook) {
	t.Helper()
	hook := &eventHook{}
	server := httptest.NewServer(hook)
	t.Cleanup(server.Close)
	env := map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret, "WEBHOOK": server.URL, "SECRET": "s3cret"}
	return open(t, os.DirFS("testdata/fixtures/events"), func(name string) string { return env[name] }), hook
}

// ask sends a mutation as the admin, or with a role as the user 7.
func ask(t *testing.T, s *localhasura.Server, role, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/graphql", bytes.NewReader(body))
	r.Header.Set("X-Hasura-Admin-Secret", secret)
	if role != "" {
		r.Header.Set("X-Hasura-Role", role)
		r.Header.Set("X-Hasura-User-Id", "7")
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestMutationsFireEventTriggers(t *testing.T) {
	const admin = `{"x-hasura-role":"admin"}`
	const user = `{"x-hasura-role":"user","x-hasura-user-id":"7"}`
	for name, c := range map[string]struct {
		role, query string
		want        []string
	}{
		"an insert of a role": {"user", `mutation { insert_item_one(object: {id: 9, boxId: "a", name: "n"}) { id } }`,
			[]string{`INSERT null {"id":9,"name":"n"} ` + user}},
		"an insert that the check refuses": {"user", `mutation { insert_item_one(object: {id: 9, boxId: "a", name: "forbidden"}) { id } }`, nil},
		"several inserts": {"", `mutation { insert_item(objects: [{id: 8, boxId: "a", name: "m"}, {id: 9, boxId: "a", name: "n"}]) { affected_rows } }`,
			[]string{`INSERT null {"id":8,"name":"m"} ` + admin, `INSERT null {"id":9,"name":"n"} ` + admin}},
		"a nested insert": {"", `mutation { insert_box_one(object: {id: "c", items: {data: [{id: 9, name: "n"}]}}) { id } }`,
			[]string{`INSERT null {"id":9,"name":"n"} ` + admin}},
		"an update of listened columns": {"", `mutation { update_item(where: {id: {_eq: 1}}, _set: {name: "uno"}) { affected_rows } }`,
			[]string{`UPDATE {"id":1,"box_id":"a","name":"one"} {"id":1,"box_id":"a","name":"uno"} ` + admin}},
		"an update of other columns":       {"", `mutation { update_item(where: {}, _set: {size: 5, done: true, meta: {a: 1}}) { affected_rows } }`, nil},
		"an update to the same value":      {"", `mutation { update_item(where: {id: {_eq: 1}}, _set: {name: "one"}) { affected_rows } }`, nil},
		"an update that the table refuses": {"", `mutation { a: update_item(where: {id: {_eq: 1}}, _set: {name: "x"}) { affected_rows } b: update_item(where: {id: {_eq: 2}}, _set: {name: ""}) { affected_rows } }`, nil},
		"the same row twice in one mutation": {"", `mutation { a: update_item(where: {id: {_eq: 1}}, _set: {name: "x"}) { affected_rows } b: update_item(where: {id: {_eq: 1}}, _set: {name: "y"}) { affected_rows } }`,
			[]string{`UPDATE {"id":1,"box_id":"a","name":"one"} {"id":1,"box_id":"a","name":"x"} ` + admin, `UPDATE {"id":1,"box_id":"a","name":"x"} {"id":1,"box_id":"a","name":"y"} ` + admin}},
		"the same row twice in update_many": {"", `mutation { update_item_many(updates: [{where: {id: {_eq: 1}}, _set: {name: "x"}}, {where: {id: {_eq: 1}}, _set: {name: "y"}}]) { affected_rows } }`,
			[]string{`UPDATE {"id":1,"box_id":"a","name":"one"} {"id":1,"box_id":"a","name":"x"} ` + admin, `UPDATE {"id":1,"box_id":"a","name":"x"} {"id":1,"box_id":"a","name":"y"} ` + admin}},
		"an upsert that updates": {"", `mutation { insert_item(objects: [{id: 1, boxId: "a", name: "up"}], on_conflict: {constraint: item_pkey, update_columns: [name]}) { affected_rows } }`,
			[]string{`UPDATE {"id":1,"box_id":"a","name":"one"} {"id":1,"box_id":"a","name":"up"} ` + admin}},
		"an upsert that does nothing": {"", `mutation { insert_item(objects: [{id: 1, boxId: "a", name: "up"}], on_conflict: {constraint: item_pkey}) { affected_rows } }`, nil},
		"a delete":                    {"", `mutation { delete_item_by_pk(id: 3) { id } }`, []string{`DELETE {"id":3} null ` + admin}},
		"a cascade of a delete":       {"", `mutation { delete_box_by_pk(id: "a") { id } }`, []string{`DELETE {"id":1} null ` + admin, `DELETE {"id":2} null ` + admin}},
		"a cascade of an update": {"", `mutation { update_box_by_pk(pk_columns: {id: "b"}, _set: {id: "z"}) { id } }`,
			[]string{`UPDATE {"id":3,"box_id":"b","name":"three"} {"id":3,"box_id":"z","name":"three"} ` + admin}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, hook := openEvents(t)
			answer := ask(t, s, c.role, c.query)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Triggers().Idle(ctx); err != nil {
				t.Fatal(err)
			}
			hook.Lock()
			defer hook.Unlock()
			slices.Sort(hook.got)
			slices.Sort(c.want)
			if !slices.Equal(hook.got, c.want) {
				t.Errorf("events = %q\nwant     %q\nanswer   %s", hook.got, c.want, answer)
			}
		})
	}
}

func TestPendingEventsSurviveARestart(t *testing.T) {
	hook := &eventHook{}
	server := httptest.NewServer(hook)
	t.Cleanup(server.Close)
	fixture := os.DirFS("testdata/fixtures/events")
	env := map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret, "WEBHOOK": server.URL, "SECRET": "s3cret"}
	config := localhasura.Config{
		Metadata: metadataOf(t, fixture), Schema: read(t, fixture, "schema.sql") + read(t, fixture, "seed.sql"),
		Dir: t.TempDir(), Env: func(name string) string { return env[name] },
	}
	for start := range 2 {
		s, err := localhasura.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if start == 0 {
			s.Triggers().Pause("item_any")
			ask(t, s, "", `mutation { delete_item(where: {}) { affected_rows } }`)
		} else if err := s.Triggers().Idle(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(hook.got) != 3 {
		t.Errorf("events after the restart = %q", hook.got)
	}
}
