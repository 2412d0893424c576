package actions_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/s3"
)

// arrived returns a ticket whose bytes are at the store.
func arrived(s *stack, as actions.Session) actions.Upload {
	s.t.Helper()
	mimeType := "text/plain"
	ticket := s.create(as, actions.CreateUpload{Name: "a.txt", Size: 5, MimeType: &mimeType})
	if status := put(s.t, *ticket.URL, ticket.Headers, []byte("bytes")); status != http.StatusOK {
		s.t.Fatalf("PUT: %d", status)
	}
	return ticket
}

func (s *stack) complete(as actions.Session, ticket actions.Upload) error {
	_, err := s.service.CompleteUpload(s.t.Context(), as, actions.CompleteUpload{UploadID: ticket.UploadID})
	return err
}

// onceAt runs what when the operation is about to reach Hasura for the first
// time, and does f to it.
func onceAt(operation string, f faults.Fault, what func()) faults.Rule {
	var once sync.Once
	return func(r faults.Request) (faults.Fault, func()) {
		hit := false
		if r.Operation == operation {
			once.Do(func() { hit = true })
		}
		if !hit {
			return faults.None, nil
		}
		if what != nil {
			what()
		}
		return f, nil
	}
}

func TestAbortWinsOverACompletionUnderWay(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.hasura.Set(onceAt("CommitUpload", faults.None, func() {
		done, err := s.service.AbortUpload(t.Context(), owner, actions.AbortUpload{UploadID: ticket.UploadID})
		if err != nil || !done.Aborted {
			t.Errorf("abort: %+v, %v", done, err)
		}
	}))
	if err := s.complete(owner, ticket); code(err) != actions.UploadNotFound {
		t.Errorf("complete: got %v, want upload-not-found", err)
	}
	if row := s.fileRow(ticket.FileID); row != nil {
		t.Errorf("the row is still there: %v", row)
	}
	if keys := s.keys(); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
	s.holds()
}

func TestAbortLosesToACommit(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.hasura.Set(onceAt("AbortUpload", faults.None, func() {
		if err := s.complete(owner, ticket); err != nil {
			t.Errorf("complete: %v", err)
		}
	}))
	done, err := s.service.AbortUpload(t.Context(), owner, actions.AbortUpload{UploadID: ticket.UploadID})
	if err != nil || done.Aborted {
		t.Errorf("abort: %+v, %v", done, err)
	}
	if got, code := s.download(owner, ticket.FileID); string(got) != "bytes" {
		t.Errorf("download: %q %q", got, code)
	}
	s.holds()
}

func TestAnExpiredUploadWhoseBytesArrivedIsKept(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	if done := s.sweep(3 * time.Hour); done.Completed != 1 {
		t.Errorf("sweep: %+v", done)
	}
	if got, _ := s.download(owner, ticket.FileID); string(got) != "bytes" {
		t.Errorf("download: %q", got)
	}
	s.holds()
}

func TestACompletionLongAfterExpiryIsAnsweredAgain(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.clock.Advance(25 * time.Hour)
	other := s.instance()
	for range 2 {
		file, err := other.CompleteUpload(t.Context(), owner, actions.CompleteUpload{UploadID: ticket.UploadID})
		if err != nil || file.ID != ticket.FileID {
			t.Fatalf("complete: %+v, %v", file, err)
		}
		if err := other.Close(t.Context()); err != nil { // the cleaning that the commit began has ended
			t.Fatal(err)
		}
	}
	if s.sweep(2 * time.Hour); s.uploadRow(ticket.UploadID) != nil {
		t.Error("the upload's row is still there")
	}
	s.holds()
}

func TestAnExpiredUploadWithoutBytesIsGone(t *testing.T) {
	s := start(t)
	ticket := s.create(user(), actions.CreateUpload{Name: "a", Size: 5})
	if done := s.sweep(10 * time.Minute); done.Aborted != 0 {
		t.Errorf("closed too early: %+v", done)
	}
	if done := s.sweep(3 * time.Hour); done.Aborted != 1 {
		t.Errorf("sweep: %+v", done)
	}
	if s.fileRow(ticket.FileID) != nil {
		t.Error("the file's row is still there")
	}
	s.sweep(3 * time.Hour)
	if s.uploadRow(ticket.UploadID) != nil {
		t.Error("the upload's row is still there")
	}
}

func TestExpiryDuringACompletionDoesNotCloseIt(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	other := s.instance()
	s.hasura.Set(onceAt("CommitUpload", faults.None, func() {
		if _, err := other.Sweep(t.Context()); err != nil { // the lease holds
			t.Error(err)
		}
		s.clock.Advance(130 * time.Minute) // it has run out now, and the ticket has expired
		if _, err := other.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}))
	if err := s.complete(owner, ticket); err != nil {
		t.Errorf("complete: %v", err)
	}
	if got, code := s.download(owner, ticket.FileID); string(got) != "bytes" {
		t.Errorf("download: %q %q", got, code)
	}
	s.sweep(time.Hour)
	s.holds()
}

