package actions_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// film has one full part and a short one.
func film() []byte { return append(make([]byte, 16<<20), "the end"...) }

func (s *stack) filming(as actions.Session) (actions.Upload, []byte) {
	s.t.Helper()
	body := film()
	ticket := s.create(as, actions.CreateUpload{Name: "a.bin", Size: graphql.Bigint(len(body)), Method: "MULTIPART"})
	if *ticket.PartCount != 2 || len(ticket.Parts) != 2 || ticket.Parts[1].Size != 7 {
		s.t.Fatalf("the ticket is %+v", ticket)
	}
	return ticket, body
}

func (s *stack) missing(as actions.Session, ticket actions.Upload, numbers ...int) actions.Parts {
	s.t.Helper()
	parts, err := s.service.UploadParts(s.t.Context(), as, actions.ListParts{UploadID: ticket.UploadID, PartNumbers: numbers})
	if err != nil {
		s.t.Fatal(err)
	}
	return parts
}

// TestATicketThatWasNeverGivenReservesNothing: without it nobody can go on.
func TestATicketThatWasNeverGivenReservesNothing(t *testing.T) {
	s := start(t)
	s.store.Set(func(faults.Request) (faults.Fault, func()) { return faults.Refuse, nil })
	in := actions.CreateUpload{Name: "a.bin", Size: 17 << 20, Method: "MULTIPART"}
	if _, err := s.service.CreateUpload(t.Context(), user(), in); code(err) != actions.StorageUnavailable {
		t.Fatalf("got %v", err)
	}
	if open, _ := s.counted(); open != 0 {
		t.Errorf("%d uploads are open", open)
	}
	s.store.Set(nil)
	s.sweep(2 * time.Minute)
	if _, files := s.counted(); files != 0 {
		t.Errorf("%d files are left", files)
	}
}

// TestTicketsThatNobodyCanRepeatReserveNothing: the caller has no name, or not all
// of a batch's ids are his.
func TestTicketsThatNobodyCanRepeatReserveNothing(t *testing.T) {
	s := startRoles(t)
	s.options.UnauthorizedRole = "keeper"
	s.service = s.instance()
	s.store.Set(func(faults.Request) (faults.Fault, func()) { return faults.Refuse, nil })
	file := func() actions.CreateUpload {
		return actions.CreateUpload{Name: "a.bin", Size: 17 << 20, Method: "MULTIPART"}
	}
	chosen := file()
	chosen.ID = text("99999999-9999-4999-8999-999999999999")
	for role, files := range map[string][]actions.CreateUpload{"keeper": {chosen}, "user": {chosen, file()}} {
		if _, err := s.service.CreateUploads(t.Context(), in(role), actions.CreateUploads{Files: files}); code(err) != actions.StorageUnavailable {
			t.Fatalf("%s: %v", role, err)
		}
		if open, _ := s.counted(); open != 0 {
			t.Errorf("%s: %d uploads are open", role, open)
		}
		s.store.Set(nil)
		s.sweep(2 * time.Minute)
		s.store.Set(func(faults.Request) (faults.Fault, func()) { return faults.Refuse, nil })
	}
}

// TestATicketOfARepeatedCallSurvivesTheFirstOne, which waits for the store in vain.
func TestATicketOfARepeatedCallSurvivesTheFirstOne(t *testing.T) {
	s := start(t)
	owner, body := user(), film()
	id := "99999999-9999-4999-8999-999999999999"
	in := actions.CreateUpload{ID: &id, Name: "a.bin", Size: graphql.Bigint(len(body)), Method: "MULTIPART"}
	began, repeated := make(chan struct{}), make(chan struct{})
	s.store.Set(func(faults.Request) (faults.Fault, func()) {
		s.store.Set(nil)
		close(began)
		<-repeated
		s.store.Set(func(faults.Request) (faults.Fault, func()) { return faults.Refuse, nil }) // the client of the store tries again
		return faults.Refuse, nil
	})
	first := make(chan error, 1)
	go func() {
		_, err := s.service.CreateUpload(t.Context(), owner, in)
		first <- err
	}()
	<-began
	ticket := s.create(owner, in)
	close(repeated)
	if err := <-first; code(err) != actions.StorageUnavailable {
		t.Errorf("the first call: %v", err)
	}
	s.store.Set(nil)
	for i, part := range ticket.Parts {
		end := min((i+1)<<24, len(body))
		if status := put(t, part.URL, part.Headers, body[i<<24:end]); status != http.StatusOK {
			t.Errorf("part %d: %d", i+1, status)
		}
	}
	if err := s.complete(owner, ticket); err != nil {
		t.Error(err)
	}
	s.holds()
}

