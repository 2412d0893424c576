package plan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/schema"
	"hasura-storage/graphql/localhasura/store"
)

const ddl = `
CREATE TABLE "shop.owner"(id uuid PRIMARY KEY, name text NOT NULL, since date);
CREATE TABLE "shop.item"(id bigint PRIMARY KEY, label varchar(20), owner_id uuid REFERENCES "shop.owner"(id), extra jsonb, sold boolean, price numeric, at timestamptz);
`

const tables = `{"version": 3, "sources": [{"name": "default", "kind": "postgres", "tables": [
	{"table": {"schema": "shop", "name": "owner"}, "array_relationships": [{"name": "items", "using": {"foreign_key_constraint_on": {"column": "owner_id", "table": {"schema": "shop", "name": "item"}}}}]},
	{"table": {"schema": "shop", "name": "item"}, "configuration": {"custom_name": "items"}, "object_relationships": [{"name": "owner", "using": {"foreign_key_constraint_on": "owner_id"}}],
	 "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {"owner": {"name": {"_eq": "X-Hasura-Name"}}}}}]}]}]}`

// shop is a database with a schema for a role.
func shop(tb testing.TB, role string) (*store.DB, *schema.Schema) {
	tb.Helper()
	db, err := store.Open(tb.Context(), "", time.Now)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	if err := db.Write(tb.Context(), "", func(tx *store.Tx) error { return tx.Script(tb.Context(), ddl) }); err != nil {
		tb.Fatal(err)
	}
	known, err := catalog.Read(tb.Context(), db)
	if err != nil {
		tb.Fatal(err)
	}
	md, err := metadata.Parse([]byte(tables))
	if err != nil {
		tb.Fatal(err)
	}
	model := schema.NewModel(md, known, func(string) string { return "" })
	for _, bad := range model.Inconsistent {
		tb.Fatalf("inconsistent: %+v", bad)
	}
	return db, model.For(role, false)
}

func read(tb testing.TB, s *schema.Schema, as plan.Session, query string, vars map[string]any) (string, []any, bool) {
	tb.Helper()
	doc, refused := document.Parse(query)
	if refused != nil {
		tb.Fatal(refused)
	}
	op, refused := doc.Resolve(&document.Request{Query: query, Variables: vars}, s)
	if refused != nil {
		return "", nil, false
	}
	sql, args, refused := plan.Read(as, op.Selections[0]).SQL()
	return sql, args, refused == nil
}

func TestReadBindsWhatTheRequestSays(t *testing.T) {
	_, s := shop(t, "user")
	sql, args, ok := read(t, s, plan.Session{Vars: map[string]string{"x-hasura-name": "sess'ion"}},
		`{ items(where: {label: {_eq: "it's"}}, limit: 3) { key: label } }`, nil)
	if !ok {
		t.Fatal("refused")
	}
	for _, text := range []string{"it's", "sess'ion", "key"} {
		if strings.Contains(sql, text) {
			t.Errorf("%q stands in the SQL: %s", text, sql)
		}
		found := false
		for _, a := range args {
			found = found || a == text
		}
		if !found {
			t.Errorf("%q is no parameter: %v", text, args)
		}
	}
}

// mark is a prefix that no name in the database has.
const mark = "ʘ"

// marked prefixes all text values, so that text of the request that gets into
// SQL can be recognised there.
func marked(v any) any {
	switch v := v.(type) {
	case string:
		return mark + v
	case []any:
		for i := range v {
			v[i] = marked(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = marked(v[key])
		}
	}
	return v
}

// FuzzWhere plans any JSON as a boolean expression: no panic, nothing of the
// request in the SQL, and SQL that SQLite can run.
func FuzzWhere(f *testing.F) {
	db, s := shop(f, "user")
	for _, where := range []string{
		`{"id":{"_eq":1},"label":{"_like":"a%"}}`,
		`{"_or":[{"owner":{"name":{"_in":["a","b"]}}},{"_not":{"sold":{"_eq":true}}}]}`,
		`{"extra":{"_contains":{"a":["x"]},"_has_keys_all":["b"],"_cast":{"String":{"_ilike":"%x%"}}}}`,
		`{"price":{"_gte":1.5,"_nin":[2,"3"]},"at":{"_lt":"2024-01-01"},"owner_id":{"_is_null":false}}`,
	} {
		f.Add(where)
	}
	as := plan.Session{Vars: map[string]string{"x-hasura-name": mark + "name"}}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := pgtype.Decode(text)
		if err != nil {
			return
		}
		sql, args, ok := read(t, s, as, `query($w: items_bool_exp!) { items(where: $w) { id owner { name } } }`, map[string]any{"w": marked(v)})
		if !ok {
			return
		}
		if strings.Contains(sql, mark) {
			t.Fatalf("the request got into the SQL: %s", sql)
		}
		answer, err := db.Text(t.Context(), sql, args)
		switch {
		case err != nil && !strings.Contains(err.Error(), "22"):
			t.Fatalf("%s: %v", sql, err)
		case err == nil && !json.Valid([]byte(answer)):
			t.Fatalf("no JSON: %s", answer)
		}
	})
}