func TestTwoInstancesCompleteAtOnce(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	other := s.instance()
	results := make(chan error, 8)
	for i := range cap(results) {
		service := []*actions.Storage{s.service, other}[i%2]
		go func() {
			_, err := service.CompleteUpload(t.Context(), owner, actions.CompleteUpload{UploadID: ticket.UploadID})
			results <- err
		}()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Errorf("complete: %v", err)
		}
	}
	s.sweep(time.Hour)
	s.holds()
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("keys: %v", keys)
	}
}

func TestACommitWhoseAnswerIsCut(t *testing.T) {
	for _, f := range []faults.Fault{faults.Cut, faults.Page, faults.Drop, faults.Refuse, faults.Double, faults.Late} {
		t.Run(f.String(), func(t *testing.T) {
			s := start(t)
			owner := user()
			ticket := arrived(s, owner)
			s.hasura.Set(onceAt("CommitUpload", f, nil))
			err := s.complete(owner, ticket)
			if err != nil && code(err) != actions.HasuraUnavailable {
				t.Fatalf("complete: %v", err)
			}
			if err := s.complete(owner, ticket); err != nil {
				t.Errorf("complete again: %v", err)
			}
			if got, _ := s.download(owner, ticket.FileID); string(got) != "bytes" {
				t.Errorf("download: %q", got)
			}
			s.sweep(2 * time.Minute)
			s.holds()
		})
	}
}

func TestALateCopyOfACommitBringsNothingBack(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	for i, content := range []string{"later", "final"} {
		ticket, err := s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: file.ID, Size: 5})
		if err != nil {
			t.Fatal(err)
		}
		put(t, *ticket.URL, ticket.Headers, []byte(content))
		if i == 0 {
			s.hasura.Set(onceAt("CommitUpload", faults.Late, nil))
		}
		if err := s.complete(owner, ticket); err != nil {
			t.Fatal(err)
		}
	}
	s.hasura.Settle() // the first replacement's commit has arrived again
	s.sweep(2 * time.Minute)
	if got, code := s.download(owner, file.ID); string(got) != "final" {
		t.Errorf("the file reads %q %q", got, code)
	}
	s.holds()
}

func TestAReplaceThatLostItsVersionIsNeverReportedAsStored(t *testing.T) {
	for _, f := range []faults.Fault{faults.None, faults.Cut, faults.Double} {
		t.Run(f.String(), func(t *testing.T) {
			s := start(t)
			owner := user()
			file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
			tickets := make([]actions.Upload, 2)
			for i, content := range []string{"other", "loser"} {
				var err error
				tickets[i], err = s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: file.ID, Size: 5, IfMatch: file.ETag})
				if err != nil {
					t.Fatal(err)
				}
				put(t, *tickets[i].URL, tickets[i].Headers, []byte(content))
			}
			s.hasura.Set(onceAt("CommitUpload", f, func() {
				if _, err := s.instance().CompleteUpload(t.Context(), owner, actions.CompleteUpload{UploadID: tickets[0].UploadID}); err != nil {
					t.Errorf("the other: %v", err)
				}
			}))
			if err := s.complete(owner, tickets[1]); code(err) != actions.Conflict {
				t.Errorf("complete: got %v, want conflict", err)
			}
			if err := s.complete(owner, tickets[1]); code(err) != actions.UploadNotFound {
				t.Errorf("complete again: got %v, want upload-not-found", err)
			}
			if got, _ := s.download(owner, file.ID); string(got) != "other" {
				t.Errorf("the file reads %q", got)
			}
			s.sweep(2 * time.Minute)
			s.holds()
		})
	}
}

func TestACommitThatIsUncertainDeletesNothing(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.hasura.Set(func(r faults.Request) (faults.Fault, func()) {
		switch r.Operation {
		case "CommitUpload":
			return faults.Cut, nil // it happened
		case "GetUploads":
			if s.uploadRow(ticket.UploadID)["state"] == "committed" {
				return faults.Refuse, nil // and cannot be read
			}
		}
		return faults.None, nil
	})
	if err := s.complete(owner, ticket); code(err) != actions.HasuraUnavailable {
		t.Errorf("complete: %v", err)
	}
	s.hasura.Set(nil)
	if got, code := s.download(owner, ticket.FileID); string(got) != "bytes" {
		t.Errorf("download: %q %q", got, code)
	}
	s.sweep(2 * time.Minute)
	s.holds()
}

