package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/store"
)

func openStore(t *testing.T, dir string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dir, func() time.Time { return time.Date(2024, 1, 15, 12, 34, 56, 500_000_000, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestFunctions(t *testing.T) {
	db := openStore(t, "")
	for query, want := range map[string]string{
		`now()`:                                                    "2024-01-15T12:34:56.5+00:00",
		`length(gen_random_uuid())`:                                "36",
		`pg_like('abc', 'a%')`:                                     "1",
		`pg_like('ABC', 'a%')`:                                     "0",
		`pg_ilike('ABC', 'a_c')`:                                   "1",
		`pg_like('100%', '100\%')`:                                 "1",
		`pg_like('a' || char(10) || 'b', 'a%b')`:                   "1",
		`pg_like(NULL, 'a')`:                                       "null",
		`pg_similar('abc', '(a|b)%')`:                              "1",
		`pg_similar('a.c', 'a.c')`:                                 "1",
		`pg_similar('abc', 'a.c')`:                                 "0",
		`pg_regex('abc', 'b')`:                                     "1",
		`pg_iregex('ABC', '^b')`:                                   "0",
		`pg_jsonb_contains('[1,2,{"a":[3]}]', '[{"a":[]}]')`:       "1",
		`pg_jsonb_contains('[1,2]', '1')`:                          "1",
		`pg_jsonb_contains('1', '[1]')`:                            "0",
		`pg_jsonb_contains('{"a":1.0}', '{"a":1}')`:                "1",
		`pg_jsonb_contained('{"a":1}', '{"a":1,"b":2}')`:           "1",
		`pg_jsonb_has_key('["a","b"]', 'b')`:                       "1",
		`pg_jsonb_has_key('{"[]":1}', '[]')`:                       "1",
		`pg_jsonb_has_all('{"a":1}', '["a","b"]')`:                 "0",
		`pg_jsonb_has_any('{"a":1}', '["a","b"]')`:                 "1",
		`pg_jsonb_concat('{"a":1}', '{"a":2,"b":3}')`:              `{"a":2,"b":3}`,
		`pg_jsonb_concat('[1]', '{"a":2}')`:                        `[1,{"a":2}]`,
		`pg_jsonb_concat('1', '2')`:                                `[1,2]`,
		`pg_jsonb_delete_key('["a","b"]', 'a')`:                    `["b"]`,
		`pg_jsonb_delete_elem('[1,2,3]', -1)`:                      `[1,2]`,
		`pg_jsonb_delete_path('{"a":[{"b":1}]}', '["a","0","b"]')`: `{"a":[{}]}`,
		`pg_jsonb_text('{"b":[1,2],"a":null}')`:                    `{"a": null, "b": [1, 2]}`,
		`pg_json_path('{"a":[null]}', '["a","0"]')`:                "null",
		`pg_json_path('{"a":[7]}', '["a","-1"]')`:                  "7",
		`pg_json_path('{"a":1}', '["b"]')`:                         "null",
		`pg_number(1.0)`:                                           "1",
		`pg_number(0.1)`:                                           "0.1",
		`pg_add(2, 3, 32)`:                                         "5",
	} {
		got, err := db.Text(t.Context(), "SELECT "+query, nil)
		if err != nil || got != want {
			t.Errorf("%s: got %s (%v), want %s", query, got, err, want)
		}
	}
}

func TestFunctionsFailAsPostgresDoes(t *testing.T) {
	db := openStore(t, "")
	for query, want := range map[string]string{
		`pg_like('ab', 'a\')`:                "22025: LIKE pattern must not end with escape character",
		`pg_regex('a', '(')`:                 "2201B: invalid regular expression: parentheses () not balanced",
		`pg_add(2147483647, 1, 32)`:          "22003: integer out of range",
		`pg_add(9223372036854775807, 1, 64)`: "22003: bigint out of range",
		`pg_jsonb_delete_elem('{}', 1)`:      "22023: cannot delete from object using integer index",
	} {
		_, err := db.Text(t.Context(), "SELECT "+query, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", query, err, want)
		}
	}
}

const userTable = `CREATE TABLE "hdb_catalog.hasura_user"(session TEXT); INSERT INTO "hdb_catalog.hasura_user" VALUES (NULL); CREATE TABLE t(a text);`

func script(t *testing.T, db *store.DB, text string) {
	t.Helper()
	if err := db.Write(t.Context(), "", func(tx *store.Tx) error { return tx.Script(t.Context(), text) }); err != nil {
		t.Fatal(err)
	}
}

func TestWriteShowsTheSessionInsideOnly(t *testing.T) {
	db := openStore(t, "")
	script(t, db, userTable)
	const read = `SELECT session FROM "hdb_catalog.hasura_user"`
	err := db.Write(t.Context(), `{"x-hasura-role":"user"}`, func(tx *store.Tx) error {
		got, err := tx.Text(t.Context(), read, nil)
		if got != `{"x-hasura-role":"user"}` {
			t.Errorf("inside: got %s", got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := db.Text(t.Context(), read, nil); err != nil || got != "null" {
		t.Errorf("outside: got %s (%v)", got, err)
	}
}

func TestWriteRollsBackOnErrorsAndPanics(t *testing.T) {
	db := openStore(t, "")
	script(t, db, userTable)
	failure := errors.New("failure")
	insert := func(tx *store.Tx) {
		if _, err := tx.Exec(t.Context(), "INSERT INTO t VALUES (?)", "x"); err != nil {
			t.Error(err)
		}
	}
	if err := db.Write(t.Context(), "{}", func(tx *store.Tx) error { insert(tx); return failure }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Write(t.Context(), "{}", func(tx *store.Tx) error { insert(tx); panic("fault") })
	}()
	if got, err := db.Text(t.Context(), "SELECT count(*) FROM t", nil); err != nil || got != "0" {
		t.Errorf("rows: got %s (%v), want 0", got, err)
	}
}

func TestWriteWaitsNoLongerThanItsContext(t *testing.T) {
	db := openStore(t, "")
	script(t, db, userTable)
	err := db.Write(t.Context(), "", func(*store.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := db.Write(ctx, "", func(*store.Tx) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenKeepsRows(t *testing.T) {
	dir := t.TempDir()
	first := openStore(t, dir)
	script(t, first, userTable+`INSERT INTO t VALUES ('kept')`)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := openStore(t, dir).Text(t.Context(), "SELECT a FROM t", nil); err != nil || got != "kept" {
		t.Errorf("got %s (%v)", got, err)
	}
}

func TestOpenTakesARelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	script(t, openStore(t, "a/b"), "create table t (x integer)")
}
