package actions_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/images"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/graphql"
)

const place = "51.4778N 0.0015W"

// placed is a photo on its side that tells where it was taken.
func placed(t testing.TB) []byte {
	photo := photo(t, "photo_03mp.jpg")
	tiff := "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00" + place
	exif := "Exif\x00\x00" + tiff
	out := append(bytes.Clone(photo[:2]), 0xff, 0xe1, 0, byte(len(exif)+2))
	return append(append(out, exif...), photo[2:]...)
}

// stripping starts a stack whose default bucket removes metadata.
func stripping(t *testing.T) *stack {
	s := start(t)
	s.bucketIs(map[string]any{"stripMetadata": true})
	return s
}

// bucketIs changes the default bucket.
func (s *stack) bucketIs(set map[string]any) {
	s.t.Helper()
	s.graphql(nil, `mutation($set: buckets_set_input!) { updateBucket(pk_columns: {id: "default"}, _set: $set) { id } }`, map[string]any{"set": set})
}

// bare fails unless the file has lost its place alone, and its row says so.
func (s *stack) bare(as actions.Session, id string, before []byte) {
	s.t.Helper()
	got, code := s.download(as, id)
	if code != "" {
		s.t.Fatal(code)
	}
	sum := sha256.Sum256(got)
	row := s.fileRow(id)
	if bytes.Contains(got, []byte(place)) || row["sha256"] != hex.EncodeToString(sum[:]) || row["size"] != float64(len(got)) {
		s.t.Errorf("%d bytes were stored of %d; the row says %v", len(got), len(before), row)
	}
	info, err := images.Probe(got)
	if err != nil || info.Orientation != 6 || row["width"] != float64(info.Width) {
		s.t.Errorf("the picture is %+v, %v", info, err)
	}
	used := s.graphql(nil, `{ bucket(id: "default") { usedBytes } }`, nil)["bucket"].(map[string]any)["usedBytes"]
	if used != row["size"] {
		s.t.Errorf("the bucket counts %v bytes", used)
	}
	s.holds()
}

func TestMetadataIsRemovedWhereTheBucketSaysSo(t *testing.T) {
	before := placed(t)
	sum := sha256.Sum256(before)
	digest := hex.EncodeToString(sum[:])
	size := graphql.Bigint(len(before))
	for name, in := range map[string]actions.CreateUpload{
		"by PUT":   {Name: "a.jpg", Size: size, SHA256: &digest},
		"in parts": {Name: "a.jpg", Size: size, SHA256: &digest, Method: "MULTIPART"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stripping(t)
			owner := user()
			ticket := s.create(owner, in)
			if err := s.complete(owner, s.sent(owner, ticket, before)); err != nil {
				t.Fatal(err)
			}
			s.bare(owner, ticket.FileID, before)
			s.sweep(8 * 24 * time.Hour)
			if keys := s.keys(); len(keys) != 1 {
				t.Errorf("left behind: %v", keys)
			}
			s.bare(owner, ticket.FileID, before)
		})
	}
}

