package actions_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
)

// openUploads returns the rows of open uploads.
func (s *stack) openUploads() []map[string]any {
	s.t.Helper()
	return rows(s.graphql(nil, `{ storage_uploads(where: {state: {_eq: "open"}}) { id file_id attempts } }`, nil)["storage_uploads"])
}

// used returns how many bytes the quota of the default bucket counts.
func (s *stack) used() any {
	s.t.Helper()
	return s.graphql(nil, `{ bucket(id: "default") { usedBytes } }`, nil)["bucket"].(map[string]any)["usedBytes"]
}

// tried lets an upload have failed often, and be expired for longer than a day.
func (s *stack) tried(id string) {
	s.t.Helper()
	s.graphql(nil, `mutation($id: uuid!) { update_storage_uploads_by_pk(pk_columns: {id: $id}, _set: {attempts: 20}) { id } }`, map[string]any{"id": id})
	s.clock.Advance(27 * time.Hour)
}

// never refuses an operation of Hasura's without saying what came of it.
func never(operation string) faults.Rule {
	return func(r faults.Request) (faults.Fault, func()) {
		if r.Operation == operation {
			return faults.Refuse, nil
		}
		return faults.None, nil
	}
}

// givenUpBetween sweeps until no upload is open, which must be between the two
// times from now; five bytes are used then.
func (s *stack) givenUpBetween(earliest, latest time.Duration) {
	s.t.Helper()
	waited, pause := time.Duration(0), max(31*time.Minute, earliest/40)
	for ; len(s.openUploads()) > 0 && waited <= latest; waited += pause {
		s.sweep(pause)
	}
	if waited < earliest || waited > latest {
		s.t.Errorf("open for %v: %v", waited, s.openUploads())
	}
	if used := s.used(); used != 5.0 {
		s.t.Errorf("%v bytes are used", used)
	}
}

func TestAnUploadThatNeverPassesIsGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		begin            func(s *stack, as actions.Session, source string) error
		earliest, latest time.Duration
	}{
		"a new file": {func(s *stack, as actions.Session, _ string) error {
			return s.complete(as, arrived(s, as))
		}, 26 * time.Hour, 27 * time.Hour},
		"a replacement": {func(s *stack, as actions.Session, source string) error {
			return s.complete(as, s.replacing(as, actions.ReplaceFile{ID: source}, []byte("other")))
		}, 26 * time.Hour, 27 * time.Hour},
		"parts": {func(s *stack, as actions.Session, _ string) error {
			return s.complete(as, s.sent(as, s.create(as, actions.CreateUpload{Name: "a", Size: 5, Method: "MULTIPART"}), []byte("bytes")))
		}, 8 * 24 * time.Hour, 8*24*time.Hour + 5*time.Hour},
		"a copy": {func(s *stack, as actions.Session, source string) error {
			_, err := s.service.CopyFile(t.Context(), as, actions.CopyFile{ID: source})
			return err
		}, 2 * time.Hour, 6 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			owner := user()
			source := s.upload(owner, "a.txt", "text/plain", []byte("first"))
			s.hasura.Set(never("CommitUpload"))
			if err := tc.begin(s, owner, source.ID); code(err) != actions.HasuraUnavailable {
				t.Fatalf("complete: %v", err)
			}
			s.givenUpBetween(tc.earliest, tc.latest)
			s.sweep(3 * time.Hour)
			s.holds()
			s.sweep(3 * time.Hour)
			data := s.graphql(nil, `{ files { id } storage_uploads { id } storage_garbage { id } }`, nil)
			if len(rows(data["files"])) != 1 || len(rows(data["storage_uploads"])) != 0 || len(rows(data["storage_garbage"])) != 0 || len(s.keys()) != 1 {
				t.Errorf("left behind: %v %v", data, s.keys())
			}
			if got, _ := s.download(owner, source.ID); string(got) != "first" {
				t.Errorf("the other file reads %q", got)
			}
		})
	}
}

func TestACommitWinsOverGivingUp(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.tried(ticket.UploadID)
	var mended atomic.Bool
	s.hasura.Set(func(r faults.Request) (faults.Fault, func()) {
		switch {
		case r.Operation == "CommitUpload" && !mended.Load():
			return faults.Refuse, nil
		case r.Operation == "AbortUpload":
			mended.Store(true)
			if _, err := s.instance().CompleteUpload(t.Context(), owner, actions.CompleteUpload{UploadID: ticket.UploadID}); err != nil {
				t.Errorf("complete: %v", err)
			}
		}
		return faults.None, nil
	})
	if done := s.sweep(0); done.Aborted != 0 || !mended.Load() {
		t.Errorf("swept %+v", done)
	}
	s.sweep(2 * time.Minute)
	if got, code := s.download(owner, ticket.FileID); string(got) != "bytes" {
		t.Errorf("download: %q %q", got, code)
	}
	s.holds()
}

