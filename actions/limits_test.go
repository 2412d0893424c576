package actions_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// batch is n files of five bytes.
func batch(n int) actions.CreateUploads {
	var in actions.CreateUploads
	for i := range n {
		in.Files = append(in.Files, actions.CreateUpload{Name: fmt.Sprintf("%d.txt", i), Size: 5})
	}
	return in
}

// counted counts uploads and files.
func (s *stack) counted() (uploads, files int) {
	s.t.Helper()
	data := s.graphql(nil, `{ storage_uploads(where: {state: {_eq: "open"}}) { id } files { id } }`, nil)
	return len(rows(data["storage_uploads"])), len(rows(data["files"]))
}

func TestABatchIsReservedWholeOrNotAtAll(t *testing.T) {
	s := start(t)
	s.bucketIs(map[string]any{"maxUploadFileSize": 10})
	owner := user()
	for name, tc := range map[string]struct {
		change func(*actions.CreateUploads)
		want   actions.Code
		index  any
	}{
		"one that is too big where a preset decides": {func(in *actions.CreateUploads) { in.Files[2].Size = 11 }, actions.FileTooBig, 2},
		"one that is too big for its bucket":         {func(in *actions.CreateUploads) { in.Files[1].Size, in.Files[1].BucketID = 11, text("default") }, actions.FileTooBig, 1},
		"one without a name":                         {func(in *actions.CreateUploads) { in.Files[0].Name = "" }, actions.BadRequest, 0},
		"one twice":                                  {func(in *actions.CreateUploads) { in.Files[1].ID, in.Files[2].ID = &batchID, &batchID }, actions.Conflict, nil},
		"none":                                       {func(in *actions.CreateUploads) { in.Files = nil }, actions.BadRequest, nil},
		"too many":                                   {func(in *actions.CreateUploads) { *in = batch(101) }, actions.BadRequest, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := batch(4)
			tc.change(&in)
			_, err := s.service.CreateUploads(t.Context(), owner, in)
			if e := actions.Public(err); code(err) != tc.want || e.Details["index"] != tc.index {
				t.Errorf("got %v, %v", err, e.Details)
			}
			if uploads, files := s.counted(); uploads != 0 || files != 0 {
				t.Errorf("left: %d uploads, %d files", uploads, files)
			}
		})
	}
	s.hasura.Seen()
	tickets, err := s.service.CreateUploads(t.Context(), owner, batch(100))
	if err != nil || len(tickets) != 100 {
		t.Fatalf("%d tickets, %v", len(tickets), err)
	}
	inserts := 0
	for _, r := range s.hasura.Seen() {
		if r.Operation == "InsertFiles" {
			inserts++
		}
	}
	if inserts != 1 {
		t.Errorf("the files were inserted by %d mutations", inserts)
	}
}

var batchID = "99999999-9999-4999-8999-999999999999"

func TestOpenUploadsAreLimited(t *testing.T) {
	s := start(t)
	s.options.MaxOpenUploads = 110
	s.service = s.instance()
	owner := user()
	if _, err := s.service.CreateUploads(t.Context(), owner, batch(99)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.service.CreateUploads(t.Context(), owner, batch(2)); code(err) != actions.Busy {
		t.Errorf("101 of one session: %v", err)
	}
	last := s.create(owner, actions.CreateUpload{Name: "a", Size: 5})
	if _, err := s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "a", Size: 5}); code(err) != actions.Busy {
		t.Errorf("the next one: %v", err)
	}
	if _, err := s.service.CreateUploads(t.Context(), user(), batch(11)); code(err) != actions.Busy {
		t.Errorf("111 of all: %v", err)
	}
	if _, err := s.service.CreateUploads(t.Context(), user(), batch(10)); err != nil {
		t.Errorf("110 of all: %v", err)
	}
	if _, err := s.service.AbortUpload(t.Context(), owner, actions.AbortUpload{UploadID: last.UploadID}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "a", Size: 5}); err != nil {
		t.Errorf("after one was aborted: %v", err)
	}
}