func TestMetadataIsRemovedByRESTAndFromCopies(t *testing.T) {
	s := start(t)
	owner, before := user(), placed(t)
	source := s.upload(owner, "a.jpg", "image/jpeg", before)
	if got, _ := s.download(owner, source.ID); !bytes.Equal(got, before) {
		t.Fatal("a bucket without the flag changed the file")
	}
	s.bucketIs(map[string]any{"stripMetadata": true})
	copied, err := s.service.CopyFile(t.Context(), owner, actions.CopyFile{ID: source.ID})
	if err != nil {
		t.Fatal(err)
	}
	s.graphql(nil, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": source.ID})
	s.bare(owner, copied.ID, before)

	sent, err := s.service.UploadFiles(t.Context(), sentBy(owner), &parts{{"file[]", "b.jpg", before}})
	if err != nil {
		t.Fatal(err)
	}
	s.graphql(nil, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": copied.ID})
	s.bare(owner, sent[0].ID, before)
	if _, err := s.service.PutFile(t.Context(), sentBy(owner), sent[0].ID, nil, &parts{{"file", "c.jpg", before}}); err != nil {
		t.Fatal(err)
	}
	s.bare(owner, sent[0].ID, before)
	s.sweep(4 * time.Hour)
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestStrippingThatIsInterruptedIsDoneAgain(t *testing.T) {
	before := placed(t)
	for name, at := range map[string]struct {
		operation string
		fault     faults.Fault
	}{
		"the move is lost":            {"MoveUpload", faults.Drop},
		"the move's answer is lost":   {"MoveUpload", faults.Cut},
		"the move is sent twice":      {"MoveUpload", faults.Double},
		"the commit is lost":          {"CommitUpload", faults.Drop},
		"the commit's answer is lost": {"CommitUpload", faults.Cut},
	} {
		for _, method := range []string{"PUT", "MULTIPART"} {
			t.Run(name+", "+method, func(t *testing.T) {
				s := stripping(t)
				owner := user()
				ticket := s.sent(owner, s.create(owner, actions.CreateUpload{Name: "a.jpg", Size: graphql.Bigint(len(before)), Method: method}), before)
				s.hasura.Set(onceAt(at.operation, at.fault, nil))
				if err := s.complete(owner, ticket); err != nil && code(err) != actions.HasuraUnavailable && code(err) != actions.UploadCompleting {
					t.Fatal(err)
				}
				s.sweep(2 * time.Minute) // what a lost claim left goes, what is open is completed
				s.bare(owner, ticket.FileID, before)
				s.sweep(8 * 24 * time.Hour)
				if keys := s.keys(); len(keys) != 1 {
					t.Errorf("left behind: %v", keys)
				}
			})
		}
	}
}

func TestPicturesThatCannotBeStripped(t *testing.T) {
	s := stripping(t)
	s.bucketIs(map[string]any{"maxUploadFileSize": 1 << 30})
	owner, mimeType := user(), "image/jpeg"
	_, err := s.service.CreateUpload(t.Context(), owner, actions.CreateUpload{Name: "a.jpg", Size: 64<<20 + 1, MimeType: &mimeType})
	if code(err) != actions.FileTooBig {
		t.Errorf("a large one: %v", err)
	}
	damaged := append(bytes.Clone(placed(t)[:200]), make([]byte, 100)...)
	ticket := s.create(owner, actions.CreateUpload{Name: "a.jpg", Size: graphql.Bigint(len(damaged)), MimeType: &mimeType})
	if err := s.complete(owner, s.sent(owner, ticket, damaged)); code(err) != actions.NotAnImage {
		t.Errorf("a damaged one: %v", err)
	}
	if keys := s.keys(); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestTheStrippedBytesAreLostOnTheirWay(t *testing.T) {
	before := placed(t)
	for name, fault := range map[string]faults.Fault{"they never arrive": faults.Drop, "they arrive, the answer does not": faults.Cut, "they arrive twice": faults.Double} {
		t.Run(name, func(t *testing.T) {
			s := stripping(t)
			owner := user()
			ticket := s.sent(owner, s.create(owner, actions.CreateUpload{Name: "a.jpg", Size: graphql.Bigint(len(before))}), before)
			written := 0
			s.store.Set(func(r faults.Request) (faults.Fault, func()) {
				if r.Method == http.MethodPut && strings.Contains(r.Path, "/files/") {
					written++                        // the first is the copy of what the client sent
					if written > 1 && written < 12 { // tries of the library's own included
						return fault, nil
					}
				}
				return faults.None, nil
			})
			if err := s.complete(owner, ticket); err != nil && code(err) != actions.StorageUnavailable {
				t.Fatal(err)
			}
			s.store.Set(nil)
			s.sweep(2 * time.Minute)
			s.bare(owner, ticket.FileID, before)
			s.sweep(4 * time.Hour)
			if keys := s.keys(); len(keys) != 1 {
				t.Errorf("left behind: %v", keys)
			}
		})
	}
}
