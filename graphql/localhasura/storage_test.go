package localhasura_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	project "hasura-storage/hasura-metadata"

	"hasura-storage/graphql/localhasura"
)

// TestStorageProject runs the project's own metadata and migrations: uploads'
// first steps as a user.
func TestStorageProject(t *testing.T) {
	env := map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret, "HASURA_STORAGE_URL": "http://127.0.0.1:9", "HASURA_STORAGE_SECRET": "s"}
	files, err := project.WithStarter()
	if err != nil {
		t.Fatal(err)
	}
	s, err := localhasura.Open(t.Context(), localhasura.Config{
		Metadata: sub(t, files, "metadata"), Migrations: files, Env: func(name string) string { return env[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, bad := range s.Inconsistent() {
		t.Errorf("inconsistent: %+v", bad)
	}
	ask := func(role, query string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/graphql", strings.NewReader(jsonOf(map[string]any{"query": query})))
		r.Header.Set("X-Hasura-Admin-Secret", secret)
		r.Header.Set("X-Hasura-Role", role)
		r.Header.Set("X-Hasura-User-Id", "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Body.String()
	}
	const id = "5b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"
	for _, c := range []struct{ role, query string }{
		{"admin", `{ buckets { id maxUploadFileSize downloadExpiration } }`},
		{"user", `mutation { insertFiles(objects: [{id: "` + id + `", name: "a.txt", size: 3, mimeType: "text/plain"}]) { affected_rows } }`},
		{"user", `{ files { id name bucketId uploadedByUserId } }`},
		{"user", `mutation { updateFile(pk_columns: {id: "` + id + `"}, _set: {name: "b.txt"}) { name updatedAt } }`},
		{"user", `mutation { deleteFiles(where: {id: {_eq: "` + id + `"}}) { affected_rows } }`},
		{"admin", `{ storage_garbage { id file_id object_key created_at } }`},
	} {
		t.Log(ask(c.role, c.query))
	}
}
