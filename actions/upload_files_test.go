package actions_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
)

var errLeft = errors.New("the sender has left")

// endlessForm has files, and then no end: it stands still until its sender leaves.
type endlessForm struct {
	parts
	left <-chan struct{}
}

func (f *endlessForm) Next() (actions.FormPart, error) {
	if part, err := f.parts.Next(); err == nil {
		return part, nil
	}
	<-f.left
	return actions.FormPart{}, errLeft
}

// tiny is n files of one byte.
func tiny(n int) parts {
	var p parts
	for range n {
		p = append(p, parts{{"file[]", "a", []byte("a")}}...)
	}
	return p
}

// TestFilesOfFormsAreCounted one by one, however many forms come at once.
func TestFilesOfFormsAreCounted(t *testing.T) {
	s := start(t)
	s.options.MaxOpenUploads = 150
	s.service = s.instance()
	owner, left := user(), make(chan struct{})
	var forms sync.WaitGroup
	refused := make(chan error, 8)
	for range 8 {
		forms.Go(func() {
			_, err := s.service.UploadFiles(t.Context(), sentBy(owner), &endlessForm{tiny(30), left})
			if !errors.Is(err, errLeft) {
				refused <- err
			}
		})
	}
	for range 5 { // at most three have room
		select {
		case err := <-refused:
			if code(err) != actions.Busy {
				t.Errorf("refused with %v", err)
			}
		case <-time.After(30 * time.Second):
			open, _ := s.counted()
			t.Errorf("nobody was refused, and %d uploads are open", open)
		}
		if t.Failed() {
			break
		}
	}
	if open, _ := s.counted(); open > 100 {
		t.Errorf("%d uploads are open", open)
	}
	if _, err := s.service.UploadFiles(t.Context(), sentBy(user()), new(tiny(1))); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	close(left)
	forms.Wait()
	if open, files := s.counted(); open != 0 || files != 1 {
		t.Errorf("afterwards: %d open uploads, %d files", open, files)
	}
}

// TestTheLastFileOfAFormHasRoom: a hundred is the limit, whoever holds the others.
func TestTheLastFileOfAFormHasRoom(t *testing.T) {
	s := start(t)
	owner := user()
	headers := sentBy(owner)
	left, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := s.service.UploadFiles(t.Context(), headers, &endlessForm{tiny(99), left})
		done <- err
	}()
	for range 500 {
		if open, _ := s.counted(); open == 99 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	stored, err := s.service.UploadFiles(t.Context(), headers, new(tiny(1)))
	if err != nil {
		t.Fatalf("the hundredth: %v", err)
	}
	if _, err := s.service.UploadFiles(t.Context(), headers, new(tiny(2))); code(err) != actions.Busy {
		t.Errorf("the hundred and first: %v", err)
	}
	if open, files := s.counted(); open != 99 || files != 1 {
		t.Errorf("%d uploads are open, %d files are there", open, files)
	}
	replacement := &parts{{"file", "b", []byte("b")}}
	if _, err := s.service.PutFile(t.Context(), headers, stored[0].ID, nil, replacement); err != nil {
		t.Errorf("a replacement: %v", err)
	}
	close(left)
	if err := <-done; !errors.Is(err, errLeft) {
		t.Error(err)
	}
}

// TestAFormThatCouldNotBeCountedIsTakenBack, row and all.
func TestAFormThatCouldNotBeCountedIsTakenBack(t *testing.T) {
	s := start(t)
	headers := sentBy(user())
	f, err := s.service.UploadFiles(t.Context(), headers, new(tiny(1)))
	if err != nil {
		t.Fatal(err)
	}
	for kind, send := range map[string]func() error{
		"create": func() error {
			_, err := s.service.UploadFiles(t.Context(), headers, new(tiny(1)))
			return err
		},
		"replace": func() error {
			_, err := s.service.PutFile(t.Context(), headers, f[0].ID, nil, &parts{{"file", "b", []byte("b")}})
			return err
		},
	} {
		s.hasura.Set(onceAt("CountOpenUploads", faults.Refuse, nil))
		if err := send(); code(err) != actions.HasuraUnavailable {
			t.Errorf("%s: %v", kind, err)
		}
		left := rows(s.graphql(nil, `{ storage_uploads { id } }`, nil)["storage_uploads"])
		if len(left) != 1 { // the first one's, until its last look
			t.Errorf("%s: %d uploads are left", kind, len(left))
		}
		if n := s.service.Stats().Uploads[actions.UploadEvent{Kind: kind, Event: actions.UploadWithdrawn}]; n != 1 {
			t.Errorf("%s: %d are withdrawn", kind, n)
		}
	}
}
