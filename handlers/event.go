package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

// events are the routes of Hasura's event triggers.
func (s *server) events(r chi.Router) {
	r.Use(survive(renderUnavailable), fromHasura(s.Secret, renderREST))
	r.Post("/file-deleted", event(s.service.FileGone))
	r.Post("/file-replaced", event(s.service.FileGone))
}

// cron are the routes of Hasura's cron triggers.
func (s *server) cron(r chi.Router) {
	r.Use(survive(renderUnavailable), fromHasura(s.Secret, renderREST))
	r.Post("/sweep", job(s.service.Sweep))
	r.Post("/reconcile", job(s.service.Reconcile))
}

// delivery is what Hasura posts for a changed row of storage.files. Names in
// data are the database's.
type delivery struct {
	Info struct {
		CurrentRetry int `json:"current_retry"`
	} `json:"delivery_info"`
	Table struct{ Schema, Name string }
	Event struct {
		Data struct{ Old, New *actions.FileEvent }
	}
}

// ignored tells Hasura's log why nothing was done.
type ignored struct {
	Ignored bool   `json:"ignored"`
	Reason  string `json:"reason"`
}

// done is the answer to an event that was dealt with.
type done struct {
	Done bool `json:"done"`
}

// event adapts work on a row to the protocol of event triggers: Hasura delivers
// again after everything but a 2xx, so what can never succeed is one too.
func event(work func(context.Context, actions.FileEvent) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := payload(w, r)
		var d delivery
		if err == nil {
			d, err = decodeDelivery(body)
		}
		if err == nil {
			err = work(r.Context(), d.row())
		}
		answerEvent(w, r, d.Info.CurrentRetry, err)
	}
}

func decodeDelivery(body []byte) (d delivery, err error) {
	if err := json.Unmarshal(body, &d); err != nil {
		return delivery{}, malformed(err, "the payload")
	}
	switch {
	case d.Table.Schema != "storage" || d.Table.Name != "files":
		return d, actions.Errorf(actions.BadRequest, "the event is of another table than storage.files")
	case d.row().ID == "":
		return d, actions.Errorf(actions.BadRequest, "the event has no id of a row")
	}
	return d, nil
}

// row is the row as it was; an event made by hand has only the new one.
func (d delivery) row() actions.FileEvent {
	switch {
	case d.Event.Data.Old != nil:
		return *d.Event.Data.Old
	case d.Event.Data.New != nil:
		return *d.Event.Data.New
	default:
		return actions.FileEvent{}
	}
}

func answerEvent(w http.ResponseWriter, r *http.Request, retry int, err error) {
	if err == nil {
		writeJSON(w, http.StatusOK, done{true})
		return
	}
	if e := actions.Public(err); hopeless(e.Code) {
		_ = note(r, err)
		writeJSON(w, http.StatusOK, ignored{true, e.Message})
		return
	}
	if wait := pause(retry); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	renderUnavailable(w, r, err)
}

// hopeless are the codes that the same event would end with again. A refusal by
// Hasura is none of them: we ask as admin, so it is the configuration that is
// wrong, and somebody will put it right.
func hopeless(code actions.Code) bool {
	return slices.Contains([]actions.Code{
		actions.BadRequest, actions.BucketNotFound, actions.FileNotFound, actions.UploadNotFound,
	}, code)
}

// longestPause and lastPause bound how long Hasura is kept trying: about half a
// day. The sweep finds whatever is left then.
const (
	longestPause = time.Hour
	lastPause    = 20
)

// pause doubles with each try. Hasura obeys Retry-After without counting, so
// there has to be a try after which none is sent and retry_conf ends it.
func pause(retry int) time.Duration {
	switch {
	case retry >= lastPause:
		return 0
	case retry < 0:
		return time.Second
	case retry >= 12: // 2^12 seconds are more than an hour
		return longestPause
	default:
		return time.Second << retry
	}
}

// job adapts periodic work to the protocol of cron triggers, whose payload says
// nothing that we need.
func job[Out any](work func(context.Context) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := payload(w, r); err != nil {
			renderUnavailable(w, r, err)
			return
		}
		out, err := work(r.Context())
		if err != nil {
			renderUnavailable(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, out)
	}
}
