package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// put sends a form with a file's new bytes.
func (s *restStack) put(as, id string, header http.Header, parts ...part) (answer, actions.StoredFile) {
	s.t.Helper()
	h, body := formOf(s.t, parts...)
	maps.Copy(h, header)
	a := s.send(as, http.MethodPut, "/files/"+id, h, body)
	var f actions.StoredFile
	_ = json.Unmarshal(a.body, &f)
	return a, f
}

func TestAFileIsReplaced(t *testing.T) {
	s := startREST(t, nil)
	before := s.upload("owner", part{"file[]", "a.txt", "", "before"}, part{"metadata[]", "", "", `{"metadata":{"kept":true}}`})
	a, f := s.put("owner", before.ID, nil, part{"file", "b.html", "", "<html>after</html>"})
	if a.StatusCode != http.StatusOK || f.ID != before.ID || f.Name != "a.txt" || f.Size != 18 || f.ETag == before.ETag ||
		f.MimeType != "text/html; charset=utf-8" || string(f.Metadata) != `{"kept":true}` {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	a, f = s.put("owner", before.ID, nil, part{"metadata", "", "", `{"name":"b.txt","metadata":{"n":1}}`}, part{"file", "x", "", "third"})
	if a.StatusCode != http.StatusOK || f.Name != "b.txt" || string(f.Metadata) != `{"n":1}` {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if got := s.send("owner", http.MethodGet, "/files/"+before.ID, nil, nil); string(got.body) != "third" || got.Header.Get("Etag") != f.ETag {
		t.Errorf("download: %d %s %v", got.StatusCode, got.body, got.Header)
	}
	s.settled(t, 1)
	if got := s.rows(); got != "1 files, 0 open uploads" {
		t.Errorf("left are %s", got)
	}
}

func TestReplacesThatAreRefused(t *testing.T) {
	s := startREST(t, nil)
	s.sql(`INSERT INTO "storage.files" (id, name, uploaded_by_user_id) VALUES ('` + unfinishedID + `', 'never.txt', '` + ownerID + `');
		INSERT INTO "storage.buckets" (id, max_upload_file_size) VALUES ('small', 10)`)
	f := s.upload("owner", part{"bucket-id", "", "", "small"}, part{"file[]", "a.txt", "", "before"})
	public := s.upload("owner", part{"bucket-id", "", "", "public"}, part{"file[]", "a.txt", "", "before"})
	file := part{"file", "b.txt", "", "after"}
	tests := map[string]struct {
		as, id        string
		header        http.Header
		parts         []part
		status        int
		code, message string
	}{
		"a stranger, who cannot see it":   {"stranger", f.ID, nil, []part{file}, 404, "file-not-found", "file not found"},
		"a stranger, who can":             {"stranger", public.ID, nil, []part{file}, 403, "not-allowed", "you are not authorized"},
		"nobody":                          {"anonymous", public.ID, nil, []part{file}, 403, "not-allowed", "you are not authorized"},
		"a file that is not there":        {"owner", noSuchID, nil, []part{file}, 404, "file-not-found", "file not found"},
		"a file that has not arrived":     {"owner", unfinishedID, nil, []part{file}, 403, "not-allowed", "file is not uploaded"},
		"no file in the form":             {"owner", f.ID, nil, []part{{"file[]", "b.txt", "", "x"}}, 400, "bad-request", "wrong file data in multipart form, one needs to be specified"},
		"two files":                       {"owner", f.ID, nil, []part{file, file}, 400, "bad-request", "wrong file data in multipart form, one needs to be specified"},
		"too big":                         {"owner", f.ID, nil, []part{{"file", "b.txt", "", "more than ten"}}, 400, "file-too-big", "file too big"},
		"another version":                 {"owner", f.ID, http.Header{"If-Match": {`"x"`}}, []part{file}, 412, "conflict", ""},
		"only if there is none":           {"owner", f.ID, http.Header{"If-None-Match": {"*"}}, []part{file}, 412, "conflict", ""},
		"metadata that is no JSON":        {"owner", f.ID, nil, []part{file, {"metadata", "", "", "["}}, 400, "bad-request", "couldn't decode metadata"},
		"no form":                         {"owner", f.ID, http.Header{"Content-Type": {"text/plain"}}, nil, 400, "bad-request", ""},
		"a form without its end, or any":  {"owner", f.ID, http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, nil, 400, "bad-request", ""},
		"a form of which nobody sees one": {"owner", f.ID, http.Header{"Content-Type": {"multipart/form-data"}}, []part{file}, 400, "bad-request", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, _ := s.put(test.as, test.id, test.header, test.parts...)
			code, message := a.problem()
			if a.StatusCode != test.status || code != test.code || test.message != "" && message != test.message {
				t.Errorf("%d %s: %s", a.StatusCode, code, message)
			}
		})
	}
	s.settled(t, 2)
	for _, id := range []string{f.ID, public.ID} {
		if got := s.send("owner", http.MethodGet, "/files/"+id, nil, nil); string(got.body) != "before" {
			t.Errorf("the file has changed: %s", got.body)
		}
	}
}

// mayUpdate gives the role user another permission to update files: its columns.
func (s *restStack) mayUpdate(columns ...string) {
	s.t.Helper()
	list, _ := json.Marshal(columns)
	body := `{"type":"bulk","args":[
		{"type":"pg_drop_update_permission","args":{"source":"default","table":{"schema":"storage","name":"files"},"role":"user"}},
		{"type":"pg_create_update_permission","args":{"source":"default","table":{"schema":"storage","name":"files"},"role":"user",
		 "permission":{"columns":` + string(list) + `,"filter":{"uploaded_by_user_id":{"_eq":"X-Hasura-User-Id"}},"check":null}}}]}`
	a := s.send("admin", http.MethodPost, s.hasuraURL+"/v1/metadata", http.Header{"Content-Type": {"application/json"}}, strings.NewReader(body))
	if a.StatusCode != http.StatusOK {
		s.t.Fatalf("%d %s", a.StatusCode, a.body)
	}
}

// TestRolesOfHasuraStorageMayReplace: projects gave them columns that its own
// replace writes.
func TestRolesOfHasuraStorageMayReplace(t *testing.T) {
	s := startREST(t, nil)
	mine := s.upload("owner", part{"bucket-id", "", "", "public"}, part{"file[]", "a.txt", "", "before"})
	named := part{"metadata", "", "", `{"name":"b.txt"}`}
	described := part{"metadata", "", "", `{"metadata":{"n":1}}`}
	for _, step := range []struct {
		columns     []string
		as          string
		said        part
		status      int
		code, after string
	}{
		{[]string{"is_uploaded"}, "owner", part{}, 200, "", "a.txt"},
		{[]string{"is_uploaded"}, "stranger", part{}, 403, "not-allowed", "a.txt"},
		{[]string{"is_uploaded"}, "owner", named, 403, "not-allowed", "a.txt"},
		{[]string{"is_uploaded"}, "owner", described, 403, "not-allowed", "a.txt"},
		{[]string{"name"}, "owner", part{}, 200, "", "a.txt"},
		{[]string{"name"}, "owner", described, 403, "not-allowed", "a.txt"},
		{[]string{"name"}, "owner", named, 200, "", "b.txt"},
		{[]string{"expires_at"}, "owner", part{}, 403, "not-allowed", "b.txt"},
		{[]string{"is_uploaded", "name", "etag", "size", "mime_type"}, "owner", named, 200, "", "b.txt"},
	} {
		s.mayUpdate(step.columns...)
		content := fmt.Sprint(step)
		parts := []part{{"file", "x.txt", "", content}}
		if step.said.field != "" {
			parts = append(parts, step.said)
		}
		a, _ := s.put(step.as, mine.ID, nil, parts...)
		if code, _ := a.problem(); a.StatusCode != step.status || code != step.code {
			t.Errorf("%v: %d %s", step, a.StatusCode, a.body)
		}
		got := s.send("owner", http.MethodGet, "/files/"+mine.ID, nil, nil)
		if (string(got.body) == content) != (step.status == http.StatusOK) || !strings.Contains(got.Header.Get("Content-Disposition"), step.after) {
			t.Errorf("%v: afterwards %s %s", step, got.body, got.Header)
		}
	}
	s.settled(t, 1)
}

func TestReadersSeeTheOldVersionUntilTheSwitch(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "a.txt", "", "before"})
	header, whole := formOf(t, part{"file", "a.txt", "", strings.Repeat("after", 100_000)})
	content, _ := io.ReadAll(whole)
	reader, writer := io.Pipe()
	done := make(chan answer, 1)
	go func() { done <- s.send("owner", http.MethodPut, "/files/"+f.ID, header, reader) }()
	_, _ = writer.Write(content[:300_000])
	if got := s.send("owner", http.MethodGet, "/files/"+f.ID, nil, nil); string(got.body) != "before" {
		t.Errorf("in the middle: %d %.20s", got.StatusCode, got.body)
	}
	_, _ = writer.Write(content[300_000:])
	_ = writer.Close()
	if a := <-done; a.StatusCode != http.StatusOK {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if got := s.send("owner", http.MethodGet, "/files/"+f.ID, nil, nil); !strings.HasPrefix(string(got.body), "afterafter") {
		t.Errorf("afterwards: %d %.20s", got.StatusCode, got.body)
	}
}

