package actions_test

import (
	"testing"
	"time"

	"hasura-storage/actions"
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
