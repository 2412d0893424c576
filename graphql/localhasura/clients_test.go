package localhasura_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPublicClients lets clients from npm loose on the server, unchanged.
func TestPublicClients(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	s := open(t, os.DirFS("testdata/fixtures/blog"), func(name string) string {
		return map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret}[name]
	})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/clients")); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HASURA_URL="+server.URL+"/v1/graphql", "HASURA_SECRET="+secret)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return out
	}
	run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	got, _ := decode(run("node", "client.mjs")).(map[string]any)
	types, _ := got["types"].(string)
	for _, part := range []string{"export type ArticlesQuery", "export type AddItemsMutation", "articles_aggregate"} {
		if !strings.Contains(types, part) {
			t.Errorf("the generated types lack %q", part)
		}
	}
	delete(got, "types")
	equalJSON(t, got, map[string]any{
		"rows":   map[string]any{"article": []any{map[string]any{"title": "One"}, map[string]any{"title": "Two"}}},
		"faults": []any{},
		"refused": []any{map[string]any{"message": "field 'nope' not found in type: 'query_root'",
			"extensions": map[string]any{"path": "$.selectionSet.nope", "code": "validation-failed"}}},
	})
}
