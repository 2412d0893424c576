package actions_test

import (
	"testing"

	"github.com/google/uuid"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
)

// TestARowThatAStrangerInsertedFirst: who knows an id, a name and a size can insert
// such a row by Hasura itself, at any moment of another's create. It is never taken
// for the create's own, whatever became of its requests.
func TestARowThatAStrangerInsertedFirst(t *testing.T) {
	const id = "99999999-9999-4999-8999-999999999999"
	const insert = `mutation($id: uuid!) { insertFile(object: {id: $id, name: "a", size: 5}) { id } }`
	for name, fault := range map[string]faults.Fault{"right before it": faults.None, "after its request was lost": faults.Refuse} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			owner, stranger := user(), user()
			s.hasura.Set(onceAt("InsertFiles", fault, func() { s.graphql(stranger, insert, map[string]any{"id": id}) }))
			in := actions.CreateUpload{ID: text(id), Name: "a", Size: 5}
			for range 2 {
				if ticket, err := s.service.CreateUpload(t.Context(), owner, in); err == nil {
					t.Fatalf("a ticket for a stranger's row: %+v", ticket)
				}
			}
			source := s.upload(owner, "a", "text/plain", []byte("bytes"))
			if file, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: source.ID, NewID: text(id)}); code(err) != actions.AlreadyExists {
				t.Errorf("a copy: %+v, %v", file, err)
			}
		})
	}
}

// TestAnInsertOfOurOwnIsKnown, with the owner in the row and without.
func TestAnInsertOfOurOwnIsKnown(t *testing.T) {
	s := startRoles(t)
	for name, as := range map[string]actions.Session{
		"a row that names its owner":         user(),
		"a role that sees no files":          in("dropper"),
		"a role that sees and updates files": in("keeper"),
	} {
		t.Run(name, func(t *testing.T) {
			create := actions.CreateUpload{ID: text(uuid.NewString()), Name: "a", Size: 5}
			s.hasura.Set(onceAt("InsertFiles", faults.Double, nil))
			first := s.create(as, create)
			if again := s.create(as, create); again.UploadID != first.UploadID {
				t.Errorf("first %s, then %s", first.UploadID, again.UploadID)
			}
		})
	}
}
