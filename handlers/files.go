package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
	"hasura-storage/handlers/conditional"
)

// Files are the use cases of the REST interface. The sender of a request is
// judged by Hasura, by the request's own headers.
type Files interface {
	Ops

	GetFile(ctx context.Context, as actions.Headers, in actions.GetFile) (actions.Content, error)
	// UploadFiles and PutFile read the form no earlier than Hasura has judged its sender.
	UploadFiles(ctx context.Context, as actions.Headers, form actions.Form) ([]actions.StoredFile, error)
	PutFile(ctx context.Context, as actions.Headers, id string, permits actions.Precondition, form actions.Form) (actions.StoredFile, error)
	DeleteFile(ctx context.Context, as actions.Headers, id string, permits actions.Precondition) error
	PresignURL(ctx context.Context, as actions.Headers, id string, expires *int) (actions.PresignedURL, error)
	// GetPresigned opens what the signature in a link's query grants.
	GetPresigned(ctx context.Context, in actions.GetFile, query url.Values) (actions.Content, error)
}

// files are the routes of the REST interface for files.
func (s *server) files(r chi.Router) {
	get(r, "/files/{id}", s.getFile)
	r.Post("/files", s.uploadFiles)
	r.Put("/files/{id}", s.putFile)
	r.Delete("/files/{id}", s.deleteFile)
	r.Get("/files/{id}/presignedurl", s.presignURL)
	get(r, "/files/{id}/presignedurl/contents", s.getPresigned)
	r.Route("/ops", s.ops)
	get(r, "/openapi.yaml", describeItself)
}

// getFile serves a file or a picture made of it.
func (s *server) getFile(w http.ResponseWriter, r *http.Request) {
	s.open(w, r, func(ctx context.Context, in actions.GetFile, _ url.Values) (actions.Content, error) {
		return s.Files.GetFile(ctx, r.Header, in)
	})
}

// getPresigned serves the same to whoever has a link.
func (s *server) getPresigned(w http.ResponseWriter, r *http.Request) {
	s.open(w, r, s.Files.GetPresigned)
}

// open reads what a GET or HEAD asks for, looks it up, and serves it.
func (s *server) open(w http.ResponseWriter, r *http.Request, look func(context.Context, actions.GetFile, url.Values) (actions.Content, error)) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		renderREST(w, r, actions.Errorf(actions.BadRequest, "the query of the address cannot be read"))
		return
	}
	in := actions.GetFile{ID: chi.URLParam(r, "id"), Accept: strings.Join(r.Header.Values("Accept"), ",")}
	if in.Image, err = readImage(query); err != nil {
		renderREST(w, r, err)
		return
	}
	if query.Has("download") {
		name := query.Get("download")
		in.Attachment = &name
	}
	s.openTwice(w, r, func() (actions.Content, error) { return look(r.Context(), in, query) })
}

// openTwice serves content, and looks it up once more if its bytes had gone
// when they were asked for: then it was replaced just in between.
func (s *server) openTwice(w http.ResponseWriter, r *http.Request, look func() (actions.Content, error)) {
	for again := false; ; again = true {
		content, err := look()
		if err != nil {
			renderREST(w, r, err)
			return
		}
		err = s.tryContent(w, r, content)
		if err != nil && (again || actions.Public(err).Code != actions.FileNotFound) {
			renderREST(w, r, err)
			return
		}
		if err == nil {
			return
		}
	}
}

// deleteFile answers 204, whatever the file was.
func (s *server) deleteFile(w http.ResponseWriter, r *http.Request) {
	if err := s.Files.DeleteFile(r.Context(), r.Header, chi.URLParam(r, "id"), precondition(r)); err != nil {
		renderREST(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// precondition reads the request's conditions for a change, nil if it has none.
func precondition(r *http.Request) actions.Precondition {
	if !conditional.Asked(r.Header) {
		return nil
	}
	return func(v actions.Version) error {
		if conditional.Permits(r.Header, conditional.Facts{ETag: v.ETag, LastModified: v.LastModified}) {
			return nil
		}
		return errCondition
	}
}

// presignURL hands out a link. Its answer is a secret, so nobody keeps it.
func (s *server) presignURL(w http.ResponseWriter, r *http.Request) {
	var expires *int
	if text := r.URL.Query().Get("expires"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil {
			renderREST(w, r, actions.Errorf(actions.BadRequest, "expires must be a number of seconds"))
			return
		}
		expires = &seconds
	}
	link, err := s.Files.PresignURL(r.Context(), r.Header, chi.URLParam(r, "id"), expires)
	if err != nil {
		renderREST(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, link)
}
