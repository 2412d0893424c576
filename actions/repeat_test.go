package actions_test

import (
	"reflect"
	"testing"
	"time"

	"hasura-storage/actions"
)

// again completes an upload once more.
func (s *stack) again(as actions.Session, uploadID string) actions.File {
	s.t.Helper()
	f, err := s.service.CompleteUpload(s.t.Context(), as, actions.CompleteUpload{UploadID: uploadID})
	if err != nil {
		s.t.Fatalf("complete: %v", err)
	}
	return f
}

// TestARepeatTellsNothingOfWhatCameAfter: who had a file knows its upload's id for
// longer than he may see the file.
func TestARepeatTellsNothingOfWhatCameAfter(t *testing.T) {
	s := start(t)
	bob, alice := user(), user()
	ticket := arrived(s, bob)
	first := s.again(bob, ticket.UploadID)
	if first.Name == nil || *first.Name != "a.txt" || first.BucketID == nil || first.Size == nil {
		t.Fatalf("first: %+v", first)
	}
	s.graphql(bob, `mutation($id: uuid!) { updateFile(pk_columns: {id: $id}, _set: {name: "bobs.txt"}) { id } }`, map[string]any{"id": first.ID})
	if f := s.again(bob, ticket.UploadID); *f.Name != "bobs.txt" || *f.Size != *first.Size {
		t.Errorf("after a change of his own: %+v", f)
	}
	s.graphql(nil, `mutation($id: uuid!, $owner: uuid!) { updateFile(pk_columns: {id: $id}, _set: {uploadedByUserId: $owner}) { id } }`,
		map[string]any{"id": first.ID, "owner": alice["x-hasura-user-id"]})
	s.graphql(alice, `mutation($id: uuid!) { updateFile(pk_columns: {id: $id}, _set: {name: "alices.txt"}) { id } }`, map[string]any{"id": first.ID})
	if f := s.again(bob, ticket.UploadID); !reflect.DeepEqual(f, first) {
		t.Errorf("after a change of hers: %+v", f)
	}
	if err := s.complete(alice, s.replacing(alice, actions.ReplaceFile{ID: first.ID, Name: text("secret.txt")}, []byte("her own bytes"))); err != nil {
		t.Fatal(err)
	}
	if f := s.again(bob, ticket.UploadID); !reflect.DeepEqual(f, actions.File{ID: first.ID}) {
		t.Errorf("after her replacement: %+v", f)
	}
	s.holds()
}

func TestARepeatTellsNothingOfAFileOfTheSameID(t *testing.T) {
	s := start(t)
	bob, alice := user(), user()
	ticket := arrived(s, bob)
	first := s.again(bob, ticket.UploadID)
	s.graphql(bob, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": first.ID})
	s.clock.Advance(time.Second)
	hers := s.create(alice, actions.CreateUpload{ID: &first.ID, Name: "a.txt", Size: 6})
	for _, what := range []func(){func() {}, func() {
		if err := s.complete(alice, s.sent(alice, hers, []byte("second"))); err != nil {
			t.Fatal(err)
		}
	}} {
		what()
		if f := s.again(bob, ticket.UploadID); !reflect.DeepEqual(f, actions.File{ID: first.ID}) {
			t.Errorf("he learns %+v", f)
		}
	}
	s.holds()
}

// TestARepeatOfAReplacementTellsTheSame, also of a name that was not given with it.
func TestARepeatOfAReplacementTellsTheSame(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	ticket := s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("second"))
	first := s.again(owner, ticket.UploadID)
	if first.Name == nil || *first.Name != "a.txt" || *first.Size != 6 {
		t.Errorf("first: %+v", first)
	}
	if f := s.again(owner, ticket.UploadID); !reflect.DeepEqual(f, first) {
		t.Errorf("again: %+v", f)
	}
}
