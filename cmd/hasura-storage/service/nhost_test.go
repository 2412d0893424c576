package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"go.yaml.in/yaml/v3"

	"hasura-storage/cmd/hasura-storage/migrate/pgtest"
	"hasura-storage/graphql/localhasura"
	metadata "hasura-storage/hasura-metadata"
	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

// deployment is what nhost/hasura-storage ran in, with our service in its
// place: the environment comes from the example, where only the image differs.
//
// The local Hasura keeps its rows in SQLite. So the Postgres database that
// POSTGRES_MIGRATIONS_SOURCE names stands apart: it is migrated, and that is
// all that happens to it.
type deployment struct {
	t        *testing.T
	env      map[string]string
	hasura   *localhasura.Server
	store    *s3.Store
	service  string // URL
	hasuraAt string
	logs     *observer.ObservedLogs
}

const (
	owner    = "6dd1e6a6-0a0e-4c0a-9d6e-3f6f6c2f8a01"
	formerID = "f0000000-0000-4000-8000-000000000001"
)

func deploy(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{t: t, env: composed(t)}
	o := s3test.Start(t)
	d.store = s3test.Open(t, o)
	d.startHasura()
	maps.Copy(d.env, map[string]string{
		"HASURA_ENDPOINT": strings.Replace(d.env["HASURA_ENDPOINT"], "http://graphql:8080", d.hasuraAt, 1), "BIND": "127.0.0.1:0",
		"S3_ENDPOINT": o.Endpoint, "S3_BUCKET": o.Bucket, "S3_ACCESS_KEY": o.AccessKey, "S3_SECRET_KEY": o.SecretKey,
	})
	delete(d.env, "POSTGRES_MIGRATIONS") // see TestTheDeploymentMigrates
	return d
}

// composed is the environment of the service in the example.
func composed(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../examples/nhost/docker-compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	env := compose.Services["storage"].Environment
	if len(env) < 10 {
		t.Fatalf("the example's environment is %v", env)
	}
	return env
}

