package localhasura_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// FuzzRequest sends any text as a query with any variables. Whatever it is, the
// answer is JSON with data or one error, and no SQL that SQLite cannot read was
// ever written.
func FuzzRequest(f *testing.F) {
	s := open(f, os.DirFS("testdata/fixtures/blog"), func(name string) string {
		return map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret}[name]
	})
	for _, query := range []string{
		`{ article(where: {_or: [{id: {_eq: 1}}, {title: {_like: "a%"}}]}, order_by: {author: {name: desc}}, limit: 2) { id author { name articles_aggregate { aggregate { count max { views } } } } } }`,
		`query($w: article_bool_exp) { article(where: $w, distinct_on: author_id) { ...F tags(path: "$.a[0]") } } fragment F on article { id @skip(if: false) }`,
		`mutation { insert_author(objects: [{id: 9, name: "x", articles: {data: [{title: "t"}]}}], on_conflict: {constraint: author_pkey, update_columns: [name]}) { affected_rows returning { id } } }`,
		`mutation { update_article(where: {tags: {_has_keys_any: ["a"]}}, _inc: {views: 1}, _append: {tags: {b: [1]}}) { affected_rows } delete_article(where: {}) { affected_rows } }`,
		`{ __schema { types { name fields { args { defaultValue } } } } __type(name: "x") { kind } }`,
	} {
		f.Add(query, `{"w":{"id":{"_in":[1,"2"]},"author":{"name":{"_similar":"(a|b)%"}},"_not":{"tags":{"_contains":{"a":1}}}}}`)
	}
	f.Fuzz(func(t *testing.T, query, variables string) {
		var vars any
		if json.Unmarshal([]byte(variables), &vars) != nil {
			vars = nil
		}
		r := httptest.NewRequest(http.MethodPost, "/v1/graphql", strings.NewReader(jsonOf(map[string]any{"query": query, "variables": vars})))
		r.Header.Set("X-Hasura-Admin-Secret", secret)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		var answer struct {
			Data   json.RawMessage
			Errors []json.RawMessage
		}
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &answer) != nil || (answer.Data == nil) == (len(answer.Errors) != 1) {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		for _, fault := range []string{"syntax error", "no such column", "unrecognized token", "ambiguous column", "misuse of"} {
			if strings.Contains(w.Body.String(), fault) {
				t.Fatalf("bad SQL was written: %s", w.Body)
			}
		}
	})
}
