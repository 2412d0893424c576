package actions_test

import (
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.yaml.in/yaml/v3"

	"hasura-storage/actions"
	"hasura-storage/graphql"
	metadata "hasura-storage/hasura-metadata"
	"hasura-storage/s3"
)

// roles are added to the starter's, as a project might.
const roles = `
insert_permissions:
  - role: photographer
    permission: {check: {mime_type: {_like: "image/%"}}, set: {uploaded_by_user_id: x-hasura-user-id}, columns: [id, bucket_id, name, size, mime_type]}
  - role: dropper
    permission: {check: {}, set: {bucket_id: inbox}, columns: [id, name, size, mime_type]}
  - role: keeper
    permission: {check: {}, columns: [id, name, size]}
  - role: finder
    permission: {check: {}, columns: [id, name, size]}
  - role: machine
    permission: {backend_only: true, check: {}, columns: [id, name, size, mime_type]}
select_permissions:
  - role: reader
    permission: {columns: [id, name], filter: {}}
  - role: namer
    permission: {columns: [id], filter: {}}
  - role: labeller
    permission: {columns: [id], filter: {}}
  - role: keeper
    permission: {columns: [id], filter: {}}
  - role: finder
    permission: {columns: [id], filter: {is_uploaded: {_eq: true}}}
update_permissions:
  - role: namer
    permission: {columns: [name], filter: {}, check: null}
  - role: labeller
    permission: {columns: [metadata], filter: {}, check: null}
  - role: keeper
    permission: {columns: [name], filter: {}, check: null}
`

const inherited = `
- role_name: editor
  role_set: [photographer, namer]
`