func TestTheFileIsDeletedWhileItsUploadCompletes(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.hasura.Set(onceAt("CommitUpload", faults.None, func() {
		s.graphql(owner, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": ticket.FileID})
	}))
	if err := s.complete(owner, ticket); code(err) != actions.FileNotFound {
		t.Errorf("complete: %v", err)
	}
	s.sweep(2 * time.Minute)
	if keys := s.keys(); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
	s.holds()
}

func TestACreateWhoseInsertIsCut(t *testing.T) {
	for _, f := range []faults.Fault{faults.Cut, faults.Page, faults.Drop, faults.Refuse} {
		t.Run(f.String(), func(t *testing.T) {
			s := start(t)
			owner := user()
			s.hasura.Set(onceAt("InsertFiles", f, nil))
			_, err := s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "a", Size: 5})
			if code(err) != actions.HasuraUnavailable {
				t.Fatalf("create: %v", err)
			}
			s.sweep(3 * time.Hour)
			s.sweep(3 * time.Hour)
			data := s.graphql(nil, `{ files { id } storage_uploads { id } }`, nil)
			if len(rows(data["files"])) != 0 || len(rows(data["storage_uploads"])) != 0 {
				t.Errorf("left behind: %v", data)
			}
		})
	}
}

func TestAnInsertThatWasSentTwiceIsNotTakenBackInTheDark(t *testing.T) {
	for name, upload := range map[string]func(*stack) error{
		"by ticket": func(s *stack) error {
			_, err := s.service.CreateUpload(t.Context(), user(), actions.CreateUpload{Name: "a", Size: 5})
			return err
		},
		"by REST": func(s *stack) error {
			_, err := s.service.UploadFiles(t.Context(), sentBy(user()), &parts{{"file[]", "a", []byte("bytes")}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.hasura.Set(func(r faults.Request) (faults.Fault, func()) {
				switch r.Operation {
				case "InsertFiles":
					return faults.Double, nil
				case "UploadsOfFile": // nobody can tell whose row it is that was there
					return faults.Drop, nil
				}
				return faults.None, nil
			})
			if err := upload(s); code(err) != actions.HasuraUnavailable {
				t.Fatalf("got %v", err)
			}
			s.sweep(3 * time.Hour)
			s.sweep(3 * time.Hour)
			data := s.graphql(nil, `{ files { id } storage_uploads { id } }`, nil)
			if len(rows(data["files"])) != 0 || len(rows(data["storage_uploads"])) != 0 || len(s.keys()) != 0 {
				t.Errorf("left behind: %v %v", data, s.keys())
			}
		})
	}
}

func TestACreateThatIsRepeatedGetsTheSameTicket(t *testing.T) {
	s := start(t)
	owner := user()
	id := "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"
	in := actions.CreateUpload{ID: &id, Name: "a", Size: 5}
	first := s.create(owner, in)
	if again := s.create(owner, in); again.UploadID != first.UploadID || again.URL == nil {
		t.Errorf("got ticket %s, want %s", again.UploadID, first.UploadID)
	}
	for name, other := range map[string]struct {
		as actions.Session
		in actions.CreateUpload
	}{
		"another size":    {owner, actions.CreateUpload{ID: &id, Name: "a", Size: 6}},
		"another name":    {owner, actions.CreateUpload{ID: &id, Name: "b", Size: 5}},
		"another session": {user(), in},
	} {
		if _, err := s.service.CreateUpload(t.Context(), other.as, other.in); code(err) != actions.AlreadyExists {
			t.Errorf("%s: got %v, want already-exists", name, err)
		}
	}
	if n := len(rows(s.graphql(nil, `{ storage_uploads { id } }`, nil)["storage_uploads"])); n != 1 {
		t.Errorf("%d uploads are left, want 1", n)
	}
}

func TestAWrongLengthIsNamedAndRemoved(t *testing.T) {
	s := startWith(t, s3.Options{UnsignedLength: true}, nil)
	owner := user()
	ticket := s.create(owner, actions.CreateUpload{Name: "a", Size: 1000})
	if err := s.complete(owner, ticket); code(err) != actions.UploadIncomplete {
		t.Errorf("before the PUT: %v", err)
	}
	if status := put(t, *ticket.URL, nil, []byte("short")); status != http.StatusOK {
		t.Fatalf("PUT: %d", status)
	}
	err := s.complete(owner, ticket)
	var e *actions.Error
	if !errors.As(err, &e) || e.Code != actions.SizeMismatch || e.Details["declared"] != int64(1000) || e.Details["arrived"] != int64(5) {
		t.Errorf("complete: %v", err)
	}
	if s.fileRow(ticket.FileID) != nil || len(s.keys()) != 0 {
		t.Errorf("left behind: %v %v", s.fileRow(ticket.FileID), s.keys())
	}
}

func TestAPictureOfAFileThatGoesMeanwhile(t *testing.T) {
	s := start(t)
	owner := user()
	f := s.upload(owner, "a.jpg", "image/jpeg", photo(t, "photo_03mp.jpg"))
	width := 100
	link, err := s.service.Download(t.Context(), owner, actions.GetDownload{ID: f.ID, Image: &actions.Image{Width: &width}})
	if err != nil {
		t.Fatal(err)
	}
	s.store.Set(func(r faults.Request) (faults.Fault, func()) {
		if r.Method != http.MethodHead {
			return faults.None, nil
		}
		return faults.None, func() {
			if err := s.objects.Delete(t.Context(), s.keys()...); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := s.open(f.ID, link.URL); code(err) != actions.FileNotFound {
		t.Errorf("got %v, want file-not-found", err)
	}
}