// TestABucketThatAFileMovedToJudgesItsReplacement: the bytes began to come when
// the file stood in another one.
func TestABucketThatAFileMovedToJudgesItsReplacement(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "a.txt", "", "before"})
	s.sql(`insert into "storage.buckets" (id, max_upload_file_size) values ('tiny', 10)`)
	header, whole := formOf(t, part{"metadata", "", "", `{"name": "b.txt"}`}, part{"file", "a.txt", "", strings.Repeat("after", 100_000)})
	content, _ := io.ReadAll(whole)
	reader, writer := io.Pipe()
	done := make(chan answer, 1)
	go func() { done <- s.send("owner", http.MethodPut, "/files/"+f.ID, header, reader) }()
	_, _ = writer.Write(content[:300_000])
	s.sql(`update "storage.files" set bucket_id = 'tiny' where id = '` + f.ID + `'`)
	_, _ = writer.Write(content[300_000:])
	_ = writer.Close()
	a := <-done
	if code, _ := a.problem(); a.StatusCode != http.StatusBadRequest || code != "file-too-big" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	got := s.send("owner", http.MethodGet, "/files/"+f.ID, nil, nil)
	if string(got.body) != "before" || strings.Contains(got.Header.Get("Content-Disposition"), "b.txt") {
		t.Errorf("afterwards: %.20s, %s", got.body, got.Header.Get("Content-Disposition"))
	}
}

