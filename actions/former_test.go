package actions_test

import (
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
)

// TestATicketOfAFormerFileIsOver: who once had a file of an id cannot give the
// file that has it now his bytes.
func TestATicketOfAFormerFileIsOver(t *testing.T) {
	s := start(t)
	former, owner := user(), user()
	id := "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"
	in := actions.CreateUpload{ID: &id, Name: "a.txt", Size: 5, MimeType: text("text/plain")}
	first := s.sent(former, s.create(former, in), []byte("aaaaa"))
	s.graphql(former, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": id})
	s.clock.Advance(time.Second)
	second := s.sent(owner, s.create(owner, in), []byte("bbbbb"))
	if err := s.complete(former, first); err == nil {
		t.Error("the former ticket was completed")
	}
	s.sweep(2 * time.Minute)
	if err := s.complete(owner, second); err != nil {
		t.Errorf("the present one: %v", err)
	}
	if got, c := s.download(owner, id); string(got) != "bbbbb" {
		t.Errorf("the file is %q, %s", got, c)
	}
	s.holds()
}

// TestAFormerTicketIsOverOnceAFormHasTheID: the same for a file that comes by REST.
func TestAFormerTicketIsOverOnceAFormHasTheID(t *testing.T) {
	s := start(t)
	former, owner := user(), user()
	id := "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"
	first := s.sent(former, s.create(former, actions.CreateUpload{ID: &id, Name: "a.txt", Size: 5}), []byte("aaaaa"))
	s.graphql(former, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": id})
	s.clock.Advance(time.Second)
	s.hasura.Set(onceAt("CommitUpload", faults.None, func() {
		if err := s.complete(former, first); err == nil {
			t.Error("the former ticket was completed")
		}
	}))
	form := &parts{{"metadata[]", "", []byte(`{"id": "` + id + `"}`)}, {"file[]", "a.txt", []byte("bbbbb")}}
	if _, err := s.service.UploadFiles(t.Context(), sentBy(owner), form); err != nil {
		t.Error(err)
	}
	if got, c := s.download(owner, id); string(got) != "bbbbb" {
		t.Errorf("the file is %q, %s", got, c)
	}
}

// TestALateInsertGoesInSpiteOfAReplacement: the insert of a file that was stored and
// deleted comes once more, while a ticket for its replacement is open.
func TestALateInsertGoesInSpiteOfAReplacement(t *testing.T) {
	s := start(t)
	owner := user()
	f := s.upload(owner, "a.txt", "text/plain", []byte("bytes"))
	for _, method := range []string{"PUT", "MULTIPART"} {
		if _, err := s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: f.ID, Size: 5, Method: method}); err != nil {
			t.Fatal(err)
		}
	}
	s.graphql(owner, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": f.ID})
	s.graphql(owner, `mutation($id: uuid!) { insertFile(object: {id: $id, name: "a.txt", size: 5}) { id } }`, map[string]any{"id": f.ID})
	for _, wait := range []time.Duration{time.Hour, 4 * time.Hour, 8 * 24 * time.Hour, 2 * time.Hour} {
		s.sweep(wait)
	}
	data := s.graphql(nil, `{ files { id } storage_uploads { id } }`, nil)
	if len(rows(data["files"])) != 0 || len(rows(data["storage_uploads"])) != 0 {
		t.Errorf("left behind: %v", data)
	}
}