// startHasura runs a Hasura with a project of hasura-storage's. Its clock is
// late, so that garbage is old enough for the sweep when it is made.
func (d *deployment) startHasura() {
	d.t.Helper()
	server, err := localhasura.Open(d.t.Context(), localhasura.Config{
		Metadata: os.DirFS("../project/testdata/nhost"), Migrations: metadata.Project(), EventInterval: time.Hour,
		Now: func() time.Time { return time.Now().Add(-3 * time.Minute) },
		Env: func(name string) string {
			return map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": d.env["HASURA_GRAPHQL_ADMIN_SECRET"], "HASURA_GRAPHQL_UNAUTHORIZED_ROLE": "public"}[name]
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	d.t.Cleanup(func() {
		listener.Close()
		_ = server.Close()
	})
	d.hasura, d.hasuraAt = server, listener.URL
}

// run starts the service, whose timer sweeps all the time, and returns how to end it.
func (d *deployment) run() (stop func()) {
	d.t.Helper()
	c, err := load(func(name string) string { return d.env[name] })
	if err != nil {
		d.t.Fatal(err)
	}
	c.sweepCheck, c.sweepPatience = 50*time.Millisecond, 100*time.Millisecond
	core, logs := observer.New(zapcore.InfoLevel)
	d.logs = logs
	ctx, cancel := context.WithCancel(d.t.Context())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- c.run(ctx, zap.New(core), ready) }()
	select {
	case addr := <-ready:
		d.service = "http://" + addr.String()
	case err := <-ended:
		cancel()
		d.t.Fatal(err)
	}
	return func() {
		cancel()
		if err := <-ended; err != nil {
			d.t.Errorf("it ended with %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	}
}

// ask sends a request as the owner and returns the answer's body.
func (d *deployment) ask(method, path string, body io.Reader, contentType string, want int) string {
	d.t.Helper()
	r, err := http.NewRequest(method, d.service+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("X-Hasura-Admin-Secret", d.env["HASURA_GRAPHQL_ADMIN_SECRET"])
	r.Header.Set("X-Hasura-Role", "user")
	r.Header.Set("X-Hasura-User-Id", owner)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != want {
		d.t.Fatalf("%s %s: %d %s, want %d", method, path, answer.StatusCode, text, want)
	}
	return string(text)
}

// form is a form as nhost's client sends it: the file before the bucket.
func form(field, content string, more ...string) (io.Reader, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreateFormFile(field, "note.txt")
	_, _ = io.WriteString(part, content)
	for i := 0; i+1 < len(more); i += 2 {
		_ = w.WriteField(more[i], more[i+1])
	}
	_ = w.Close()
	return &b, w.FormDataContentType()
}

// leaveFile puts a file where the former service left its files.
func (d *deployment) leaveFile(id, content string) (key string) {
	d.t.Helper()
	key = d.env["S3_ROOT_FOLDER"] + "/" + id
	object, err := d.store.Put(d.t.Context(), key, strings.NewReader(content), int64(len(content)), "text/plain")
	if err != nil {
		d.t.Fatal(err)
	}
	err = d.hasura.Exec(d.t.Context(), fmt.Sprintf(`insert into "storage.files" (id, bucket_id, name, size, mime_type, etag, is_uploaded, uploaded_by_user_id)
		values ('%s', 'default', 'old.txt', %d, 'text/plain', '%s', 1, '%s')`, id, len(content), object.ETag, owner))
	if err != nil {
		d.t.Fatal(err)
	}
	return key
}

func (d *deployment) keys() []string {
	d.t.Helper()
	var keys []string
	for o, err := range d.store.List(d.t.Context(), "", "") {
		if err != nil {
			d.t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

// until waits for the timer's sweep.
func (d *deployment) until(what string, done func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("%s: the store still holds %q; garbage %s", what, d.keys(), d.count("storage.garbage"))
		}
	}
}

func (d *deployment) count(table string) string {
	d.t.Helper()
	n, err := d.hasura.Query(d.t.Context(), `select count(*) from "`+table+`"`)
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

func (d *deployment) export() string {
	d.t.Helper()
	r, _ := http.NewRequest(http.MethodPost, d.hasuraAt+"/v1/metadata", strings.NewReader(`{"type":"export_metadata","args":{}}`))
	r.Header.Set("X-Hasura-Admin-Secret", d.env["HASURA_GRAPHQL_ADMIN_SECRET"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

// logged reports whether a line at the level of warnings or above says text.
func (d *deployment) logged(text string) bool {
	return slices.ContainsFunc(d.logs.All(), func(e observer.LoggedEntry) bool {
		return e.Level >= zapcore.WarnLevel && strings.Contains(e.Message, text)
	})
}

func TestSwappingTheImageIsTheMigration(t *testing.T) {
	d := deploy(t)
	gone := func(key string) func() bool { return func() bool { return !slices.Contains(d.keys(), key) } }
	former := d.leaveFile(formerID, "from before")
	stop := d.run()

	if got := d.ask("GET", "/v1/files/"+formerID, nil, "", 200); got != "from before" {
		t.Errorf("the former file is %q", got)
	}

	body, kind := form("file[]", "new bytes", "bucket-id", "default")
	var uploaded struct{ ProcessedFiles []struct{ ID string } }
	_ = json.Unmarshal([]byte(d.ask("POST", "/v1/files", body, kind, 201)), &uploaded)
	id := uploaded.ProcessedFiles[0].ID
	if got := d.ask("GET", "/v1/files/"+id, nil, "", 200); got != "new bytes" {
		t.Errorf("the new file is %q", got)
	}

	body, kind = form("file", "other bytes")
	d.ask("PUT", "/v1/files/"+formerID, body, kind, 200)
	d.until("a replace loses the former bytes", gone(former))
	if got := d.ask("GET", "/v1/files/"+formerID, nil, "", 200); got != "other bytes" {
		t.Errorf("after the replace the file is %q", got)
	}

	second := d.leaveFile("f0000000-0000-4000-8000-000000000002", "also from before")
	for _, file := range []string{id, formerID, "f0000000-0000-4000-8000-000000000002"} {
		d.ask("DELETE", "/v1/files/"+file, nil, "", 204)
	}
	d.until("deletes lose their bytes", func() bool { return len(d.keys()) == 0 && d.count("storage.garbage") == "0" })
	if !gone(second)() {
		t.Error("an object of the former layout is left")
	}
	stop()
}

func TestWithoutASecretRESTRunsAlone(t *testing.T) {
	d := deploy(t)
	for range 2 { // each start says so
		stop := d.run()
		for _, path := range []string{"/actions/storageDownload", "/events/file-deleted", "/cron/sweep"} {
			d.ask("POST", path, strings.NewReader("{}"), "application/json", 503)
		}
		if !d.logged("HASURA_STORAGE_SECRET is not set") {
			t.Error("no line says that the secret is missing")
		}
		if strings.Contains(d.export(), "storageDownload") {
			t.Error("Hasura has actions that nobody answers")
		}
		stop()
	}
}

func TestASecretThatHasuraLacksIsSaid(t *testing.T) {
	d := deploy(t)
	d.env["HASURA_STORAGE_SECRET"] = "the-secret"
	for range 2 {
		stop := d.run()
		if !d.logged("Hasura lacks HASURA_STORAGE_") {
			t.Error("no line says what Hasura lacks")
		}
		stop()
	}
	if exported := d.export(); strings.Contains(exported, "storageDownload") || !strings.Contains(exported, `"objectKey"`) {
		t.Error("Hasura should have the tables, and no actions")
	}
}

func TestTheSecondStartChangesNothing(t *testing.T) {
	d := deploy(t)
	d.run()()
	before := d.export()
	d.run()()
	if d.export() != before {
		t.Error("the metadata changed")
	}
	for _, line := range d.logs.All() {
		if strings.Contains(line.Message, "changed") {
			t.Errorf("it says %s %v", line.Message, line.ContextMap())
		}
	}
}

func TestTheDeploymentMigrates(t *testing.T) {
	source := pgtest.Database(t)
	migrations, err := metadata.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	want := strconv.Itoa(len(migrations))
	d := deploy(t)
	d.env["POSTGRES_MIGRATIONS"], d.env["POSTGRES_MIGRATIONS_SOURCE"] = "1", source
	for range 2 {
		d.run()()
		if got := pgtest.Text(t, source, "select max(version) from storage.hasura_storage_version"); got != want {
			t.Errorf("version %s, want %s", got, want)
		}
	}
	pgtest.Exec(t, source, "insert into storage.hasura_storage_version values (99)")
	before := d.export()
	err = Run(t.Context(), func(name string) string { return d.env[name] }, zap.NewNop(), nil)
	if err == nil || !strings.Contains(err.Error(), "POSTGRES_MIGRATIONS: the database is newer than this program") {
		t.Errorf("err = %v", err)
	}
	if d.export() != before {
		t.Error("the metadata changed although the database was refused")
	}
}

// TestStoppingWhileItWaits: whoever stops a deployment does not wait for its Hasura.
func TestStoppingWhileItWaits(t *testing.T) {
	d := &deployment{t: t, env: composed(t)}
	d.env["HASURA_ENDPOINT"] = "http://127.0.0.1:1/v1"
	delete(d.env, "POSTGRES_MIGRATIONS")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := Run(ctx, func(name string) string { return d.env[name] }, zap.NewNop(), nil)
	if err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
