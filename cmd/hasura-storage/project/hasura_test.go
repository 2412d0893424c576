package project_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hasura-storage/cmd/hasura-storage/project"
	"hasura-storage/graphql/localhasura"
	metadata "hasura-storage/hasura-metadata"
)

const secret = "admin-secret"

// The tests run on the local Hasura, whose database is SQLite: the migrations
// are tested apart, on Postgres.

// hasura is a running Hasura.
type hasura struct {
	t      *testing.T
	url    string
	server *localhasura.Server
}

// empty is a project without tables.
var empty = fstest.MapFS{
	"version.yaml":             {Data: []byte("version: 3")},
	"databases/databases.yaml": {Data: []byte("[{name: default, kind: postgres, configuration: {connection_info: {database_url: {from_env: X}}}, tables: []}]")},
}

// former is a project that runs with hasura-storage.
func former() fs.FS { return os.DirFS("testdata/nhost") }

// knowing is the environment of a Hasura that can call the service.
var knowing = map[string]string{"HASURA_STORAGE_URL": "http://127.0.0.1:1", "HASURA_STORAGE_SECRET": "s"}

func start(t *testing.T, folder fs.FS, env map[string]string) *hasura {
	t.Helper()
	server, err := localhasura.Open(t.Context(), localhasura.Config{
		Metadata: folder, Migrations: metadata.Project(), EventInterval: time.Hour,
		Env: func(name string) string {
			if name == "HASURA_GRAPHQL_ADMIN_SECRET" {
				return secret
			}
			return env[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if bad := server.Inconsistent(); len(bad) > 0 {
		t.Fatalf("the test's own metadata: %+v", bad)
	}
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		listener.Close()
		_ = server.Close()
	})
	return &hasura{t, listener.URL, server}
}

func (h *hasura) options() project.Options {
	return project.Options{Endpoint: h.url + "/v1", AdminSecret: secret, Services: true, Patience: 10 * time.Second, Pause: 20 * time.Millisecond}
}

func (h *hasura) apply(change ...func(*project.Options)) project.Report {
	h.t.Helper()
	o := h.options()
	for _, c := range change {
		c(&o)
	}
	report, err := project.Apply(h.t.Context(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	return report
}

// command runs a command of the metadata API and returns its answer.
func (h *hasura) command(text string) string {
	h.t.Helper()
	return h.post("/v1/metadata", text)
}

func (h *hasura) post(path, body string) string {
	h.t.Helper()
	r, _ := http.NewRequest(http.MethodPost, h.url+path, strings.NewReader(body))
	r.Header.Set("X-Hasura-Admin-Secret", secret)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		h.t.Fatalf("%s\n%s", body, text)
	}
	return string(text)
}

func (h *hasura) export() string {
	h.t.Helper()
	return h.command(`{"type":"export_metadata","args":{}}`)
}

// wanted holds the roots by which the service asks, and one of the actions.
const wanted = `{"query":"{ files { objectKey bucket { usedBytes } uploads { file_id file { id } } } buckets { uploadExpiration files { id } } viruses { file { id } } storage_garbage { id } storage_uploads { id } }"}`

func (h *hasura) serves() {
	h.t.Helper()
	if answer := h.post("/v1/graphql", wanted); strings.Contains(answer, "errors") {
		h.t.Errorf("the service would not find its tables: %s", answer)
	}
}

func permissions(t *testing.T, exported string) string {
	t.Helper()
	var m struct {
		Sources []struct{ Tables []map[string]json.RawMessage }
		Actions []struct{ Name, Permissions json.RawMessage }
	}
	if err := json.Unmarshal([]byte(exported), &m); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, table := range m.Sources[0].Tables {
		for key, value := range table {
			if strings.HasSuffix(key, "_permissions") {
				found = append(found, string(table["table"])+key+string(value))
			}
		}
	}
	for _, action := range m.Actions {
		if action.Permissions != nil && string(action.Permissions) != "null" {
			found = append(found, string(action.Name)+string(action.Permissions))
		}
	}
	slices.Sort(found)
	return strings.Join(found, "\n")
}
