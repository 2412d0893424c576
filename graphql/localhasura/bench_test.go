package localhasura_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura"
)

// manyItems makes rows with predictable ids.
func manyItems(b *testing.B, s *localhasura.Server, n int) []string {
	b.Helper()
	ids, rows := make([]string, 0, n), make([]string, 0, n)
	for i := range n {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		ids = append(ids, id)
		rows = append(rows, fmt.Sprintf("('%s', 'item %d', 'u1', %d, 1)", id, i, i))
	}
	if err := s.Exec(b.Context(), `INSERT INTO "shop.item"(id, display_name, owner_id, size, author_id) VALUES `+strings.Join(rows, ",")); err != nil {
		b.Fatal(err)
	}
	return ids
}

func benchmark(b *testing.B, query string, variables func(ids []string, i int) map[string]any) {
	b.Helper()
	s := open(b, os.DirFS("testdata/fixtures/blog"), func(name string) string {
		return map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret}[name]
	})
	ids := manyItems(b, s, 1000)
	bodies := make([][]byte, 0, 50)
	for i := range cap(bodies) {
		bodies = append(bodies, []byte(jsonOf(map[string]any{"query": query, "variables": variables(ids, i*17%1000)})))
	}
	b.ReportAllocs()
	b.ResetTimer()
	began := cpuTime(b)
	defer func() { b.ReportMetric(float64((cpuTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/op") }()
	for i := range b.N {
		r := httptest.NewRequest(http.MethodPost, "/v1/graphql", bytes.NewReader(bodies[i%len(bodies)]))
		r.Header.Set("X-Hasura-Admin-Secret", secret)
		r.Header.Set("X-Hasura-Role", "user")
		r.Header.Set("X-Hasura-User-Id", "u1")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if !bytes.Contains(w.Body.Bytes(), []byte(`"item `)) {
			b.Fatal(w.Body.String())
		}
	}
}

func BenchmarkByPrimaryKey(b *testing.B) {
	benchmark(b, `query($id: uuid!) { item(id: $id) { id displayName ownerId createdAt } }`,
		func(ids []string, i int) map[string]any { return map[string]any{"id": ids[i]} })
}

func BenchmarkIn100(b *testing.B) {
	benchmark(b, `query($ids: [uuid!]!) { items(where: {id: {_in: $ids}}) { id displayName } }`,
		func(ids []string, i int) map[string]any { return map[string]any{"ids": ids[i%900 : i%900+100]} })
}

// cpuTime is what this process has computed, which a busy machine does not
// distort as it does wall time.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkInsert(b *testing.B) {
	benchmark(b, `mutation($n: String!) { insertItem(object: {displayName: $n}) { id displayName } }`,
		func(_ []string, i int) map[string]any { return map[string]any{"n": fmt.Sprintf("item %d", i)} })
}