func TestOfTwoConditionalReplacesOneWins(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "a.txt", "", "before"})
	var statuses []int
	var mu sync.Mutex
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			a, _ := s.put("owner", f.ID, http.Header{"If-Match": {f.ETag}}, part{"file", "a.txt", "", strings.Repeat("x", 100_000)})
			mu.Lock()
			defer mu.Unlock()
			statuses = append(statuses, a.StatusCode)
		})
	}
	both.Wait()
	if slices.Sort(statuses); !slices.Equal(statuses, []int{200, 412}) && !slices.Equal(statuses, []int{200, 200}) {
		t.Errorf("statuses are %v", statuses)
	}
	// Equal bytes have one ETag: the second may find what it asked for. Others do not.
	a, _ := s.put("owner", f.ID, http.Header{"If-Match": {f.ETag}}, part{"file", "a.txt", "", "late"})
	if a.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("the third: %d %s", a.StatusCode, a.body)
	}
	s.settled(t, 1)
}

func TestFilesAreDeleted(t *testing.T) {
	var mu sync.Mutex
	var purged []string
	s := startREST(t, func(o *actions.Options, _ *handlers.Options) {
		o.Purge = func(_ context.Context, ids []string) error {
			mu.Lock()
			defer mu.Unlock()
			purged = append(purged, ids...)
			return nil
		}
	})
	f := s.upload("owner", part{"file[]", "a.txt", "", "a"})
	path := "/files/" + f.ID
	runREST(t, s, map[string]restScenario{
		"another version": {as: "owner", method: "DELETE", path: path, header: http.Header{"If-Match": {`"x"`}}, status: 412, code: "conflict"},
	})
	if a := s.send("owner", http.MethodDelete, path, http.Header{"If-Match": {f.ETag}}, nil); a.StatusCode != http.StatusNoContent || len(a.body) > 0 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	runREST(t, s, map[string]restScenario{
		"again":     {as: "owner", method: "DELETE", path: path, status: 404, code: "file-not-found", message: "file not found"},
		"read then": {as: "owner", path: path, status: 404, code: "file-not-found"},
	})
	s.settled(t, 0)
	for range 100 {
		mu.Lock()
		told := slices.Contains(purged, f.ID)
		mu.Unlock()
		if told {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("purged are %v, not %s", purged, f.ID)
}
