package actions_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/s3"
)

// rolledBack runs a rollback, and returns why which files were left.
func (s *stack) rolledBack() (moved int, left map[string]string) {
	s.t.Helper()
	left = map[string]string{}
	for one, err := range s.service.RollbackKeys(s.t.Context()) {
		if err != nil {
			s.t.Fatal(err)
		}
		if one.Left != "" {
			left[one.ID] = one.Left
		} else {
			moved++
		}
	}
	return moved, left
}

// legacy makes a text as nhost's service left it.
func (s *stack) legacy(owner actions.Session, body string) (id string) {
	s.t.Helper()
	return s.legacyFile(owner, "text/plain", []byte(body))
}

func (s *stack) legacyFile(owner actions.Session, mimeType string, body []byte) (id string) {
	s.t.Helper()
	id = uuid.NewString()
	o, err := s.objects.Put(s.t.Context(), "files/"+id, bytes.NewReader(body), int64(len(body)), mimeType)
	if err != nil {
		s.t.Fatal(err)
	}
	s.graphql(nil, `mutation($row: files_insert_input!) { insertFile(object: $row) { id } }`, map[string]any{"row": map[string]any{
		"id": id, "name": "old", "size": len(body), "mimeType": mimeType, "etag": o.ETag, "isUploaded": true,
		"uploadedByUserId": owner["x-hasura-user-id"],
	}})
	return id
}

func TestObjectsGoBackToWhereNhostLooks(t *testing.T) {
	s := start(t)
	owner := user()
	ids := map[string][]byte{"a legacy file": []byte("old"), "a text": []byte("text"), "a picture": photo(t, "photo_03mp.jpg"), "a film": film()}
	names := map[string]string{
		s.legacy(owner, "old"): "a legacy file",
		s.upload(owner, "a.txt", "text/plain", ids["a text"]).ID:    "a text",
		s.upload(owner, "a.jpg", "image/jpeg", ids["a picture"]).ID: "a picture",
	}
	ticket, body := s.filming(owner)
	for i, part := range ticket.Parts {
		put(t, part.URL, nil, body[i<<24:min((i+1)<<24, len(body))])
	}
	if err := s.completePatiently(owner, ticket); err != nil {
		t.Fatal(err)
	}
	names[ticket.FileID] = "a film"
	for id, name := range names {
		if name == "a picture" {
			s.picture(owner, id, 100)
		}
	}

	before, listed := s.keys(), 0
	for one, err := range s.service.ListKeyRollbacks(t.Context()) {
		if listed++; err != nil || one.To != "files/"+one.ID || one.From == one.To || one.Left != "" {
			t.Errorf("listed: %+v, %v", one, err)
		}
	}
	if now := s.keys(); listed != 3 || !slices.Equal(now, before) {
		t.Errorf("listing found %d and left %v", listed, now)
	}
	for _, want := range []int{3, 0} { // the second time there is nothing to do
		if moved, left := s.rolledBack(); moved != want || len(left) > 0 {
			t.Errorf("moved %d, left %v", moved, left)
		}
	}
	s.sweep(2 * time.Minute)
	s.holds()
	if now := s.keys(); len(now) != len(names) {
		t.Errorf("left behind: %v", now)
	}
	for id, name := range names {
		if row := s.fileRow(id); row["objectKey"] != nil {
			t.Errorf("%s: the row names %v", name, row["objectKey"])
		}
		if got, failure := s.download(owner, id); failure != "" || !bytes.Equal(got, ids[name]) {
			t.Errorf("%s: %d bytes came back, %s", name, len(got), failure)
		}
	}
}

func TestAFileThatIsReplacedWhileItGoesBack(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	ticket := s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("second"))
	s.hasura.Set(onceAt("RollbackKey", faults.None, func() {
		if err := s.complete(owner, ticket); err != nil {
			t.Error(err)
		}
	}))
	if moved, left := s.rolledBack(); moved != 1 || len(left) > 0 {
		t.Errorf("moved %d, left %v", moved, left)
	}
	if got, _ := s.download(owner, file.ID); string(got) != "second" {
		t.Errorf("the file is %q", got)
	}
	s.holds()
	if row := s.fileRow(file.ID); row["objectKey"] != nil {
		t.Errorf("the row names %v", row["objectKey"])
	}
}

