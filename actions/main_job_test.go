package actions_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/images"
)

func photo(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("images/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAPhotoFromUploadToDelete(t *testing.T) {
	s := start(t)
	owner, stranger := user(), user()
	content := photo(t, "photo_3mp.jpg")

	file := s.upload(owner, "Straße.jpg", "image/jpeg", content)
	if *file.Size != int64(len(content)) || *file.Width == 0 || *file.Height == 0 || file.Placeholder == nil {
		t.Errorf("the file's facts are missing: %+v", file)
	}
	if got, code := s.download(owner, file.ID); code != "" || !bytes.Equal(got, content) {
		t.Errorf("download: %d bytes, code %q", len(got), code)
	}
	if _, code := s.download(stranger, file.ID); code != actions.FileNotFound {
		t.Errorf("a stranger got %q", code)
	}
	if info := s.picture(owner, file.ID, 600); info.Width != 600 || info.Orientation != 1 {
		t.Errorf("variant: %+v", info)
	}
	s.holds()

	s.graphql(owner, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": file.ID})
	if err := s.service.FileGone(t.Context(), actions.FileEvent{ID: file.ID}); err != nil {
		t.Fatal(err)
	}
	s.sweep(4 * time.Hour) // the upload's record goes as well
	if keys := s.keys(); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
}

// picture opens the link to a picture of the given width.
func (s *stack) picture(as actions.Session, id string, width int) images.Info {
	s.t.Helper()
	link, err := s.service.Download(s.t.Context(), as, actions.GetDownload{ID: id, Image: &actions.Image{Width: &width}})
	if err != nil {
		s.t.Fatal(err)
	}
	content, err := s.open(id, link.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	info, err := images.Probe(content)
	if err != nil {
		s.t.Fatal(err)
	}
	return info
}

// open follows a signed link as the handler does.
func (s *stack) open(id, link string) ([]byte, error) {
	s.t.Helper()
	return s.openWithin(s.t.Context(), id, link)
}

// openWithin does so until ctx ends.
func (s *stack) openWithin(ctx context.Context, id, link string) ([]byte, error) {
	s.t.Helper()
	content, err := s.finished(ctx, id, link)
	if err != nil {
		return nil, err
	}
	body, err := content.Open(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(body)
	return b.Bytes(), err
}

// finished returns what a signed link grants, ready to be opened.
func (s *stack) finished(ctx context.Context, id, link string) (actions.Content, error) {
	s.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		s.t.Fatal(err)
	}
	_, path, _ := strings.Cut(u.EscapedPath(), "/signed/")
	content, err := s.service.SignedContent(ctx, id, path, u.Query(), "")
	if err != nil || content.Finish == nil {
		return content, err
	}
	return content.Finish(ctx, content)
}

func TestAPresignedURLCannotChangeACompletedFile(t *testing.T) {
	s := start(t)
	owner := user()
	first, second := []byte("the first"), []byte("a later1")
	mimeType := "text/plain"
	ticket := s.create(owner, actions.CreateUpload{Name: "a.txt", Size: 9, MimeType: &mimeType})
	if status := put(t, *ticket.URL, nil, second); status == http.StatusOK {
		t.Fatal("the store took a body of another length")
	}
	put(t, *ticket.URL, nil, first)
	file, err := s.service.CompleteUpload(t.Context(), owner, actions.CompleteUpload{UploadID: ticket.UploadID})
	if err != nil {
		t.Fatal(err)
	}
	if status := put(t, *ticket.URL, nil, []byte("the other")); status != http.StatusOK {
		t.Fatalf("the URL is still signed, but gave %d", status)
	}
	if got, _ := s.download(owner, file.ID); !bytes.Equal(got, first) {
		t.Errorf("I5: the file reads %q now", got)
	}
	s.sweep(4 * time.Hour)
	if keys := s.keys(); len(keys) != 1 {
		t.Errorf("what the URL wrote is still there: %v", keys)
	}
	s.holds()
}
