package main

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const bob = "1c5e9f0a-7d0b-4b7a-8a57-2d8f2b9c4e02"

// TestStack walks the main job on one running stack.
func TestStack(t *testing.T) {
	stack := startStack(t, t.TempDir())
	for name, run := range map[string]func(*testing.T, *child){
		"the first mutation can be pasted as it is printed":          firstMutation,
		"nobody but the owner sees a file":                           ownerOnly,
		"an upload's URL is worthless once the upload is complete":   urlIsSpent,
		"a PUT of another length is refused, and nothing arrived":    otherLength,
		"a variant is upright and without EXIF":                      uprightVariant,
		"a ticket given up leaves neither row nor bytes":             givenUp,
		"a user may not say that a file is uploaded":                 guarded,
		"the webhooks want their secret":                             webhookSecret,
		"the public role reads the bucket public, and only that":     publicReads,
		"the page is served, and Hasura beside it, on the same port": pageAndHasura,
	} {
		t.Run(name, func(t *testing.T) { run(t, stack) })
	}
}

func firstMutation(t *testing.T, c *child) {
	t.Helper()
	command := regexp.MustCompile(`(?s)\ncurl .*?\n\n`).FindString(c.output.String())
	out, err := exec.CommandContext(t.Context(), "bash", "-c", command).Output()
	if err != nil || !strings.Contains(string(out), `"uploadId":"`) {
		t.Errorf("%s printed %s (%v)", command, out, err)
	}
}

func ownerOnly(t *testing.T, c *child) {
	t.Helper()
	file := c.upload(t, user(t, alice), vars{"name": "a.txt", "type": "text/plain"}, []byte("hello"))
	status, text := get(t, c.link(t, user(t, alice), file.FileID, nil))
	if status != http.StatusOK || string(text) != "hello" {
		t.Errorf("the owner got %d %q", status, text)
	}
	for name, who := range map[string]person{"another user": user(t, bob), "a visitor": {}} {
		if code := c.ask(t, who, download, vars{"id": file.FileID}).code(); code != "file-not-found" {
			t.Errorf("%s got %q, want file-not-found", name, code)
		}
	}
}

func urlIsSpent(t *testing.T, c *child) {
	t.Helper()
	who := user(t, alice)
	file := c.upload(t, who, vars{"name": "a.txt", "type": "text/plain"}, []byte("first"))
	put(t, file.URL, []byte("later")) // the store may take it, the file must not
	if _, text := get(t, c.link(t, who, file.FileID, nil)); string(text) != "first" {
		t.Errorf("the file is now %q", text)
	}
}

func otherLength(t *testing.T, c *child) {
	t.Helper()
	who := user(t, alice)
	file := c.create(t, who, vars{"name": "a.txt", "type": "text/plain", "size": 5})
	if status := put(t, file.URL, []byte("longer than that")); status < 400 {
		t.Errorf("the store answered %d", status)
	}
	if code := c.ask(t, who, completeUpload, vars{"id": file.UploadID}).code(); code != "upload-incomplete" {
		t.Errorf("code = %q, want upload-incomplete", code)
	}
}

func uprightVariant(t *testing.T, c *child) {
	t.Helper()
	who := user(t, alice)
	photo, err := os.ReadFile("../../actions/images/testdata/orient_6.jpg")
	if err != nil {
		t.Fatal(err)
	}
	file := c.upload(t, who, vars{"name": "o.jpg", "type": "image/jpeg"}, photo)
	status, variant := get(t, c.link(t, who, file.FileID, vars{"width": 200}))
	picture, err := jpeg.DecodeConfig(bytes.NewReader(variant))
	if status != http.StatusOK || err != nil {
		t.Fatalf("got %d, %v", status, err)
	}
	if picture.Width != 200 || picture.Height != 110 {
		t.Errorf("the variant is %dx%d, want 200x110", picture.Width, picture.Height)
	}
	if bytes.Contains(variant, []byte("Exif")) {
		t.Error("the variant has EXIF")
	}
}

func givenUp(t *testing.T, c *child) {
	t.Helper()
	who := user(t, alice)
	file := c.create(t, who, vars{"name": "a.txt", "type": "text/plain", "size": 5})
	put(t, file.URL, []byte("hello"))
	var got struct{ Aborted bool }
	c.ask(t, who, `mutation ($id: uuid!) { storageAbortUpload(uploadId: $id) { aborted } }`, vars{"id": file.UploadID}).into(t, &got)
	var row *struct{ ID string }
	c.ask(t, admin, `query ($id: uuid!) { file(id: $id) { id } }`, vars{"id": file.FileID}).into(t, &row)
	if !got.Aborted || row != nil {
		t.Errorf("aborted = %v, row = %v", got.Aborted, row)
	}
}

// guarded asks for what the starter's permissions leave out. Where permissions
// allow the column, the guard in the database refuses: hasura-metadata tests it.
func guarded(t *testing.T, c *child) {
	t.Helper()
	a := c.ask(t, user(t, alice), `mutation { insertFile(object: {name: "x", isUploaded: true}) { id } }`, nil)
	if a.code() == "" {
		t.Error("insertFile(isUploaded: true) was accepted")
	}
}

