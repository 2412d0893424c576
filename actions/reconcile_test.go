package actions_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"hasura-storage/actions/internal/faults"
)

// reconciled runs a reconciliation to its end.
func (s *stack) reconciled() {
	s.t.Helper()
	service := s.instance()
	if done, err := service.Reconcile(s.t.Context()); err != nil || !done.Started {
		s.t.Fatalf("reconcile: %+v, %v", done, err)
	}
	if err := service.Close(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func TestReconcileRemovesWhatNobodyNamesAndNothingElse(t *testing.T) {
	s := start(t)
	owner := user()
	kept := s.upload(owner, "kept.txt", "text/plain", []byte("kept"))
	ticket := arrived(s, owner) // an open upload keeps what it names

	id, version := uuid.NewString(), strings.Repeat("0", 26)
	ours := []string{
		"files/" + version + "/" + id, "files-staging/" + version,
		"files-variants/" + id + "/" + version + "/i1_w9", "files-variants/" + kept.ID + "/" + version + "/i1_w9",
	}
	foreign := []string{
		"files/" + id, // nhost's layout: reported, not removed
		"files/a b%41", "files/.emptyFolderPlaceholder", "files2/" + id, "elsewhere/" + version + "/" + id,
		"files-variants/readme.txt", "files-staging/x/" + version,
	}
	for _, key := range slices.Concat(ours, foreign) {
		if _, err := s.objects.Put(t.Context(), key, strings.NewReader("x"), 1, "text/plain"); err != nil {
			t.Fatal(err)
		}
	}
	multipart, err := s.objects.CreateMultipart(t.Context(), "files/"+version+"/"+uuid.NewString(), "text/plain")
	if err != nil || multipart == "" {
		t.Fatal(err)
	}

	s.clock.Advance(23 * time.Hour)
	s.reconciled()
	if got := s.keys(); !containsAll(got, ours) {
		t.Errorf("what is younger than a day was removed: %v", got)
	}
	s.clock.Advance(2 * time.Hour)
	s.reconciled()
	got := s.keys()
	if !containsAll(got, foreign) {
		t.Errorf("foreign keys were touched: %v", got)
	}
	for _, key := range ours {
		if slices.Contains(got, key) {
			t.Errorf("%s is still there", key)
		}
	}
	if content, _ := s.download(owner, kept.ID); string(content) != "kept" {
		t.Errorf("the file reads %q", content)
	}
	if err := s.complete(owner, ticket); err != nil {
		t.Errorf("the open upload: %v", err)
	}
	for m, err := range s.objects.ListMultiparts(t.Context(), "files/") {
		t.Errorf("parts are left at %s (%v)", m.Key, err)
	}
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(key string) bool { return !slices.Contains(all, key) })
}

func TestReconcileDoesNotBelieveThatMostIsAbandoned(t *testing.T) {
	s := start(t)
	for range 60 { // another database's files
		key := "files/" + strings.Repeat("0", 26) + "/" + uuid.NewString()
		if _, err := s.objects.Put(t.Context(), key, strings.NewReader("x"), 1, "text/plain"); err != nil {
			t.Fatal(err)
		}
	}
	s.options.Log = zap.NewNop()
	s.clock.Advance(48 * time.Hour)
	s.reconciled()
	if n := len(s.keys()); n != 60 {
		t.Errorf("%d of 60 objects are left", n)
	}
}

func TestReconcileNeverTouchesARowWhoseObjectIsMissing(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("gone"))
	key := s.fileRow(file.ID)["objectKey"].(string)
	if err := s.objects.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(48 * time.Hour)
	s.reconciled()
	if row := s.fileRow(file.ID); row == nil || row["isUploaded"] != true {
		t.Errorf("the row is %v", row)
	}
}

func TestReconcileRunsOnceAtATime(t *testing.T) {
	s := start(t)
	listing, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.store.Set(func(faults.Request) (faults.Fault, func()) {
		once.Do(func() { close(listing) })
		<-release
		return faults.None, nil
	})
	if first, err := s.service.Reconcile(t.Context()); err != nil || !first.Started {
		t.Fatalf("%+v, %v", first, err)
	}
	<-listing
	if second, err := s.service.Reconcile(t.Context()); err != nil || second.Started {
		t.Errorf("a second one: %+v, %v", second, err)
	}
	close(release)
}
