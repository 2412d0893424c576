package localhasura_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const clientsDir = "testdata/clients"

// TestPublicClients lets clients from npm loose on the server, unchanged. It
// needs `npm install` in testdata/clients.
func TestPublicClients(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing")
	}
	if _, err := os.Stat(filepath.Join(clientsDir, "node_modules")); err != nil {
		t.Skip("the clients are missing: run `npm install` in graphql/localhasura/" + clientsDir)
	}
	s := open(t, os.DirFS("testdata/fixtures/blog"), func(name string) string {
		return map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret}[name]
	})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = clientsDir
		cmd.Env = append(os.Environ(), "HASURA_URL="+server.URL+"/v1/graphql", "HASURA_SECRET="+secret)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	got := decode([]byte(strings.TrimSpace(run("node", "client.mjs"))))
	equalJSON(t, got, map[string]any{
		"rows":   map[string]any{"article": []any{map[string]any{"title": "One"}, map[string]any{"title": "Two"}}},
		"faults": []any{},
		"refused": []any{map[string]any{"message": "field 'nope' not found in type: 'query_root'",
			"extensions": map[string]any{"path": "$.selectionSet.nope", "code": "validation-failed"}}},
	})
	run("node", "node_modules/.bin/graphql-codegen", "--config", "codegen.yml")
	types := read(t, os.DirFS(clientsDir), "generated.ts")
	for _, part := range []string{"export type ArticlesQuery", "export type AddItemsMutation", "articles_aggregate"} {
		if !strings.Contains(types, part) {
			t.Errorf("the generated types lack %q", part)
		}
	}
}