func TestStrangersAreOneSession(t *testing.T) {
	s := startRoles(t)
	s.options.UnauthorizedRole = "dropper"
	s.service = s.instance()
	for i, size := range []int{60, 40} {
		in := batch(size)
		if _, err := s.service.CreateUploads(t.Context(), inRole(i), in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.service.CreateUpload(t.Context(), inRole(3), actions.CreateUpload{Name: "a", Size: 5}); code(err) != actions.Busy {
		t.Errorf("one more: %v", err)
	}
}

// TestStrangersGetNoTicketsOfEachOther: a stranger may know what another has
// asked for, and no variable tells the two apart.
func TestStrangersGetNoTicketsOfEachOther(t *testing.T) {
	s := startRoles(t)
	id := "99999999-9999-4999-8999-999999999999"
	in := actions.CreateUpload{ID: &id, Name: "a", Size: 5}
	known := s.create(inRole(0), in)
	if again := s.create(inRole(0), in); again.UploadID != known.UploadID {
		t.Errorf("of a role with variables: %s, then %s", known.UploadID, again.UploadID)
	}
	s.options.UnauthorizedRole = "dropper"
	s.service = s.instance()
	*in.ID = "88888888-8888-4888-8888-888888888888"
	s.create(inRole(0), in)
	if ticket, err := s.service.CreateUpload(t.Context(), inRole(0), in); code(err) != actions.AlreadyExists {
		t.Errorf("of the unauthorized role: %+v, %v", ticket, err)
	}
}

// TestReplacementsAndCopiesAreCountedToo, however many come at once.
func TestReplacementsAndCopiesAreCountedToo(t *testing.T) {
	s := start(t)
	owner := user()
	f := s.upload(owner, "a", "text/plain", []byte("bytes"))
	for _, n := range []int{90, 8} {
		if _, err := s.service.CreateUploads(t.Context(), owner, batch(n)); err != nil {
			t.Fatal(err)
		}
	}
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			_, err := s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: f.ID, Size: 5})
			if c := code(err); c != "" && c != actions.Busy {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if open, _ := s.counted(); open > 100 {
		t.Errorf("%d uploads are open", open)
	}
	for range 2 { // those that were refused have taken each other's room at worst
		_, _ = s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: f.ID, Size: 5})
	}
	if open, _ := s.counted(); open != 100 {
		t.Errorf("%d uploads are open", open)
	}
	if _, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: f.ID}); code(err) != actions.Busy {
		t.Errorf("a copy: %v", err)
	}
	if open, files := s.counted(); open != 100 || files != 99 {
		t.Errorf("afterwards %d uploads are open, for %d files", open, files)
	}
}

// TestAnUploadThatCouldNotBeCountedIsTakenBack: nobody has its ticket.
func TestAnUploadThatCouldNotBeCountedIsTakenBack(t *testing.T) {
	s := start(t)
	owner := user()
	f := s.upload(owner, "a", "text/plain", []byte("bytes"))
	for _, operation := range []string{"CountOpenUploads", "AdoptMultipart"} {
		s.hasura.Set(onceAt(operation, faults.Refuse, nil))
		_, err := s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: f.ID, Size: 40 << 20, Method: "MULTIPART"})
		if code(err) != actions.HasuraUnavailable {
			t.Errorf("%s: %v", operation, err)
		}
		if open, _ := s.counted(); open != 0 {
			t.Errorf("%s: %d uploads are open", operation, open)
		}
	}
}

// inRole is a stranger who calls himself by another name each time.
func inRole(n int) actions.Session {
	return actions.Session{"x-hasura-role": "dropper", "x-hasura-user-id": fmt.Sprint(n)}
}

