package actions_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
)

func TestACopyIsAFileOfItsOwn(t *testing.T) {
	s := start(t)
	owner, photo := user(), photo(t, "photo_03mp.jpg")
	source := s.upload(owner, "a.jpg", "image/jpeg", photo)
	file, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: source.ID, Name: text("b.jpg")})
	if err != nil {
		t.Fatal(err)
	}
	if *file.Name != "b.jpg" || *file.MimeType != "image/jpeg" || *file.Size != int64(len(photo)) || *file.Width != *source.Width || file.ID == source.ID {
		t.Errorf("the copy is %+v", file)
	}
	s.graphql(owner, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": source.ID})
	s.sweep(4 * time.Hour)
	if got, _ := s.download(owner, file.ID); !bytes.Equal(got, photo) {
		t.Error("the copy went with its source")
	}
	s.holds()
}

func TestWhoMayCopyWhat(t *testing.T) {
	s := startRoles(t)
	owner := user()
	source := s.upload(owner, "a.txt", "text/plain", []byte("eleven byte"))
	s.graphql(nil, `mutation { insertBucket(object: {id: "pictures", allowedMimeTypes: ["image/*"]}) { id } }`, nil)
	for name, tc := range map[string]struct {
		as   actions.Session
		in   actions.CopyFile
		want actions.Code
	}{
		"who cannot see the source":        {user(), actions.CopyFile{ID: source.ID}, actions.FileNotFound},
		"who may see, and not insert":      {in("reader"), actions.CopyFile{ID: source.ID}, actions.NotAllowed},
		"a bucket that takes fewer bytes":  {owner, actions.CopyFile{ID: source.ID, BucketID: text("inbox")}, actions.FileTooBig},
		"a bucket that takes another type": {owner, actions.CopyFile{ID: source.ID, BucketID: text("pictures")}, actions.MimeTypeNotAllowed},
		"an id that is taken":              {owner, actions.CopyFile{ID: source.ID, NewID: &source.ID}, actions.AlreadyExists},
		"an empty name":                    {owner, actions.CopyFile{ID: source.ID, Name: text("")}, actions.BadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			s.store.Seen()
			if file, err := s.service.CopyFile(t.Context(), tc.as, tc.in); code(err) != tc.want {
				t.Errorf("got %+v, %v", file, err)
			}
			for _, r := range s.store.Seen() {
				if r.Method == http.MethodPut {
					t.Error("bytes were copied before that was known")
				}
			}
		})
	}
	s.sweep(4 * time.Hour)
	if keys, files := s.keys(), rows(s.graphql(nil, `{ files { id } }`, nil)["files"]); len(keys) != 1 || len(files) != 1 {
		t.Errorf("left behind: %v, %v", keys, files)
	}
}

func TestACopyOfARowWhoseTypeIsNone(t *testing.T) {
	s := start(t)
	owner := user()
	source := s.upload(owner, "a.txt", "text/plain", []byte("bytes"))
	s.graphql(nil, `mutation($id: uuid!) { updateFile(pk_columns: {id: $id}, _set: {mimeType: "html"}) { id } }`, map[string]any{"id": source.ID})
	file, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: source.ID})
	if err != nil || !strings.HasPrefix(*file.MimeType, "text/plain") {
		t.Errorf("%+v, %v", file, err)
	}
}

func TestCopiesWithTheSameIdJoin(t *testing.T) {
	s := start(t)
	owner := user()
	source := s.upload(owner, "a.txt", "text/plain", []byte("bytes"))
	id := "99999999-9999-4999-8999-999999999999"
	s.hasura.Set(func(r faults.Request) (faults.Fault, func()) {
		if r.Operation == "WithdrawUploads" { // those that lose are seen beside the one that won
			time.Sleep(200 * time.Millisecond)
		}
		return faults.None, nil
	})
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			file, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: source.ID, NewID: &id})
			if err != nil || file.ID != id {
				t.Errorf("got %+v, %v", file, err)
			}
		})
	}
	wait.Wait()
	s.holds()
	if _, err := s.service.CopyFile(t.Context(), user(), actions.CopyFile{ID: source.ID, NewID: &id}); code(err) != actions.FileNotFound {
		t.Errorf("a stranger: %v", err)
	}
}

func TestASourceThatIsReplacedWhileItIsCopied(t *testing.T) {
	s := start(t)
	owner := user()
	source := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	s.hasura.Set(onceAt("ClaimUpload", faults.None, func() {
		s.hasura.Set(nil)
		if err := s.complete(owner, s.replacing(owner, actions.ReplaceFile{ID: source.ID}, []byte("second"))); err != nil {
			t.Error(err)
		}
		if err := s.service.FileGone(t.Context(), actions.FileEvent{ID: source.ID}); err != nil {
			t.Error(err)
		}
	}))
	if file, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: source.ID}); code(err) != actions.Conflict {
		t.Errorf("got %+v, %v", file, err)
	}
	s.sweep(4 * time.Hour)
	s.holds()
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}