func TestAnAppThatWasKilledGoesOnAnotherDay(t *testing.T) {
	s := start(t)
	owner := user()
	ticket, body := s.filming(owner)
	put(t, ticket.Parts[1].URL, nil, body[16<<20:])
	s.service = s.instance()
	s.sweep(6 * 24 * time.Hour) // not yet expired
	parts := s.missing(owner, ticket)
	if len(parts.Uploaded) != 1 || parts.Uploaded[0].PartNumber != 2 || len(parts.Missing) != 1 || parts.Missing[0].PartNumber != 1 {
		t.Fatalf("parts: %+v", parts)
	}
	if until := parts.ExpiresAt.Sub(s.clock.Now()); until < 6*24*time.Hour {
		t.Errorf("the ticket lives for another %v only", until)
	}
	if err := s.complete(owner, ticket); code(err) != actions.UploadIncomplete || actions.Public(err).Details["arrived"] != 1 {
		t.Errorf("too early: %v", err)
	}
	s.sweep(6 * 24 * time.Hour)
	put(t, parts.Missing[0].URL, nil, body[:16<<20])
	if err := s.complete(owner, ticket); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.download(owner, ticket.FileID); !bytes.Equal(got, body) {
		t.Error("the film is another")
	}
	s.holds()
}

func TestAPartOfTheWrongSizeIsMissing(t *testing.T) {
	s := startWith(t, s3.Options{UnsignedLength: true}, nil)
	owner := user()
	ticket, body := s.filming(owner)
	put(t, ticket.Parts[0].URL, nil, body[:6<<20])
	put(t, ticket.Parts[1].URL, nil, body[16<<20:])
	parts := s.missing(owner, ticket)
	if len(parts.Uploaded) != 1 || len(parts.Missing) != 1 || parts.Missing[0].PartNumber != 1 || parts.Missing[0].Size != 16<<20 {
		t.Errorf("parts: %+v", parts)
	}
	if err := s.complete(owner, ticket); code(err) != actions.UploadIncomplete {
		t.Errorf("complete: %v", err)
	}
	if asked := s.missing(owner, ticket, 2); len(asked.Missing) != 1 || asked.Missing[0].PartNumber != 2 {
		t.Errorf("what was asked for is not signed: %+v", asked)
	}
	if _, err := s.service.UploadParts(t.Context(), owner, actions.ListParts{UploadID: ticket.UploadID, PartNumbers: []int{3}}); code(err) != actions.BadRequest {
		t.Errorf("a part beyond the last: %v", err)
	}
}

func TestASignedLengthIsHeldToByTheStore(t *testing.T) {
	s := start(t)
	ticket, body := s.filming(user())
	if status := put(t, ticket.Parts[1].URL, nil, body[:6<<20]); status == http.StatusOK {
		t.Error("the store took a part of another length")
	}
}

func TestNamedPartsMustBeThose(t *testing.T) {
	s := start(t)
	owner := user()
	body := []byte("short")
	ticket := s.sent(owner, s.create(owner, actions.CreateUpload{Name: "a", Size: 5, Method: "MULTIPART"}), body)
	_, err := s.service.CompleteUpload(t.Context(), owner, actions.CompleteUpload{UploadID: ticket.UploadID, Parts: []actions.UploadedPart{{PartNumber: 1, ETag: "other"}}})
	if code(err) != actions.UploadIncomplete {
		t.Errorf("another ETag: %v", err)
	}
	etag := s.missing(owner, ticket).Uploaded[0].ETag
	if _, err := s.service.CompleteUpload(t.Context(), owner, actions.CompleteUpload{UploadID: ticket.UploadID, Parts: []actions.UploadedPart{{PartNumber: 1, ETag: etag}}}); err != nil {
		t.Errorf("its own: %v", err)
	}
}

