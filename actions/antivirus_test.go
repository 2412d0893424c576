package actions_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/clamd/clamdtest"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/graphql"
)

// scanned starts a stack whose files a real clamd scans, up to 1 MiB.
func scanned(t *testing.T, rules actions.Antivirus) *stack {
	t.Helper()
	if rules.Server == "" {
		rules.Server = clamdtest.Start(t, 2<<20)
	}
	rules.MaxSize = 1 << 20
	s := start(t)
	s.options.Antivirus = rules
	s.service = s.instance()
	return s
}

// viruses returns what was recorded.
func (s *stack) viruses() []map[string]any {
	s.t.Helper()
	return rows(s.graphql(nil, `{ viruses(order_by: {createdAt: asc}) { fileId filename virus userSession } }`, nil)["viruses"])
}

// sent returns a ticket whose bytes have arrived.
func (s *stack) sent(as actions.Session, ticket actions.Upload, body []byte) actions.Upload {
	s.t.Helper()
	if ticket.URL != nil {
		if status := put(s.t, *ticket.URL, ticket.Headers, body); status != http.StatusOK {
			s.t.Fatalf("PUT: %d", status)
		}
	}
	for _, part := range ticket.Parts {
		from := int64(part.PartNumber-1) * *ticket.PartSize
		if status := put(s.t, part.URL, part.Headers, body[from:from+part.Size]); status != http.StatusOK {
			s.t.Fatalf("PUT of part %d: %d", part.PartNumber, status)
		}
	}
	return ticket
}

