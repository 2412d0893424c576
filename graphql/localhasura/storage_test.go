package localhasura_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	project "hasura-storage/hasura-metadata"

	"hasura-storage/graphql/localhasura"
)

const (
	owner  = "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"
	fileID = "5b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"
)

func askAsOwner(t *testing.T, s *localhasura.Server, role, query string) any {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/graphql", strings.NewReader(jsonOf(map[string]any{"query": query})))
	r.Header.Set("X-Hasura-Admin-Secret", secret)
	r.Header.Set("X-Hasura-Role", role)
	r.Header.Set("X-Hasura-User-Id", owner)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return withoutInternal(w.Body.Bytes())
}

// openProject runs the metadata and migrations that this repository ships.
func openProject(t *testing.T) *localhasura.Server {
	t.Helper()
	env := map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": secret, "HASURA_STORAGE_URL": "http://127.0.0.1:9", "HASURA_STORAGE_SECRET": "s"}
	files, err := project.WithStarter()
	if err != nil {
		t.Fatal(err)
	}
	s, err := localhasura.Open(t.Context(), localhasura.Config{
		Metadata: metadataOf(t, files), Migrations: files, Env: func(name string) string { return env[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestProjectOfThisRepository is a row's life as its owner.
func TestProjectOfThisRepository(t *testing.T) {
	s := openProject(t)
	for _, bad := range s.Inconsistent() {
		t.Errorf("inconsistent: %+v", bad)
	}
	for _, c := range []struct{ role, query, want string }{
		{"admin", `{ buckets { id } }`, `{"data":{"buckets":[{"id":"default"}]}}`},
		{"user", `mutation { insertFiles(objects: [{id: "` + fileID + `", name: "a.txt", size: 3, mimeType: "text/plain"}]) { affected_rows } }`,
			`{"data":{"insertFiles":{"affected_rows":1}}}`},
		{"user", `{ files { id name bucketId uploadedByUserId } }`,
			`{"data":{"files":[{"id":"` + fileID + `","name":"a.txt","bucketId":"default","uploadedByUserId":"` + owner + `"}]}}`},
		{"public", `{ files { id } }`, `{"data":{"files":[]}}`},
		{"user", `mutation { deleteFiles(where: {id: {_eq: "` + fileID + `"}}) { affected_rows } }`, `{"data":{"deleteFiles":{"affected_rows":1}}}`},
		{"admin", `{ storage_garbage { file_id } }`, `{"data":{"storage_garbage":[{"file_id":"` + fileID + `"}]}}`},
	} {
		equalJSON(t, askAsOwner(t, s, c.role, c.query), decode([]byte(c.want)))
	}
	if sdl := s.SDL("admin"); !strings.Contains(sdl, "type files {") || !strings.Contains(sdl, "storageCreateUpload(") {
		t.Error("the SDL lacks files or storageCreateUpload")
	}
}

// TestAReplaceIsRefusedByTheBucketOfNow: the file was moved while its bytes were
// on their way. The code is one by which the service knows that nothing was changed.
func TestAReplaceIsRefusedByTheBucketOfNow(t *testing.T) {
	s := openProject(t)
	replace := func(size, mimeType string) string {
		return `mutation { updateFiles(where: {id: {_eq: "` + fileID + `"}}, _set: {isUploaded: true, objectKey: "l", size: ` + size + `, mimeType: "` + mimeType + `"}) { affected_rows } }`
	}
	refusal := func(text string) string {
		return `{"errors":[{"message":"Check constraint violation. ` + text + `","extensions":{"path":"$","code":"permission-error"}}]}`
	}
	for _, c := range []struct{ query, want string }{
		{`mutation { insertBuckets(objects: [{id: "pictures", maxUploadFileSize: 100, allowedMimeTypes: ["image/*"]}]) { affected_rows } }`,
			`{"data":{"insertBuckets":{"affected_rows":1}}}`},
		{`mutation { insertFiles(objects: [{id: "` + fileID + `", objectKey: "k", size: 3, mimeType: "image/png", isUploaded: true}]) { affected_rows } }`,
			`{"data":{"insertFiles":{"affected_rows":1}}}`},
		{`mutation { updateFiles(where: {}, _set: {bucketId: "pictures"}) { affected_rows } }`, `{"data":{"updateFiles":{"affected_rows":1}}}`},
		{replace("101", "image/png"), refusal(`file-too-big: 101 bytes, bucket \"pictures\" takes at most 100`)},
		{replace("7", "text/html"), refusal(`mime-type-not-allowed: text/html, bucket \"pictures\" takes [\"image/*\"]`)},
		{`{ files { objectKey size } }`, `{"data":{"files":[{"objectKey":"k","size":3}]}}`},
		{replace("7", "image/gif"), `{"data":{"updateFiles":{"affected_rows":1}}}`},
	} {
		equalJSON(t, askAsOwner(t, s, "admin", c.query), decode([]byte(c.want)))
	}
}
