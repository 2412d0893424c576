package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotesExample serves the example's own metadata and keeps its rows.
func TestNotesExample(t *testing.T) {
	args := []string{"hasura", "-metadata", "../../examples/notes/metadata", "-schema", "../../examples/notes/schema.sql", "-data", t.TempDir()}
	for range 2 { // the second start finds what the first one stored
		c := &child{hasura: freeAddr(t)}
		stop := serveHasura(t, append(args, "-addr", c.hasura))
		who := person{"x-hasura-user-id", alice}
		if a := c.ask(t, who, `mutation { insert_notes_one(object: {text: "hello", user_id: "`+alice+`"}) { id } }`, nil); a.code() != "" {
			t.Errorf("insert: %+v", a.Errors)
		}
		stop()
	}
	c := &child{hasura: freeAddr(t)}
	defer serveHasura(t, append(args, "-addr", c.hasura))()
	var notes []struct{ Text string }
	c.ask(t, person{}, `{ notes { text } }`, nil).into(t, &notes)
	if len(notes) != 2 {
		t.Errorf("there are %d notes, want 2", len(notes))
	}
}

func TestHasuraWantsMetadata(t *testing.T) {
	err := run(t.Context(), []string{"hasura"}, noEnv, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "-metadata is required") {
		t.Errorf("err = %v", err)
	}
}

// serveHasura runs dev hasura until the function it returns is called.
func serveHasura(t *testing.T, args []string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	output, ended := newTranscript("/v1/graphql"), make(chan error, 1)
	go func() { ended <- run(ctx, args, noEnv, output) }()
	select {
	case <-output.ready:
	case err := <-ended:
		t.Fatalf("it ended with %v:\n%s", err, output)
	}
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	}
}

// TestUploadExample sends a small file by PUT and a larger one in parts.
func TestUploadExample(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	stack := startStack(t, t.TempDir())
	who := user(t, alice)
	if a := stack.ask(t, admin, `mutation { updateBucket(pk_columns: {id: "default"}, _set: {maxUploadFileSize: 200000000}) { id } }`, nil); a.code() != "" {
		t.Fatal(a.Errors)
	}
	for name, size := range map[string]int{"small.bin": 1000, "large.bin": 70 << 20} {
		content := make([]byte, size)
		_, _ = rand.Read(content) // never fails
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "node", "../../examples/upload.mjs", "http://"+stack.hasura+"/v1/graphql",
			strings.TrimPrefix(who.value, "Bearer "), path, "application/octet-stream").CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		status, got := get(t, stack.link(t, who, field(t, string(out), "id"), nil))
		if status != http.StatusOK || string(got) != string(content) {
			t.Errorf("%s: the download is %d with %d bytes", name, status, len(got))
		}
	}
}

// field finds a text in JSON as the README's shell function does.
func field(t *testing.T, text, name string) string {
	t.Helper()
	_, after, found := strings.Cut(text, `"`+name+`":"`)
	value, _, closed := strings.Cut(after, `"`)
	if !found || !closed {
		t.Fatalf("no %s in %s", name, text)
	}
	return value
}
