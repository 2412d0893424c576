package localhasura_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hasura-storage/graphql/localhasura"
)

// TestManyAtOnce: queries, mutations and changes of the metadata at the same
// time neither fail nor lose anything.
func TestManyAtOnce(t *testing.T) {
	const rounds, writers = 25, 4
	s := open(t, os.DirFS("testdata/fixtures/blog"), func(name string) string {
		return map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret}[name]
	})
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range rounds {
				post(t, s, "/v1/graphql", fmt.Sprintf(`{"query":"mutation { insertItems(objects: [{displayName: \"w%d-%d\"}]) { affected_rows } update_article(where: {id: {_eq: 1}}, _inc: {views: 1}) { affected_rows } }"}`, w, i))
			}
		})
		all.Go(func() {
			for i := range rounds {
				post(t, s, "/v1/graphql", fmt.Sprintf(`{"query":"{ a%d: article_by_pk(id: 1) { views author { name } } itemsAggregate { aggregate { count } } }"}`, i))
			}
		})
	}
	all.Go(func() {
		for range rounds {
			post(t, s, "/v1/metadata", `{"type":"reload_metadata","args":{}}`)
		}
	})
	all.Wait()
	for query, want := range map[string]string{
		"SELECT views FROM article WHERE id = 1": strconv.Itoa(10 + rounds*writers),
		`SELECT count(*) FROM "shop.item"`:       strconv.Itoa(2 + rounds*writers),
	} {
		if got, err := s.Query(t.Context(), query); err != nil || got != want {
			t.Errorf("%s: got %s (%v), want %s", query, got, err, want)
		}
	}
}

func post(t *testing.T, s *localhasura.Server, path, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-Hasura-Admin-Secret", secret)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK || bytes.Contains(w.Body.Bytes(), []byte(`"error`)) {
		t.Errorf("%s: %d %s", body, w.Code, w.Body)
	}
}