// project is the starter's with these roles.
func project(t testing.TB) fs.FS {
	t.Helper()
	starter, err := metadata.WithStarter()
	if err != nil {
		t.Fatal(err)
	}
	edited := fstest.MapFS{}
	err = fs.WalkDir(starter, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(starter, name)
		edited[name] = &fstest.MapFile{Data: content}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const table = "metadata/databases/default/tables/storage_files.yaml"
	edited[table].Data = withRoles(t, edited[table].Data)
	edited["metadata/inherited_roles.yaml"] = &fstest.MapFile{Data: []byte(inherited)}
	return edited
}

func withRoles(t testing.TB, table []byte) []byte {
	t.Helper()
	var into, more map[string]any
	if err := yaml.Unmarshal(table, &into); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(roles), &more); err != nil {
		t.Fatal(err)
	}
	for kind, list := range more {
		into[kind] = append(into[kind].([]any), list.([]any)...)
	}
	out, err := yaml.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// startRoles brings up a stack with the roles and a bucket "inbox" for files of
// at most ten bytes.
func startRoles(t *testing.T) *stack {
	s := startWith(t, s3.Options{}, project(t))
	s.graphql(nil, `mutation { insertBucket(object: {id: "inbox", maxUploadFileSize: 10}) { id } }`, nil)
	return s
}

// in returns the session of a new user in a role.
func in(role string) actions.Session {
	as := user()
	as["x-hasura-role"] = role
	return as
}

func text(value string) *string { return &value }

func TestWhoMayOpenAnUpload(t *testing.T) {
	s := startRoles(t)
	for name, tc := range map[string]struct {
		role string
		in   actions.CreateUpload
		want actions.Code
		says string
	}{
		"a check on the type that passes":            {"photographer", actions.CreateUpload{Name: "a.png", Size: 5, MimeType: text("image/png")}, "", ""},
		"a check on the type that does not":          {"photographer", actions.CreateUpload{Name: "a.txt", Size: 5, MimeType: text("text/plain")}, actions.NotAllowed, ""},
		"a check on the type that is not given":      {"photographer", actions.CreateUpload{Name: "a.png", Size: 5}, actions.NotAllowed, ""},
		"a column that the role lacks, by its name":  {"photographer", actions.CreateUpload{Name: "a.png", Size: 5, MimeType: text("image/png"), Metadata: []byte(`{}`)}, actions.NotAllowed, "metadata"},
		"a bucket that a preset chooses":             {"dropper", actions.CreateUpload{Name: "a", Size: 10}, "", ""},
		"the rules of the bucket that it chooses":    {"dropper", actions.CreateUpload{Name: "a", Size: 11}, actions.FileTooBig, "inbox"},
		"a bucket named where the preset chooses":    {"dropper", actions.CreateUpload{BucketID: text("default"), Name: "a", Size: 5}, actions.NotAllowed, "bucketId"},
		"a permission for back ends alone":           {"machine", actions.CreateUpload{Name: "a", Size: 5}, actions.NotAllowed, ""},
		"an inherited role":                          {"editor", actions.CreateUpload{Name: "a.png", Size: 5, MimeType: text("image/png")}, "", ""},
		"an inherited role and its check":            {"editor", actions.CreateUpload{Name: "a.txt", Size: 5, MimeType: text("text/plain")}, actions.NotAllowed, ""},
		"a role that may only look":                  {"reader", actions.CreateUpload{Name: "a", Size: 5}, actions.NotAllowed, ""},
		"a role that nobody knows":                   {"nobody", actions.CreateUpload{Name: "a", Size: 5}, actions.NotAllowed, ""},
		"a bucket that does not exist":               {"photographer", actions.CreateUpload{BucketID: text("nowhere"), Name: "a", Size: 5, MimeType: text("image/png")}, actions.BucketNotFound, ""},
		"more bytes than the named bucket takes":     {"photographer", actions.CreateUpload{BucketID: text("inbox"), Name: "a", Size: 11, MimeType: text("image/png")}, actions.FileTooBig, "inbox"},
		"a date of expiry that the role may not set": {"photographer", actions.CreateUpload{Name: "a.png", Size: 5, MimeType: text("image/png"), ExpiresAt: ahead(s)}, actions.NotAllowed, "expiresAt"},
	} {
		t.Run(name, func(t *testing.T) {
			s.store.Seen()
			ticket, err := s.service.CreateUpload(t.Context(), in(tc.role), tc.in)
			if code(err) != tc.want {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				return
			}
			if !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v does not name %s", err, tc.says)
			}
			if ticket.UploadID != "" || len(s.store.Seen()) > 0 && tc.says != "inbox" {
				t.Error("something was begun")
			}
		})
	}
	left := s.graphql(nil, `{ storage_uploads(where: {state: {_eq: "open"}}) { id } files { id } }`, nil)
	if uploads, files := rows(left["storage_uploads"]), rows(left["files"]); len(uploads) != 3 || len(files) != 3 {
		t.Errorf("three tickets were given, there are %d open uploads and %d files", len(uploads), len(files))
	}
}

// TestACallerWithoutAVariableLeavesNothing: Hasura refuses before it looks at the
// database, with another code than a permission's.
func TestACallerWithoutAVariableLeavesNothing(t *testing.T) {
	s := startRoles(t)
	as := actions.Session{"x-hasura-role": "photographer"}
	in := actions.CreateUpload{BucketID: text("inbox"), Name: "a.png", Size: 5, MimeType: text("image/png")}
	if _, err := s.service.CreateUpload(t.Context(), as, in); code(err) != actions.NotAllowed {
		t.Errorf("got %v", err)
	}
	if uploads, files := s.counted(); uploads != 0 || files != 0 {
		t.Errorf("%d uploads and %d files are left", uploads, files)
	}
}

func ahead(s *stack) *time.Time {
	at := s.clock.Now().Add(time.Hour)
	return &at
}

func TestBackEndsMayUseTheirPermissions(t *testing.T) {
	s := startRoles(t)
	client, err := graphql.New(graphql.Options{Endpoint: s.hasura.URL, AdminSecret: adminSecret, BackendOnly: true, UnauthorizedRole: "public"})
	if err != nil {
		t.Fatal(err)
	}
	s.options.Hasura = client
	s.service = s.instance()
	if _, err := s.service.CreateUpload(t.Context(), in("machine"), actions.CreateUpload{Name: "a", Size: 5}); err != nil {
		t.Error(err)
	}
	forged := in("machine")
	forged["x-hasura-role"] = "dropper"
	forged["x-hasura-use-backend-only-permissions"] = "true"
	if _, err := s.service.CreateUpload(t.Context(), forged, actions.CreateUpload{Name: "a", Size: 5}); err != nil {
		t.Error(err)
	}
}

