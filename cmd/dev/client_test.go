package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
)

// person is somebody who asks the stack; the zero value is a visitor.
type person struct{ header, value string }

var admin = person{"x-hasura-admin-secret", "dev-admin-secret"}

// user is a person with a token, as dev token prints it.
func user(t *testing.T, id string) person {
	t.Helper()
	token, err := mint(defaultJWTSecret, claims{User: id, Role: "user", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return person{"Authorization", "Bearer " + token}
}

// vars are the variables of a query.
type vars map[string]any

// answer is what Hasura answers. Data has one root field in these tests.
type answer struct {
	Data   map[string]json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct {
			Code  string
			Size  int64
			Other map[string]any
		}
	}
}

// code is the error's, or "" for success.
func (a answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Extensions.Code
}

// into decodes the only root field.
func (a answer) into(t *testing.T, target any) {
	t.Helper()
	if a.code() != "" || len(a.Data) != 1 {
		t.Fatalf("answer is %+v", a)
	}
	for _, raw := range a.Data {
		if err := json.Unmarshal(raw, target); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
	}
}

func (c *child) ask(t *testing.T, who person, query string, variables vars) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+c.hasura+"/v1/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if who.header != "" {
		request.Header.Set(who.header, who.value)
	}
	status, text := send(t, request)
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || status != http.StatusOK {
		t.Fatalf("Hasura answered %d %s", status, text)
	}
	return a
}

// ticket is what storageCreateUpload answers.
type ticket struct{ UploadID, FileID, URL string }

const createUpload = `mutation ($bucket: String, $name: String!, $size: bigint!, $type: String) {
  storageCreateUpload(bucketId: $bucket, name: $name, size: $size, mimeType: $type) { uploadId fileId url } }`

const completeUpload = `mutation ($id: uuid!) { storageCompleteUpload(uploadId: $id) { id name size mimeType etag } }`

const download = `query ($id: uuid!, $image: StorageImageInput) { storageDownload(id: $id, image: $image) { url } }`

func (c *child) create(t *testing.T, who person, file vars) ticket {
	t.Helper()
	var got ticket
	c.ask(t, who, createUpload, file).into(t, &got)
	return got
}

// upload goes the whole way and returns the file's ticket.
func (c *child) upload(t *testing.T, who person, file vars, content []byte) ticket {
	t.Helper()
	file["size"] = len(content)
	got := c.create(t, who, file)
	if status := put(t, got.URL, content); status != http.StatusOK {
		t.Fatalf("the store answered %d", status)
	}
	if a := c.ask(t, who, completeUpload, vars{"id": got.UploadID}); a.code() != "" {
		t.Fatalf("complete: %+v", a.Errors)
	}
	return got
}

// link is where who downloads the file, or a variant of it.
func (c *child) link(t *testing.T, who person, file string, image any) string {
	t.Helper()
	var got struct{ URL string }
	c.ask(t, who, download, vars{"id": file, "image": image}).into(t, &got)
	return got.URL
}

func put(t *testing.T, url string, content []byte) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	status, _ := send(t, request)
	return status
}

func get(t *testing.T, url string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, request)
}

func send(t *testing.T, request *http.Request) (int, []byte) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, text
}

// objects lists the keys of the store, whatever they are.
func (c *child) objects(t *testing.T) []string {
	t.Helper()
	store, err := s3.New(s3.Options{
		Endpoint: c.store, Insecure: true, Region: "us-east-1", Bucket: "storage",
		AccessKey: "dev-access-key", SecretKey: "dev-secret-key",
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for object, err := range store.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

// empty waits until the store holds nothing.
func (c *child) empty(t *testing.T, limit time.Duration) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		keys := c.objects(t)
		if len(keys) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d objects are left after %v:\n%.500s", len(keys), limit, strings.Join(keys, "\n"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}