func TestAQuotaIsExactHoweverManyCome(t *testing.T) {
	s := start(t)
	s.bucketIs(map[string]any{"quotaBytes": 50})
	used := func() any {
		return s.graphql(nil, `{ bucket(id: "default") { usedBytes } }`, nil)["bucket"].(map[string]any)["usedBytes"]
	}
	var taken sync.Map
	var refused atomic.Int32
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			as := user()
			ticket, err := s.service.CreateUpload(t.Context(), as, actions.CreateUpload{Name: "a.txt", Size: 5, MimeType: text("text/plain")})
			switch code(err) {
			case "":
				taken.Store(ticket.UploadID, as)
				s.sent(as, ticket, []byte("bytes"))
			case actions.QuotaExceeded:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if refused.Load() != 6 || used() != 50.0 {
		t.Fatalf("%d were refused, %v bytes are used", refused.Load(), used())
	}
	first := true
	taken.Range(func(id, as any) bool {
		var err error
		if first {
			_, err = s.service.AbortUpload(t.Context(), as.(actions.Session), actions.AbortUpload{UploadID: id.(string)})
		} else {
			_, err = s.service.CompleteUpload(t.Context(), as.(actions.Session), actions.CompleteUpload{UploadID: id.(string)})
		}
		if err != nil {
			t.Error(err)
		}
		first = false
		return true
	})
	if used() != 45.0 {
		t.Errorf("%v bytes are used", used())
	}
	if uploads, files := s.counted(); uploads != 0 || files != 9 {
		t.Errorf("%d uploads, %d files", uploads, files)
	}
}

func TestAReplacementNeedsRoomForBothVersions(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	s.bucketIs(map[string]any{"quotaBytes": 9})
	if _, err := s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: file.ID, Size: 5}); code(err) != actions.QuotaExceeded {
		t.Errorf("got %v", err)
	}
	if err := s.complete(owner, s.replacing(owner, actions.ReplaceFile{ID: file.ID}, []byte("four"))); err != nil {
		t.Error(err)
	}
}

func TestAFileEndsWithItsTime(t *testing.T) {
	s := start(t)
	owner := user()
	at := s.clock.Now().Add(time.Hour)
	ticket := s.create(owner, actions.CreateUpload{Name: "a.txt", Size: 5, ExpiresAt: &at})
	if err := s.complete(owner, s.sent(owner, ticket, []byte("bytes"))); err != nil {
		t.Fatal(err)
	}
	later := s.upload(owner, "b.txt", "text/plain", []byte("other"))
	s.graphql(owner, `mutation($id: uuid!, $at: timestamptz!) { updateFile(pk_columns: {id: $id}, _set: {expiresAt: $at}) { id } }`,
		map[string]any{"id": later.ID, "at": at.Add(time.Hour)})
	if got, _ := s.download(owner, ticket.FileID); string(got) != "bytes" {
		t.Errorf("before: %q", got)
	}
	s.clock.Advance(time.Hour)
	if _, got := s.download(owner, ticket.FileID); got != actions.FileNotFound {
		t.Errorf("from that moment: %q", got)
	}
	if _, err := s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: ticket.FileID, Size: 5}); code(err) != actions.FileNotFound {
		t.Errorf("a replacement: %v", err)
	}
	if done := s.sweep(2 * time.Minute); done.Expired != 1 || s.fileRow(ticket.FileID) != nil || s.fileRow(later.ID) == nil {
		t.Errorf("swept %+v", done)
	}
	s.sweep(4 * time.Hour)
	if keys := s.keys(); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
	past := s.clock.Now().Add(-time.Second)
	if _, err := s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "a", Size: 5, ExpiresAt: &past}); code(err) != actions.BadRequest {
		t.Errorf("a time that has passed: %v", err)
	}
}

