package actions_test

import (
	"testing"
	"time"

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

// TestAnInsertOfOurOwnIsKnown, though its request was sent twice, as far as the
// caller can see it; otherwise it is left to the sweep.
func TestAnInsertOfOurOwnIsKnown(t *testing.T) {
	s := startRoles(t)
	for name, tc := range map[string]struct {
		as   actions.Session
		want actions.Code
	}{
		"a row that names its owner":         {user(), ""},
		"a role that sees and updates files": {in("keeper"), ""},
		"a role that sees no files":          {in("dropper"), actions.HasuraUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			create := actions.CreateUpload{ID: text(uuid.NewString()), Name: "a", Size: 5}
			s.hasura.Set(onceAt("InsertFiles", faults.Double, nil))
			first, err := s.service.CreateUpload(t.Context(), tc.as, create)
			if code(err) != tc.want {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				if again := s.create(tc.as, create); again.UploadID != first.UploadID {
					t.Errorf("first %s, then %s", first.UploadID, again.UploadID)
				}
				return
			}
			s.sweep(3 * time.Hour)
			if s.fileRow(*create.ID) != nil {
				t.Error("the row is still there")
			}
			s.create(tc.as, create)
		})
	}
}

// TestARepeatNeedsNoSight: the answer to a create was lost, and its role sees no
// files, or only those that are uploaded.
func TestARepeatNeedsNoSight(t *testing.T) {
	s := startRoles(t)
	for _, role := range []string{"dropper", "finder"} {
		as := in(role)
		create := actions.CreateUpload{ID: text(uuid.NewString()), Name: "a", Size: 5}
		first := s.create(as, create)
		if again := s.create(as, create); again.UploadID != first.UploadID {
			t.Errorf("%s: first %s, then %s", role, first.UploadID, again.UploadID)
		}
	}
}