func TestAVirusNeverBecomesAFile(t *testing.T) {
	s := scanned(t, actions.Antivirus{})
	owner := user()
	eicar := clamdtest.Eicar()
	size := graphql.Bigint(len(eicar))
	former := s.upload(owner, "good.txt", "text/plain", []byte("harmless"))
	for name, open := range map[string]func() (actions.Upload, error){
		"by PUT": func() (actions.Upload, error) {
			return s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "bad.txt", Size: size})
		},
		"in parts": func() (actions.Upload, error) {
			return s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "bad.txt", Size: size, Method: "MULTIPART"})
		},
		"as a new version": func() (actions.Upload, error) {
			return s.service.ReplaceFile(t.Context(), owner, actions.ReplaceFile{ID: former.ID, Size: size})
		},
	} {
		t.Run(name, func(t *testing.T) {
			ticket, err := open()
			if err != nil {
				t.Fatal(err)
			}
			err = s.complete(owner, s.sent(owner, ticket, eicar))
			if e := actions.Public(err); code(err) != actions.VirusFound || e.Details["virus"] != clamdtest.Virus {
				t.Fatalf("complete: %v", err)
			}
			found := s.viruses()
			last := found[len(found)-1]
			session, _ := last["userSession"].(map[string]any)
			if last["virus"] != clamdtest.Virus || session["x-hasura-user-id"] != owner["x-hasura-user-id"] {
				t.Errorf("recorded: %v", last)
			}
			if row := s.uploadRow(ticket.UploadID); row["state"] != "aborted" {
				t.Errorf("the upload is %v", row)
			}
			if code(s.complete(owner, ticket)) != actions.UploadNotFound {
				t.Error("the ticket is still good")
			}
			s.holds()
		})
	}
	for _, record := range s.viruses() {
		want := any(nil) // the row of a new file goes with its upload
		if record["filename"] == "good.txt" {
			want = former.ID
		}
		if record["fileId"] != want {
			t.Errorf("the record of %v names %v", record["filename"], record["fileId"])
		}
	}
	if got, _ := s.download(owner, former.ID); string(got) != "harmless" {
		t.Errorf("the version before is %q", got)
	}
	s.sweep(8 * 24 * time.Hour)
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestAVirusByREST(t *testing.T) {
	s := scanned(t, actions.Antivirus{})
	owner := user()
	done, err := s.service.UploadFiles(t.Context(), sentBy(owner), &parts{{"file[]", "bad.txt", clamdtest.Eicar()}})
	if len(done) != 0 || code(err) != actions.VirusFound || actions.Public(err).Details["file"] != "bad.txt" {
		t.Fatalf("upload: %v, %v", done, err)
	}
	good, err := s.service.UploadFiles(t.Context(), sentBy(owner), &parts{{"file[]", "good.txt", []byte("harmless")}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.service.PutFile(t.Context(), sentBy(owner), good[0].ID, nil, &parts{{"file", "worse.txt", clamdtest.Eicar()}})
	if code(err) != actions.VirusFound {
		t.Fatalf("replace: %v", err)
	}
	found := s.viruses()
	if len(found) != 2 || found[0]["filename"] != "bad.txt" || found[0]["fileId"] != nil || found[1]["filename"] != "worse.txt" || found[1]["fileId"] != good[0].ID {
		t.Errorf("recorded: %v", found)
	}
	s.holds()
	s.graphql(nil, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": good[0].ID})
	if found := s.viruses(); len(found) != 2 || found[1]["fileId"] != nil {
		t.Errorf("after the file: %v", found)
	}
	s.sweep(4 * time.Hour)
	if keys := s.keys(); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
}

// sentBy are the headers of a request that Hasura takes for the session's.
func sentBy(as actions.Session) actions.Headers {
	headers := actions.Headers{"X-Hasura-Admin-Secret": {adminSecret}}
	for name, value := range as {
		headers[http.CanonicalHeaderKey(name)] = []string{value}
	}
	return headers
}

// parts is a form of files.
type parts []struct {
	field, name string
	body        []byte
}

func (p *parts) Length() int64 { return -1 }

func (p *parts) Next() (actions.FormPart, error) {
	if len(*p) == 0 {
		return actions.FormPart{}, io.EOF
	}
	next := (*p)[0]
	*p = (*p)[1:]
	return actions.FormPart{Field: next.field, FileName: next.name, Body: bytes.NewReader(next.body)}, nil
}

func TestWithoutTheScannerUploadsWait(t *testing.T) {
	s := scanned(t, actions.Antivirus{Server: "tcp://127.0.0.1:1"})
	owner := user()
	ticket := arrived(s, owner)
	if got := code(s.complete(owner, ticket)); got != actions.Busy {
		t.Fatalf("complete: %q", got)
	}
	if row := s.uploadRow(ticket.UploadID); row["state"] != "open" {
		t.Errorf("the upload is %v", row)
	}
	s.options.Antivirus.Server = clamdtest.Start(t, 2<<20)
	s.service = s.instance()
	if done := s.sweep(2 * time.Minute); done.Completed != 1 {
		t.Errorf("the sweep completed %d", done.Completed)
	}
	s.holds()
}

func TestTheLogSaysWhyNothingIsScanned(t *testing.T) {
	s := scanned(t, actions.Antivirus{Server: "tcp://127.0.0.1:1"})
	core, logs := observer.New(zap.WarnLevel)
	s.options.Log = zap.New(core)
	s.service = s.instance()
	owner := user()
	for name, upload := range map[string]func() error{
		"by PUT": func() error { return s.complete(owner, arrived(s, owner)) },
		"by REST": func() error {
			_, err := s.service.UploadFiles(t.Context(), sentBy(owner), &parts{{"file[]", "a.txt", []byte("bytes")}})
			return err
		},
	} {
		if err := upload(); code(err) != actions.Busy {
			t.Errorf("%s: %v", name, err)
		}
		said := logs.TakeAll()
		if len(said) != 1 || said[0].ContextMap()["clamd"] != "tcp://127.0.0.1:1" || !strings.Contains(fmt.Sprint(said[0].ContextMap()["error"]), "refused") {
			t.Errorf("%s: the log says %v", name, said)
		}
		if strings.Contains(fmt.Sprint(said), "a.txt") {
			t.Errorf("%s: the log names the file: %v", name, said)
		}
	}
}

func TestUnscannedFilesAreTakenWhereTheSettingSaysSo(t *testing.T) {
	s := scanned(t, actions.Antivirus{Server: "tcp://127.0.0.1:1", AcceptUnscanned: true})
	owner := user()
	if err := s.complete(owner, arrived(s, owner)); err != nil {
		t.Fatal(err)
	}
}

func TestFilesThatAreTooLargeToScan(t *testing.T) {
	large := bytes.Repeat([]byte("text"), 1<<18+1)
	in := actions.CreateUpload{Name: "large.txt", Size: graphql.Bigint(len(large))}
	refusing := scanned(t, actions.Antivirus{Server: "tcp://127.0.0.1:1"})
	_, err := refusing.service.CreateUpload(t.Context(), user(), in)
	if e := actions.Public(err); code(err) != actions.FileTooBig || e.Details["maxSize"] != int64(1<<20) {
		t.Errorf("create: %v", err)
	}
	if seen := refusing.store.Seen(); slices.ContainsFunc(seen, func(r faults.Request) bool { return r.Method == http.MethodPut }) {
		t.Error("something was stored")
	}
	skipping := scanned(t, actions.Antivirus{Server: "tcp://127.0.0.1:1", SkipLarge: true})
	owner := user()
	if err := skipping.complete(owner, skipping.sent(owner, skipping.create(owner, in), large)); err != nil {
		t.Errorf("with SkipLarge: %v", err)
	}
}

func TestAVirusIsRecordedOnceWhateverIsLost(t *testing.T) {
	server := clamdtest.Start(t, 2<<20)
	for name, tc := range map[string]struct {
		fault faults.Fault
		what  func(*stack, actions.Upload)
	}{
		"the request is lost": {faults.Drop, nil},
		"the answer is lost":  {faults.Cut, nil},
		"a gateway answers":   {faults.Page, nil},
		"it is sent twice":    {faults.Double, nil},
		"the file is deleted now": {faults.None, func(s *stack, u actions.Upload) {
			s.graphql(nil, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": u.FileID})
		}},
		"the upload is aborted now": {faults.None, func(s *stack, u actions.Upload) {
			if _, err := s.instance().AbortUpload(s.t.Context(), user(), actions.AbortUpload{UploadID: u.UploadID}); err != nil {
				s.t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scanned(t, actions.Antivirus{Server: server})
			owner, eicar := user(), clamdtest.Eicar()
			ticket := s.sent(owner, s.create(owner, actions.CreateUpload{Name: "bad.txt", Size: graphql.Bigint(len(eicar))}), eicar)
			s.hasura.Set(onceAt("CloseInfected", tc.fault, func() {
				if tc.what != nil {
					tc.what(s, ticket)
				}
			}))
			if err := s.complete(owner, ticket); code(err) != actions.VirusFound {
				t.Errorf("complete: %v", err)
			}
			s.sweep(2 * time.Minute)
			s.sweep(4 * time.Hour)
			if found := s.viruses(); len(found) != 1 || found[0]["fileId"] != nil {
				t.Errorf("recorded: %v", found)
			}
			if uploads, files := s.counted(); uploads != 0 || files != 0 || len(s.keys()) != 0 {
				t.Errorf("left: %d uploads, %d files, %v", uploads, files, s.keys())
			}
		})
	}
}

func TestTheScannerIsTriedOut(t *testing.T) {
	for server, works := range map[string]bool{"": true, clamdtest.Start(t, 2<<20): true, "tcp://127.0.0.1:1": false, "clamd": false} {
		if err := (actions.Antivirus{Server: server}).Try(t.Context()); (err == nil) != works {
			t.Errorf("%q: %v", server, err)
		}
	}
}
