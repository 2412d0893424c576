package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

// actions are the routes of Hasura's actions: a line for each.
func (s *server) actions(r chi.Router) {
	r.Use(survive(renderAction), fromHasura(s.Secret, renderAction))
	r.NotFound(noAction)
	r.MethodNotAllowed(noAction)

	action(r, "storageCreateUpload", s.service.CreateUpload)
	action(r, "storageCompleteUpload", s.service.CompleteUpload)
	action(r, "storageAbortUpload", s.service.AbortUpload)
	action(r, "storageDeleteFiles", s.service.DeleteFiles)
	action(r, "storageDownload", s.service.Download)
	action(r, "storageDownloads", s.service.Downloads)
	action(r, "storageCreateUploads", s.service.CreateUploads)
	action(r, "storageReplaceFile", s.service.ReplaceFile)
	action(r, "storageUploadParts", s.service.UploadParts)
	action(r, "storageCopyFile", s.service.CopyFile)
}

// call is what Hasura posts. request_query is not read: the input has it all.
type call struct {
	Action           struct{ Name string }
	Input            json.RawMessage
	SessionVariables actions.Session `json:"session_variables"`
}

// action routes POST /name to run: decode, run, render.
func action[In, Out any](r chi.Router, name string, run func(context.Context, actions.Session, In) (Out, error)) {
	r.Post("/"+name, func(w http.ResponseWriter, r *http.Request) {
		recordOf(r).action = name
		var in In
		as, err := decodeCall(w, r, name, &in)
		if err != nil {
			renderAction(w, r, err)
			return
		}
		out, err := run(r.Context(), as, in)
		if err != nil {
			renderAction(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, out)
	})
}

// decodeCall reads a call of the action name, its arguments into in, and
// returns who calls.
func decodeCall(w http.ResponseWriter, r *http.Request, name string, in any) (actions.Session, error) {
	body, err := payload(w, r)
	if err != nil {
		return nil, err
	}
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, malformed(err, "the payload")
	}
	if c.Action.Name != name {
		return nil, actions.Errorf(actions.BadRequest, "the payload is for the action %q, its address for %q", clip(c.Action.Name), name)
	}
	if err := checkSession(c.SessionVariables); err != nil {
		return nil, err
	}
	recordOf(r).role = clip(c.SessionVariables.Role())
	return c.SessionVariables, decodeInput(c.Input, in)
}

// checkSession refuses what Hasura never sends: a session without a role, which
// beside the admin secret would pass for the admin, and names in upper case,
// which could name one variable twice.
func checkSession(s actions.Session) error {
	for name := range s {
		if name != strings.ToLower(name) {
			return actions.Errorf(actions.BadRequest, "session variable %q must be in lower case", clip(name))
		}
	}
	if s.Role() == "" {
		return actions.Errorf(actions.Unauthenticated, "the payload has no session variable x-hasura-role")
	}
	return nil
}

func noAction(w http.ResponseWriter, r *http.Request) {
	renderAction(w, r, actions.Errorf(actions.BadRequest, "this version of the service has no such action, or it was not called with POST"))
}