func TestARoleWithoutSelectUploadsAndReadsNothing(t *testing.T) {
	s := startRoles(t)
	dropper := in("dropper")
	ticket := s.create(dropper, actions.CreateUpload{Name: "a.txt", Size: 5})
	s.sent(dropper, ticket, []byte("bytes"))
	file, err := s.service.CompleteUpload(t.Context(), dropper, actions.CompleteUpload{UploadID: ticket.UploadID})
	if err != nil || file.BucketID == nil || *file.BucketID != "inbox" {
		t.Fatalf("%+v, %v", file, err)
	}
	again, err := s.service.CompleteUpload(t.Context(), dropper, actions.CompleteUpload{UploadID: ticket.UploadID})
	if err != nil || again.Size == nil {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	holder, err := s.service.CompleteUpload(t.Context(), in("dropper"), actions.CompleteUpload{UploadID: ticket.UploadID})
	if err != nil || holder.ID != file.ID || holder.Name != nil || holder.Size != nil {
		t.Errorf("another holder of the ticket: %+v, %v", holder, err)
	}
	if _, got := s.download(dropper, file.ID); got != actions.NotAllowed && got != actions.FileNotFound {
		t.Errorf("download: %q", got)
	}
	s.holds()
}

func TestWhoMayReplace(t *testing.T) {
	s := startRoles(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("first"))
	_ = s.service.Close(t.Context()) // what cleans up behind the upload has ended then
	s.service = s.instance()
	base := actions.ReplaceFile{ID: file.ID, Size: 5}
	with := func(change func(*actions.ReplaceFile)) actions.ReplaceFile {
		r := base
		change(&r)
		return r
	}
	named := with(func(r *actions.ReplaceFile) { r.Name = text("b.txt") })
	labelled := with(func(r *actions.ReplaceFile) { r.Metadata = []byte(`{"a":1}`) })
	for name, tc := range map[string]struct {
		as   actions.Session
		in   actions.ReplaceFile
		want actions.Code
		says string
	}{
		"the owner":                            {owner, named, "", ""},
		"who cannot see it":                    {user(), base, actions.FileNotFound, ""},
		"who may only look":                    {in("reader"), base, actions.NotAllowed, ""},
		"who may set the name alone":           {in("namer"), base, "", ""},
		"who may set the name, gives metadata": {in("namer"), labelled, actions.NotAllowed, "metadata"},
		"who may set metadata alone":           {in("labeller"), labelled, "", ""},
		"who may set metadata, gives a name":   {in("labeller"), named, actions.NotAllowed, "name"},
		"an inherited right":                   {in("editor"), named, "", ""},
		"too many bytes for the bucket":        {owner, with(func(r *actions.ReplaceFile) { r.Size = 1 << 40 }), actions.FileTooBig, "default"},
		"another version":                      {owner, with(func(r *actions.ReplaceFile) { r.IfMatch = text(`"other"`) }), actions.Conflict, ""},
		"a file that does not exist":           {owner, with(func(r *actions.ReplaceFile) { r.ID = "00000000-0000-4000-8000-000000000000" }), actions.FileNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.store.Seen()
			_, err := s.service.ReplaceFile(t.Context(), tc.as, tc.in)
			if code(err) != tc.want || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v", err)
			}
			if seen := s.store.Seen(); len(seen) > 0 {
				t.Errorf("the store was asked: %v", seen)
			}
		})
	}
	after := s.fileRow(file.ID)
	if !maps.Equal(map[string]any{"name": after["name"], "metadata": after["metadata"]}, map[string]any{"name": "a.txt", "metadata": nil}) {
		t.Errorf("asking changed the row: %v", after)
	}
}
