package handlers

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

// processed is the answer to a form with new files: those that are stored, and
// why the next one is not.
type processed struct {
	Files []actions.StoredFile `json:"processedFiles"`
	Error *problem             `json:"error,omitempty"`
}

// uploadFiles takes new files. The sender is judged before the body is read.
func (s *server) uploadFiles(w http.ResponseWriter, r *http.Request) {
	form, done, err := s.readForm(w, r)
	if err != nil {
		renderProcessed(w, r, nil, err)
		return
	}
	defer done()
	files, err := s.Files.UploadFiles(r.Context(), r.Header, form)
	if err != nil {
		renderProcessed(w, r, files, err)
		return
	}
	writeJSON(w, http.StatusCreated, processed{Files: files})
}

// renderProcessed is renderREST with the files that were stored beside the error.
func renderProcessed(w http.ResponseWriter, r *http.Request, files []actions.StoredFile, err error) {
	if files == nil {
		files = []actions.StoredFile{}
	}
	code := restStatus(err)
	e := refuse(w, r, err)
	writeJSON(w, code, processed{files, &problem{Message: e.Message, Code: e.Code, Data: e.Details}})
}

// putFile replaces a file's bytes.
func (s *server) putFile(w http.ResponseWriter, r *http.Request) {
	form, done, err := s.readForm(w, r)
	if err != nil {
		renderREST(w, r, err)
		return
	}
	defer done()
	permits := precondition(r)
	file, err := s.Files.PutFile(r.Context(), r.Header, chi.URLParam(r, "id"), permits, form)
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, file)
	case permits != nil && actions.Public(err).Code == actions.Conflict:
		renderREST(w, r, errCondition) // somebody else's version came first
	default:
		renderREST(w, r, err)
	}
}
