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

// renderProcessed is renderFile with the files that were stored beside the error.
func renderProcessed(w http.ResponseWriter, r *http.Request, files []actions.StoredFile, err error) {
	if files == nil {
		files = []actions.StoredFile{}
	}
	code := fileStatus(err)
	e := refuse(w, r, err)
	writeJSON(w, code, processed{files, &problem{Message: e.Message, Code: e.Code, Data: e.Details}})
}

// putFile replaces a file's bytes.
func (s *server) putFile(w http.ResponseWriter, r *http.Request) {
	form, done, err := s.readForm(w, r)
	if err != nil {
		renderFile(w, r, err)
		return
	}
	defer done()
	file, err := s.Files.PutFile(r.Context(), r.Header, chi.URLParam(r, "id"), precondition(r), form)
	if err != nil {
		renderFile(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, file)
}
