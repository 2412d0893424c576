package actions_test

import (
	"bytes"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/graphql"
)

// replacing opens a replacement whose bytes have arrived.
func (s *stack) replacing(as actions.Session, in actions.ReplaceFile, body []byte) actions.Upload {
	s.t.Helper()
	in.Size = graphql.Bigint(len(body))
	ticket, err := s.service.ReplaceFile(s.t.Context(), as, in)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.sent(as, ticket, body)
}

func TestReadersSeeTheOldVersionUntilTheSwitch(t *testing.T) {
	for _, method := range []string{"PUT", "MULTIPART"} {
		t.Run(method, func(t *testing.T) {
			s := start(t)
			owner, photo := user(), photo(t, "photo_03mp.jpg")
			file := s.upload(owner, "a.jpg", "image/jpeg", photo)
			before := s.fileRow(file.ID)
			ticket := s.replacing(owner, actions.ReplaceFile{ID: file.ID, Name: text("b.txt"), MimeType: text("text/plain"), Metadata: []byte(`{"n":2}`), Method: method}, []byte("second"))
			if got, _ := s.download(owner, file.ID); !bytes.Equal(got, photo) || s.fileRow(file.ID)["name"] != "a.jpg" {
				t.Error("something is new before the switch")
			}
			if err := s.complete(owner, ticket); err != nil {
				t.Fatal(err)
			}
			row := s.fileRow(file.ID)
			if got, _ := s.download(owner, file.ID); string(got) != "second" {
				t.Errorf("after the switch: %q", got)
			}
			if row["name"] != "b.txt" || row["mimeType"] != "text/plain" || row["size"] != 6.0 || row["etag"] == before["etag"] || row["objectKey"] == before["objectKey"] {
				t.Errorf("the row is %v", row)
			}
			if row["width"] != nil || row["height"] != nil || row["placeholder"] != nil || row["metadata"].(map[string]any)["n"] != 2.0 {
				t.Errorf("facts of the old version are left: %v", row)
			}
			s.holds()
			s.sweep(8 * 24 * time.Hour)
			if keys := s.keys(); len(keys) != 1 {
				t.Errorf("left behind: %v", keys)
			}
		})
	}
}

func TestTheLastReplacementWinsAndNothingIsLost(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	one := s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("one"))
	two := s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("two"))
	for _, ticket := range []actions.Upload{two, one} {
		if err := s.complete(owner, ticket); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := s.download(owner, file.ID); string(got) != "one" {
		t.Errorf("got %q", got)
	}
	s.sweep(4 * time.Hour)
	s.holds()
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestIfMatchLosesToAnotherReplacement(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	careful := s.replacing(owner, actions.ReplaceFile{ID: file.ID, IfMatch: file.ETag, Name: text("lost.txt")}, []byte("careful"))
	if err := s.complete(owner, s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("quick"))); err != nil {
		t.Fatal(err)
	}
	if err := s.complete(owner, careful); code(err) != actions.Conflict {
		t.Errorf("complete: %v", err)
	}
	if got, _ := s.download(owner, file.ID); string(got) != "quick" || s.fileRow(file.ID)["name"] != "a.txt" {
		t.Errorf("got %q, the row is %v", got, s.fileRow(file.ID))
	}
	s.sweep(4 * time.Hour)
	s.holds()
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestARightThatWentIsMissedAtTheSwitch(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	ticket := s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("second"))
	other := user()
	s.graphql(nil, `mutation($id: uuid!, $owner: uuid!) { updateFile(pk_columns: {id: $id}, _set: {uploadedByUserId: $owner}) { id } }`,
		map[string]any{"id": file.ID, "owner": other["x-hasura-user-id"]})
	if err := s.complete(owner, ticket); code(err) != actions.NotAllowed {
		t.Errorf("complete: %v", err)
	}
	if got, _ := s.download(other, file.ID); string(got) != "first" {
		t.Errorf("the file reads %q", got)
	}
	s.sweep(4 * time.Hour)
	s.holds()
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestAReplacementThatFailsLeavesTheFile(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.png", "image/png", photo(t, "one_pixel.png"))
	ticket := s.replacing(owner, actions.ReplaceFile{ID: file.ID, MimeType: text("image/png")}, []byte("no picture"))
	if err := s.complete(owner, ticket); code(err) != actions.MimeTypeNotAllowed {
		t.Errorf("complete: %v", err)
	}
	aborted := s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("second"))
	if _, err := s.service.AbortUpload(t.Context(), owner, actions.AbortUpload{UploadID: aborted.UploadID}); err != nil {
		t.Error(err)
	}
	if row := s.fileRow(file.ID); row == nil || row["etag"] != *file.ETag {
		t.Errorf("the row is %v", row)
	}
	s.holds()
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}
