package triggers_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hasura-storage/graphql/localhasura/store"
)

func TestDelivery(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*"}}`,
		`,"headers":[{"name":"x-secret","value_from_env":"SECRET"},{"name":"user-agent","value":"other"}],"retry_conf":{"num_retries":3,"interval_sec":1}`)))
	w.mutate(insertOne)
	w.idle()
	got := w.hook.got()
	if len(got) != 1 {
		t.Fatalf("%d deliveries: %v", len(got), got)
	}
	id := got[0][len(`{"id":"`) : len(`{"id":"`)+36]
	want := `{"id":"` + id + `","created_at":"2024-05-02T10:11:12.12345","delivery_info":{"current_retry":0,"max_retries":3},` +
		`"trigger":{"name":"made"},"table":{"schema":"app","name":"items"},"event":{"op":"INSERT","session_variables":{"x-hasura-role":"user"},` +
		`"data":{"old":null,"new":{"id":"a0000000-0000-0000-0000-000000000001","parent_id":null,"name":"one","size":9007199254740993,"done":true,` +
		`"meta":{"k":[1,null]},"updated_at":"2024-01-01T00:00:00+00:00"}},"trace_context":null}}`
	if got[0] != want {
		t.Errorf("body = %s\nwant   %s", got[0], want)
	}
	h := w.hook.headers[0]
	if h.Get("X-Secret") != "s3cret" || h.Get("User-Agent") != "hasura-graphql-engine/v2.43.0" || h.Get("Content-Type") != "application/json" {
		t.Errorf("headers = %v", h)
	}
}

func TestWhatFires(t *testing.T) {
	const all = `{"enable_manual":false,"insert":{"columns":"*"},"update":{"columns":"*"},"delete":{"columns":"*"}}`
	const names = `{"enable_manual":false,"update":{"columns":["name"],"payload":["id","name"]}}`
	const row = `a0000000-0000-0000-0000-000000000001`
	for name, c := range map[string]struct {
		definition string
		statements []string
		want       []string // op and name of old and new
	}{
		"an insert that the table's own trigger completes": {all,
			[]string{`INSERT INTO "app.items"(id) VALUES ('` + row + `')`}, []string{"INSERT - filled"}},
		"an update that the table's own trigger stamps": {all,
			[]string{insertOne, `UPDATE "app.items" SET name = 'two'`}, []string{"INSERT - one", "UPDATE one two"}},
		"two statements are two events": {all,
			[]string{insertOne, `UPDATE "app.items" SET name = 'two'`, `UPDATE "app.items" SET name = 'three'`}, []string{"INSERT - one", "UPDATE one two", "UPDATE two three"}},
		"an update that changes nothing": {all,
			[]string{insertOne, `UPDATE "app.items" SET updated_at = '2024-01-01T00:00:00+00:00'`}, []string{"INSERT - one"}},
		"an update of columns that are not listened to": {names,
			[]string{insertOne, `UPDATE "app.items" SET size = 5`}, nil},
		"an update from null": {names,
			[]string{insertOne, `UPDATE "app.items" SET name = NULL`, `UPDATE "app.items" SET name = NULL`, `UPDATE "app.items" SET name = 'x'`}, []string{"UPDATE one null", "UPDATE null x"}},
		"a delete": {all,
			[]string{insertOne, `DELETE FROM "app.items"`}, []string{"INSERT - one", "DELETE one -"}},
		"a cascade": {`{"enable_manual":false,"delete":{"columns":"*"}}`,
			[]string{`INSERT INTO "app.parents" VALUES (1, 'p')`, insertOne, `UPDATE "app.items" SET parent_id = 1`, `DELETE FROM "app.parents"`}, []string{"DELETE one -"}},
		"an upsert that updates": {all,
			[]string{insertOne, `INSERT INTO "app.items"(id, name) VALUES ('` + row + `', 'x') ON CONFLICT(id) DO UPDATE SET name = 'up'`}, []string{"INSERT - one", "UPDATE one up"}},
		"an upsert that does nothing": {all,
			[]string{insertOne, `INSERT INTO "app.items"(id, name) VALUES ('` + row + `', 'x') ON CONFLICT DO NOTHING`}, []string{"INSERT - one"}},
		"a new primary key": {all,
			[]string{insertOne, `UPDATE "app.items" SET id = 'b0000000-0000-0000-0000-000000000001', name = 'moved'`}, []string{"INSERT - one", "UPDATE one moved"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, onItems(trigger("watch", c.definition, "")))
			w.mutate(c.statements...)
			w.idle()
			got := w.hook.got()
			for i, body := range got {
				op, before, after := event(t, body)
				got[i] = op + " " + nameIn(before) + " " + nameIn(after)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("events = %q\nwant     %q", got, c.want)
			}
		})
	}
}

func nameIn(row string) string {
	if row == "null" {
		return "-"
	}
	var v struct{ Name *string }
	if err := json.Unmarshal([]byte(row), &v); err != nil {
		return err.Error()
	}
	if v.Name == nil {
		return "null"
	}
	return *v.Name
}

func TestPayloadColumns(t *testing.T) {
	w := newWorld(t, onItems(trigger("few", `{"enable_manual":false,"delete":{"columns":"*","payload":["size","id"]}}`, "")))
	w.mutate(insertOne, `DELETE FROM "app.items"`)
	w.idle()
	_, old, _ := event(t, w.hook.got()[0])
	if want := `{"id":"a0000000-0000-0000-0000-000000000001","size":9007199254740993}`; old != want {
		t.Errorf("old = %s, want %s", old, want)
	}
}

func TestBigNumbersAsTexts(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*","payload":["size","done","parent_id"]}}`, "")),
		"HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES", "true")
	w.mutate(`INSERT INTO "app.parents" VALUES (3, 'p')`, insertOne, `INSERT INTO "app.items"(id, parent_id) VALUES ('b', 3)`)
	w.idle()
	rows := w.hook.got()
	for i, body := range rows {
		_, _, rows[i] = event(t, body)
	}
	slices.Sort(rows)
	want := []string{`{"parent_id":3,"size":null,"done":null}`, `{"parent_id":null,"size":"9007199254740993","done":true}`}
	if !slices.Equal(rows, want) {
		t.Errorf("rows = %q, want %q", rows, want)
	}
}

func TestNoEventWithoutCommit(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*"}}`, "")))
	ctx := context.Background()
	wrong := errors.New("a later statement failed")
	err := w.db.Write(ctx, "", func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, insertOne); err != nil {
			return err
		}
		if err := w.engine.Flush(ctx, tx); err != nil {
			return err
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	w.idle()
	if got := w.hook.got(); len(got) != 0 {
		t.Errorf("delivered %v", got)
	}
}

func TestWritesOutsideHasuraFireWithoutSession(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*"}}`, "")))
	w.exec(insertOne) // and nobody flushes or wakes
	w.idle()
	if got := w.hook.got(); len(got) != 1 || !strings.Contains(got[0], `"session_variables":null`) {
		t.Errorf("delivered %v", got)
	}
}

func TestManyEventsAtOnce(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*"}}`, "")))
	w.mutate(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
		INSERT INTO "app.items"(id, name) SELECT printf('a0000000-0000-0000-0000-%012d', i), 'n' FROM n`)
	w.idle()
	seen := map[string]bool{}
	for _, body := range w.hook.got() {
		seen[body] = true
	}
	if len(seen) != 250 {
		t.Errorf("%d of 250 events were delivered", len(seen))
	}
}