func TestAFileThatIsDeletedWhileItGoesBack(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	s.hasura.Set(onceAt("RollbackKey", faults.None, func() {
		s.graphql(nil, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": file.ID})
	}))
	s.rolledBack()
	s.sweep(2 * time.Minute)
	if keys := s.keys(); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestARollbackThatBreaksGoesOn(t *testing.T) {
	for _, fault := range []faults.Fault{faults.Refuse, faults.Cut, faults.Double} {
		t.Run(fault.String(), func(t *testing.T) {
			s := start(t)
			owner := user()
			file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
			s.hasura.Set(onceAt("RollbackKey", fault, nil))
			for range s.service.RollbackKeys(t.Context()) {
			}
			s.rolledBack()
			s.sweep(2 * time.Minute)
			s.holds()
			if got, _ := s.download(owner, file.ID); string(got) != "first" || s.fileRow(file.ID)["objectKey"] != nil {
				t.Errorf("the file is %q: %v", got, s.fileRow(file.ID))
			}
		})
	}
}

func TestWhatCannotGoBackIsLeft(t *testing.T) {
	s := start(t)
	owner := user()
	replaced := s.legacy(owner, "old")
	if err := s.complete(owner, s.replacing(owner, actions.ReplaceFile{ID: replaced}, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	lost := s.upload(owner, "lost.txt", "text/plain", []byte("lost")).ID
	key, _ := s.fileRow(lost)["objectKey"].(string)
	if err := s.objects.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	elsewhere := s.upload(owner, "b.txt", "text/plain", []byte("elsewhere")).ID
	s.graphql(nil, `mutation($id: uuid!, $key: String) { updateFile(pk_columns: {id: $id}, _set: {objectKey: $key}) { id } }`,
		map[string]any{"id": elsewhere, "key": "other/" + elsewhere})

	longer := s.upload(owner, "c.txt", "text/plain", []byte("shorter than its row says")).ID
	s.graphql(nil, `mutation($id: uuid!) { updateFile(pk_columns: {id: $id}, _set: {size: 1000}) { id } }`, map[string]any{"id": longer})

	for _, again := range []bool{false, true} {
		moved, left := s.rolledBack()
		if left[longer] != "its object has 25 bytes, not 1000 as its row says" {
			t.Errorf("left are %v", left)
		}
		if left[lost] != "its object is missing" || !strings.Contains(left[elsewhere], "S3_ROOT_FOLDER") {
			t.Errorf("left are %v", left)
		}
		if _, waits := left[replaced]; waits == again || (moved == 1) != again {
			t.Errorf("again %v: moved %d, left %v", again, moved, left)
		}
		s.sweep(2 * time.Minute) // works off the former object
	}
	if got, _ := s.download(owner, replaced); string(got) != "new" {
		t.Errorf("the file is %q", got)
	}
	if _, err := s.objects.Stat(t.Context(), "files/"+replaced); err != nil {
		t.Error(err)
	}
	if _, err := s.objects.Stat(t.Context(), "files/"+longer); !errors.Is(err, s3.ErrNotFound) {
		t.Errorf("a copy that does not fit stays: %v", err)
	}
}

func TestARollbackTellsWhatItDidBeforeItBreaks(t *testing.T) {
	s := start(t)
	owner := user()
	elsewhere := s.upload(owner, "a.txt", "text/plain", []byte("elsewhere")).ID
	s.graphql(nil, `mutation($id: uuid!, $key: String) { updateFile(pk_columns: {id: $id}, _set: {objectKey: $key}) { id } }`,
		map[string]any{"id": elsewhere, "key": "other/" + elsewhere})
	s.upload(owner, "b.txt", "text/plain", []byte("first"))
	s.hasura.Set(onceAt("RollbackKey", faults.Refuse, nil))
	var told []string
	var last error
	for one, err := range s.service.RollbackKeys(t.Context()) {
		if last = err; err == nil {
			told = append(told, one.ID)
		}
	}
	if actions.Public(last).Code != actions.HasuraUnavailable || !slices.Equal(told, []string{elsewhere}) {
		t.Errorf("told of %v, then %v", told, last)
	}
}

// orphansDeleted deletes what nobody names and returns it.
func (s *stack) orphansDeleted() (keys []string) {
	s.t.Helper()
	for one, err := range s.service.DeleteOrphans(s.t.Context()) {
		if err != nil {
			s.t.Fatal(err)
		}
		keys = append(keys, one.Key)
	}
	return keys
}

func TestOrphansAreDeletedWhileAFileGoesBack(t *testing.T) {
	for name, tc := range map[string]struct {
		age time.Duration // of whatever is at the store
		at  func(s *stack)
	}{
		"before the row names the copy": {2 * time.Second, func(s *stack) {
			s.hasura.Set(onceAt("RollbackKey", faults.None, func() { s.orphansDeleted() }))
			s.rolledBack()
		}},
		"and the row names the copy in the middle of it": {2 * time.Hour, func(s *stack) {
			id := s.keys()[0][len(s.keys()[0])-36:]
			if _, err := s.objects.Put(t.Context(), "files/"+id, strings.NewReader("first"), 5, ""); err != nil { // of a rollback that broke off
				t.Fatal(err)
			}
			s.hasura.Set(afterFirst("FilesNaming", func() { s.rolledBack() }))
			s.orphansDeleted()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			owner := user()
			file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
			s.clock.Advance(tc.age)
			tc.at(s)
			s.hasura.Set(nil)
			s.sweep(2 * time.Minute) // works off the former object
			if got, failure := s.download(owner, file.ID); string(got) != "first" || s.fileRow(file.ID)["objectKey"] != nil {
				t.Errorf("the file is %q, %s: %v", got, failure, s.fileRow(file.ID))
			}
		})
	}
}

// afterFirst runs what once Hasura has acted on the operation for the first time.
func afterFirst(operation string, what func()) faults.Rule {
	var once sync.Once
	return func(r faults.Request) (faults.Fault, func()) {
		if r.Operation != operation {
			return faults.None, nil
		}
		return faults.None, func() { once.Do(what) }
	}
}

func TestAnOrphanAtNhostsKeyIsOldWhenItIsDeleted(t *testing.T) {
	s := start(t)
	key := "files/" + uuid.NewString()
	write := func() time.Time {
		if _, err := s.objects.Put(t.Context(), key, strings.NewReader("x"), 1, ""); err != nil {
			t.Fatal(err)
		}
		o, err := s.objects.Stat(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return o.LastModified
	}
	hourAfter := write().Add(time.Hour + time.Second)
	s.clock.Advance(hourAfter.Sub(s.clock.Now()))
	s.hasura.Set(afterFirst("FilesNaming", func() { // it is copied anew since the walk saw it
		time.Sleep(2 * time.Second)
		write()
	}))
	if gone := s.orphansDeleted(); len(gone) > 0 || len(s.keys()) != 1 {
		t.Errorf("gone is %v, left %v", gone, s.keys())
	}
	s.clock.Advance(time.Hour)
	if gone := s.orphansDeleted(); len(gone) != 1 || len(s.keys()) != 0 {
		t.Errorf("an hour later gone is %v, left %v", gone, s.keys())
	}
}
