package handlers_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestARowThatAStrangerInsertedMeanwhile: whoever knows id, name and size of a file
// whose bytes are coming can insert such a row by Hasura itself. It gets no bytes.
func TestARowThatAStrangerInsertedMeanwhile(t *testing.T) {
	s := startREST(t, nil)
	const id, size = "99999999-9999-4999-8999-999999999999", 500_000
	header, whole := formOf(t,
		part{"metadata[]", "", "", fmt.Sprintf(`{"id": %q, "name": "a.txt"}`, id)},
		part{"file[]", "a.txt", "", strings.Repeat("x", size)})
	content, _ := io.ReadAll(whole)
	reader, writer := io.Pipe()
	done := make(chan answer, 1)
	go func() { done <- s.send("owner", http.MethodPost, "/files", header, reader) }()
	_, _ = writer.Write(content[:300_000])
	for range 500 { // until the service has taken note of the file
		if begun, _ := s.hasura.Query(t.Context(), `SELECT count(*) FROM "storage.uploads"`); begun == "1" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	insert := fmt.Sprintf(`{"query": "mutation { insertFile(object: {id: \"%s\", name: \"a.txt\", size: %d}) { id } }"}`, id, size)
	if a := s.send("stranger", http.MethodPost, s.hasuraURL+"/v1/graphql", nil, strings.NewReader(insert)); !strings.Contains(string(a.body), id) {
		t.Fatalf("the stranger's insert: %s", a.body)
	}
	_, _ = writer.Write(content[300_000:])
	_ = writer.Close()
	a := <-done
	if code, _ := a.problem(); a.StatusCode != http.StatusServiceUnavailable || code != "hasura-unavailable" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if a := s.send("stranger", http.MethodGet, "/files/"+id, nil, nil); a.StatusCode != http.StatusForbidden {
		t.Errorf("the stranger reads: %d %.20s", a.StatusCode, a.body)
	}
}