// TestWhatMobileClientsReallySend, by known faults of their libraries. The store
// takes any length, as behind proxies that chunk.
func TestWhatMobileClientsReallySend(t *testing.T) {
	s := startWith(t, s3.Options{UnsignedLength: true}, nil)
	owner := user()
	photo := string(photo(t, "one_pixel.png"))
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n" + photo + "\r\n--b--\r\n"
	blob := `{"_data":{"size":70,"offset":0,"blobId":"A1B2","type":"image/png","name":"a.png"}}`
	for name, tc := range map[string]struct {
		declared int
		body     string
		want     actions.Code
	}{
		"an empty body":                            {len(photo), "", actions.SizeMismatch},
		"the description of a blob":                {len(photo), blob, actions.SizeMismatch},
		"the description, and its size":            {len(blob), blob, actions.MimeTypeNotAllowed},
		"a form around the photo":                  {len(photo), form, actions.SizeMismatch},
		"a form around the photo, and its size":    {len(form), form, actions.MimeTypeNotAllowed},
		"half of the photo":                        {len(photo), photo[:len(photo)/2], actions.SizeMismatch},
		"the photo in Base64":                      {8, "iVBORw0K", actions.MimeTypeNotAllowed},
		"the photo, its type being that of a form": {len(photo), photo, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ticket := s.create(owner, actions.CreateUpload{Name: "IMG 0001 ä.png", Size: graphql.Bigint(tc.declared), MimeType: text("image/png")})
			put(t, *ticket.URL, append(ticket.Headers, actions.Header{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}), []byte(tc.body))
			err := s.complete(owner, ticket)
			if code(err) != tc.want {
				t.Fatalf("got %v", err)
			}
			if tc.want != "" && (s.fileRow(ticket.FileID) != nil || len(s.keys()) > 0) {
				t.Errorf("left behind: %v", s.keys())
			}
			if tc.want == actions.SizeMismatch && actions.Public(err).Details["arrived"] != int64(len(tc.body)) {
				t.Errorf("the error tells %v", actions.Public(err).Details)
			}
			if tc.want != "" {
				return
			}
			if row := s.fileRow(ticket.FileID); row["mimeType"] != "image/png" || row["name"] != "IMG 0001 ä.png" {
				t.Errorf("the row is %v", row)
			}
			link, _ := s.service.Download(t.Context(), owner, actions.GetDownload{ID: ticket.FileID})
			if _, _, header := get(t, link.URL); header.Get("Content-Type") != "image/png" || !strings.Contains(header.Get("Content-Disposition"), "%C3%A4") {
				t.Errorf("served as %v", header)
			}
			s.graphql(owner, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": ticket.FileID})
			s.sweep(4 * time.Hour)
		})
	}
}

func TestAnUploadsLinkHasALifeOfItsOwn(t *testing.T) {
	s := start(t)
	s.bucketIs(map[string]any{"downloadExpiration": 30})
	ticket := s.create(user(), actions.CreateUpload{Name: "a", Size: 5})
	if !strings.Contains(*ticket.URL, "X-Amz-Expires=3600") {
		t.Errorf("the URL is %s", *ticket.URL)
	}
	s.bucketIs(map[string]any{"uploadExpiration": 7200})
	ticket = s.create(user(), actions.CreateUpload{Name: "a", Size: 5})
	if !strings.Contains(*ticket.URL, "X-Amz-Expires=7200") {
		t.Errorf("the URL is %s", *ticket.URL)
	}
}

// TestNamesOfRows: a rename never passes the service, so the database holds it to the limits.
func TestNamesOfRows(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("hello"))
	rename := func(to any) string {
		_, failure := s.ask(owner, `mutation($id: uuid!, $name: String) { updateFile(pk_columns: {id: $id}, _set: {name: $name}) { id } }`,
			map[string]any{"id": file.ID, "name": to})
		return failure
	}
	for name, want := range map[string]string{
		strings.Repeat("x", 1025): "name has 1025 bytes, it must have 1 to 1024", "": "name has 0 bytes", strings.Repeat("ü", 512): "",
	} {
		if got := rename(name); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("renamed to %d bytes: %q, want %q", len(name), got, want)
		}
	}
	if failure := rename(nil); failure != "" {
		t.Fatal(failure)
	}
	copied, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: file.ID})
	if err != nil {
		t.Fatalf("a copy of a file without a name: %v", err)
	}
	if row := s.fileRow(copied.ID); row["name"] != nil {
		t.Errorf("the copy is %v", row)
	}
}