func webhookSecret(t *testing.T, c *child) {
	t.Helper()
	for _, path := range []string{"/actions/storageDownload", "/events/file-deleted", "/cron/sweep"} {
		request, _ := http.NewRequest(http.MethodPost, "http://"+c.service+path, strings.NewReader("{}"))
		request.Header.Set("x-hasura-storage-secret", "wrong")
		if status, text := send(t, request); status != http.StatusUnauthorized {
			t.Errorf("%s answered %d %s", path, status, text)
		}
	}
}

func publicReads(t *testing.T, c *child) {
	t.Helper()
	who := user(t, alice)
	open := c.upload(t, who, vars{"name": "a.txt", "type": "text/plain", "bucket": "public"}, []byte("for all"))
	if _, text := get(t, c.link(t, person{}, open.FileID, nil)); string(text) != "for all" {
		t.Errorf("a visitor got %q", text)
	}
}

func pageAndHasura(t *testing.T, c *child) {
	t.Helper()
	if status, text := get(t, "http://"+c.hasura+"/"); status != http.StatusOK || !bytes.Contains(text, []byte("<title>")) {
		t.Errorf("the page answered %d %.100s", status, text)
	}
	if status, text := get(t, "http://"+c.hasura+"/healthz"); status != http.StatusOK || !bytes.Contains(text, []byte("OK")) {
		t.Errorf("Hasura answered %d %.100s", status, text)
	}
}

// TestBytesGoWithRows deletes in all the ways in which a row can go.
func TestBytesGoWithRows(t *testing.T) {
	stack := startStack(t, t.TempDir())
	for name, tt := range map[string]struct {
		rows     int
		mutation string
	}{
		"500 rows at once":           {500, `mutation { deleteFiles(where: {bucketId: {_eq: "many"}}) { affected_rows } }`},
		"a bucket with all its rows": {50, `mutation { deleteBucket(id: "many") { id } }`},
	} {
		t.Run(name, func(t *testing.T) {
			stack.ask(t, admin, `mutation { insertBucket(object: {id: "many"}) { id } }`, nil)
			stack.fill(t, "many", tt.rows)
			if got := len(stack.objects(t)); got < tt.rows {
				t.Fatalf("the store has %d objects, want %d at least", got, tt.rows)
			}
			if a := stack.ask(t, admin, tt.mutation, nil); a.code() != "" {
				t.Fatal(a.Errors)
			}
			stack.empty(t, 30*time.Second)
		})
	}
}

// fill uploads n small files, a few at a time.
func (c *child) fill(t *testing.T, bucket string, n int) {
	t.Helper()
	who := user(t, alice)
	numbers := make(chan int, n)
	for i := range n {
		numbers <- i
	}
	close(numbers)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := range numbers {
				name := fmt.Sprintf("%d.txt", i)
				c.upload(t, who, vars{"name": name, "type": "text/plain", "bucket": bucket}, []byte(name))
			}
		})
	}
	workers.Wait()
}

// TestStackSurvives: what was stored is there after a stop and after a crash,
// and a crash leaves no process behind.
func TestStackSurvives(t *testing.T) {
	dir, err := filepath.Rel(abs(t, "."), t.TempDir()) // DEV_DATA is relative by default
	if err != nil {
		t.Fatal(err)
	}
	who := user(t, alice)
	first := startStack(t, dir)
	file := first.upload(t, who, vars{"name": "a.txt", "type": "text/plain"}, []byte("kept"))
	first.end(t, syscall.SIGKILL)
	first.nothingLeft(t)

	second := startStack(t, dir)
	if _, text := get(t, second.link(t, who, file.FileID, nil)); string(text) != "kept" {
		t.Errorf("after a crash the file is %q", text)
	}
}

func TestStackSaysWhatIsWrong(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ env, has string }{
		"a busy port of Hasura":      {"DEV_HASURA_ADDR=" + busy.Addr().String(), "DEV_HASURA_ADDR"},
		"a busy port of the store":   {"DEV_S3_ADDR=" + busy.Addr().String(), "DEV_S3_ADDR"},
		"a busy port of the service": {"BIND=" + busy.Addr().String(), "BIND"},
		"an address without a port":  {"BIND=localhost", "BIND must be host:port"},
		"a data folder that is none": {"DEV_DATA=" + file, "DEV_DATA"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := launch(t, t.TempDir(), tt.env)
			select {
			case <-c.ended:
			case <-time.After(20 * time.Second):
				c.end(t, syscall.SIGKILL)
			}
			if c.process.ProcessState.Success() || !strings.Contains(c.output.String(), tt.has) {
				t.Errorf("it ended with %v and said %s", c.process.ProcessState, c.output)
			}
		})
	}
}

func TestOneStackForOneFolder(t *testing.T) {
	dir := t.TempDir()
	startStack(t, dir)
	second := launch(t, dir)
	<-second.ended
	if !strings.Contains(second.output.String(), "another stack uses this folder") {
		t.Errorf("the second said %s", second.output)
	}
}

// TestGoRunEnds: go run does not pass SIGTERM on to what it runs.
func TestGoRunEnds(t *testing.T) {
	c := launchCommand(t, exec.Command("go", "run", "-tags", "nodynamic", "."), t.TempDir())
	select {
	case <-c.output.ready:
	case <-time.After(startLimit):
		t.Errorf("the stack is not ready:\n%s", c.output)
	}
	c.end(t, syscall.SIGTERM)
	c.nothingLeft(t)
}