func TestACrashAfterThePartsWereJoinedIsRecovered(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := s.sent(owner, s.create(owner, actions.CreateUpload{Name: "a", Size: 5, Method: "MULTIPART"}), []byte("short"))
	s.hasura.Set(onceAt("CommitUpload", faults.Refuse, nil))
	if err := s.complete(owner, ticket); code(err) != actions.HasuraUnavailable {
		t.Fatalf("complete: %v", err)
	}
	s.service = s.instance()
	if done := s.sweep(2 * time.Minute); done.Completed != 1 {
		t.Errorf("the sweep completed %d", done.Completed)
	}
	if err := s.complete(owner, ticket); err != nil {
		t.Error(err)
	}
	s.holds()
}

func TestAnUploadThatTheStoreKnowsNoMore(t *testing.T) {
	for name, tc := range map[string]struct {
		joined bool // and the answer was lost
		want   actions.Code
	}{
		"since its parts were joined": {true, ""},
		"since it was aborted":        {false, actions.UploadIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			owner := user()
			ticket := s.sent(owner, s.create(owner, actions.CreateUpload{Name: "a", Size: 5, Method: "MULTIPART"}), []byte("short"))
			s.store.Set(s.atJoin(ticket, tc.joined))
			if err := s.complete(owner, ticket); code(err) != tc.want {
				t.Errorf("complete: %v, want %q", err, tc.want)
			}
			if got, _ := s.download(owner, ticket.FileID); tc.joined && string(got) != "short" {
				t.Errorf("the file is %q", got)
			}
			s.sweep(2 * time.Minute)
			s.holds()
		})
	}
}

// atJoin lets the store forget a ticket's parts right before they are joined or, if
// joined is set, lets it join them and loses the answer. The local server would
// answer the second request from the object, others know the upload no more: while
// it is asked, the object is elsewhere.
func (s *stack) atJoin(ticket actions.Upload, joined bool) faults.Rule {
	key, _ := s.uploadRow(ticket.UploadID)["object_key"].(string)
	move := func(from, to string) {
		if _, err := s.objects.Copy(s.t.Context(), from, to, s3.CopyOptions{}); err != nil {
			s.t.Error(err)
		}
		if err := s.objects.Delete(s.t.Context(), from); err != nil {
			s.t.Error(err)
		}
	}
	asked := 0
	return func(r faults.Request) (faults.Fault, func()) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.Path, key) {
			return faults.None, nil
		}
		switch asked++; {
		case !joined:
			if err := s.objects.AbortMultiparts(s.t.Context(), key); err != nil {
				s.t.Error(err)
			}
		case asked == 1:
			return faults.Cut, nil
		default:
			move(key, "aside")
			return faults.None, func() { move("aside", key) }
		}
		return faults.None, nil
	}
}

func TestPartsOfAnAbortedUploadAreGone(t *testing.T) {
	s := start(t)
	owner := user()
	ticket := s.sent(owner, s.create(owner, actions.CreateUpload{Name: "a", Size: 5, Method: "MULTIPART"}), []byte("short"))
	if done, err := s.service.AbortUpload(t.Context(), owner, actions.AbortUpload{UploadID: ticket.UploadID}); err != nil || !done.Aborted {
		t.Fatal(err)
	}
	for m, err := range s.objects.ListMultiparts(t.Context(), "files/") {
		t.Errorf("left: %v %v", m, err)
	}
	if status := put(t, ticket.Parts[0].URL, nil, []byte("short")); status == http.StatusOK {
		t.Error("the part's URL still writes")
	}
	if s.fileRow(ticket.FileID) != nil {
		t.Error("the row is left")
	}
}
