package actions_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hasura-storage/actions"
	"hasura-storage/graphql"
)

const script = "<!DOCTYPE html><script>alert(1)</script>"

// noTypes are texts that a row may have as its type by GraphQL.
var noTypes = []string{"text/html; =", "text/html;;", "text/html; charset", "text/html\r\nX-Evil: 1", "html", ""}

// TestATypeThatIsNoneIsNeverAdopted: the row that an upload was opened for is
// exchanged for one that no create would write.
func TestATypeThatIsNoneIsNeverAdopted(t *testing.T) {
	s := start(t)
	bob := user()
	for _, mimeType := range noTypes {
		id := uuid.NewString()
		in := actions.CreateUpload{ID: &id, Name: "f.txt", Size: graphql.Bigint(len(script))}
		ticket := s.create(bob, in)
		s.graphql(bob, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": id})
		s.graphql(bob, `mutation($id: uuid!, $size: bigint!, $type: String!) { insertFile(object: {id: $id, name: "f.txt", size: $size, mimeType: $type}) { id } }`,
			map[string]any{"id": id, "size": len(script), "type": mimeType})
		if _, err := s.service.CreateUpload(t.Context(), bob, in); err == nil {
			t.Errorf("%q: a ticket was given", mimeType)
		}
		if err := s.complete(bob, s.sent(bob, ticket, []byte(script))); err != nil {
			continue
		}
		if row := s.fileRow(id); row["mimeType"] != "text/html" {
			t.Errorf("%q: the row is %v", mimeType, row)
		}
	}
	s.holds()
}

// TestAnUploadOfATypeThatIsNoneIsClosed: the store cannot be told such a type, however
// often it is tried.
func TestAnUploadOfATypeThatIsNoneIsClosed(t *testing.T) {
	s := start(t)
	owner := user()
	for _, mimeType := range noTypes {
		ticket := arrived(s, owner)
		s.graphql(nil, `mutation($id: uuid!, $type: String!) { update_storage_uploads_by_pk(pk_columns: {id: $id}, _set: {mime_type: $type}) { id } }`,
			map[string]any{"id": ticket.UploadID, "type": mimeType})
		if err := s.complete(owner, ticket); code(err) != actions.MimeTypeNotAllowed {
			t.Errorf("%q: %v", mimeType, err)
		}
		if row := s.uploadRow(ticket.UploadID); row["state"] != "aborted" || s.fileRow(ticket.FileID) != nil {
			t.Errorf("%q: the upload is %v", mimeType, row)
		}
	}
	s.holds()
}

// TestLinksShowNothingThatABrowserWouldRun, whatever was made of the row's type since.
func TestLinksShowNothingThatABrowserWouldRun(t *testing.T) {
	s := start(t)
	owner := user()
	f := s.upload(owner, "a.txt", "text/plain", []byte(script))
	unreadable := []string{"text/html; =", "text/html;;", "text/html; charset", "text/html\r\nX-Evil: 1", "html"}
	want := map[string][2]string{"text/html": {"text/html", "attachment"}, "text/plain": {"text/plain", "inline"}, "image/png": {"image/png", "inline"}}
	for _, mimeType := range unreadable {
		want[mimeType] = [2]string{"application/octet-stream", "attachment"}
	}
	for _, mimeType := range []string{"*/*", "unknown/unknown", "application/unknown", "application/x-unknown-content-type"} {
		want[mimeType] = [2]string{mimeType, "attachment"}
	}
	past := s.service
	s.options.Proxied = true
	through := s.instance()
	for mimeType, want := range want {
		s.graphql(nil, `mutation($id: uuid!, $type: String!) { updateFile(pk_columns: {id: $id}, _set: {mimeType: $type}) { id } }`,
			map[string]any{"id": f.ID, "type": mimeType})
		link, err := past.Download(t.Context(), owner, actions.GetDownload{ID: f.ID})
		if err != nil {
			t.Fatal(err)
		}
		status, body, header := get(t, link.URL)
		if status != 200 || string(body) != script || header.Get("X-Evil") != "" {
			t.Errorf("%q: %d %q", mimeType, status, body)
		}
		if header.Get("Content-Type") != want[0] || !strings.HasPrefix(header.Get("Content-Disposition"), want[1]+";") {
			t.Errorf("%q: the store says %v", mimeType, header)
		}
		if link, err = through.Download(t.Context(), owner, actions.GetDownload{ID: f.ID}); err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(link.URL)
		if q := u.Query(); q.Get("t") != want[0] || !strings.HasPrefix(q.Get("d"), want[1]+";") {
			t.Errorf("%q: the link says %v", mimeType, q)
		}
	}
}