func TestWhatAnotherCompletesIsNotGivenUp(t *testing.T) {
	s := start(t)
	ticket := arrived(s, user())
	s.tried(ticket.UploadID)
	s.hasura.Set(func(r faults.Request) (faults.Fault, func()) {
		switch r.Operation {
		case "CommitUpload":
			return faults.Refuse, nil
		case "ReleaseUpload": // and another instance claims it
			return faults.None, func() {
				s.graphql(nil, `mutation($id: uuid!, $until: timestamptz!) {
					update_storage_uploads_by_pk(pk_columns: {id: $id}, _set: {leased_until: $until}, _inc: {attempts: 1}) { id }
				}`, map[string]any{"id": ticket.UploadID, "until": s.clock.Now().Add(time.Minute)})
			}
		}
		return faults.None, nil
	})
	if done := s.sweep(0); done.Aborted != 0 || len(s.openUploads()) != 1 {
		t.Errorf("swept %+v", done)
	}
}

func TestWhatCannotBeScannedIsNotGivenUp(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.tried(ticket.UploadID)
	healthy := s.service
	s.options.Antivirus = actions.Antivirus{Server: "tcp://127.0.0.1:1"} // nobody listens
	s.service = s.instance()
	if done := s.sweep(0); done.Aborted != 0 || len(s.openUploads()) != 1 {
		t.Errorf("swept %+v", done)
	}
	s.service = healthy
	if done := s.sweep(31 * time.Minute); done.Completed != 1 {
		t.Errorf("swept %+v", done)
	}
	s.holds()
}

func TestWhatTheSweepHasNoTimeForIsNotGivenUp(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := arrived(s, owner)
	s.tried(ticket.UploadID)
	ctx, cancel := context.WithCancel(t.Context())
	goOn := make(chan struct{})
	s.hasura.Set(onceAt("CommitUpload", faults.None, func() {
		cancel()
		<-goOn
	}))
	if done, _ := s.service.Sweep(ctx); done.Aborted != 0 || len(s.openUploads()) != 1 {
		t.Errorf("swept %+v", done)
	}
	close(goOn)
	if err := s.complete(owner, ticket); err != nil {
		t.Errorf("complete: %v", err)
	}
	s.sweep(2 * time.Minute)
	s.holds()
}

func TestADeletedDraftGivesItsReservationBack(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := s.create(owner, actions.CreateUpload{Name: "a", Size: 40 << 20, Method: "MULTIPART"})
	s.graphql(owner, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": ticket.FileID})
	if done := s.sweep(5 * time.Minute); done.Aborted != 0 {
		t.Errorf("closed too early: %+v", done)
	}
	if done := s.sweep(31 * time.Minute); done.Aborted != 1 || s.used() != 0.0 {
		t.Errorf("swept %+v, %v bytes are used", done, s.used())
	}
	for m, err := range s.objects.ListMultiparts(t.Context(), "files/") {
		t.Errorf("left: %v %v", m, err)
	}
	if err := s.complete(owner, ticket); code(err) != actions.UploadNotFound {
		t.Errorf("complete: %v", err)
	}
	if s.sweep(8 * 24 * time.Hour); s.uploadRow(ticket.UploadID) != nil {
		t.Error("the upload's row is still there")
	}
}

func TestAnInsertThatArrivesAfterItsUploadWasGivenUp(t *testing.T) {
	s := start(t)
	owner := user()
	s.hasura.Set(onceAt("InsertFiles", faults.Drop, nil))
	if _, err := s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "a", Size: 5}); code(err) != actions.HasuraUnavailable {
		t.Fatalf("create: %v", err)
	}
	id := s.openUploads()[0]["file_id"]
	if done := s.sweep(31 * time.Minute); done.Aborted != 1 {
		t.Fatalf("swept %+v", done)
	}
	s.graphql(owner, `mutation($id: uuid!) { insertFile(object: {id: $id, name: "a", size: 5}) { id } }`, map[string]any{"id": id})
	s.sweep(4 * time.Hour)
	data := s.graphql(nil, `{ files { id } storage_uploads { id } }`, nil)
	if len(rows(data["files"])) != 0 || len(rows(data["storage_uploads"])) != 0 {
		t.Errorf("left behind: %v", data)
	}
}
