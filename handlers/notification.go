package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

// Notifications are what the store tells of objects that were written.
type Notifications struct {
	// Secret is what the store sends as "Authorization: Bearer <secret>", with or
	// without the word. Without one there is no route.
	Secret string
	// Arrived is told the keys, as many as the store names at once.
	Arrived func(ctx context.Context, keys []string) (actions.Hinted, error)
}

// notifications is the route for the store.
func (s *server) notifications(r chi.Router) {
	if s.Notifications.Secret != "" {
		r.Post("/s3/notifications", s.notified)
	}
}

// notified answers 200 to whatever it understands, as the hint may be of no use
// to us; a store delivers again after anything else.
func (s *server) notified(w http.ResponseWriter, r *http.Request) {
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !sameSecret(given, s.Notifications.Secret) {
		renderREST(w, r, actions.Errorf(actions.Unauthenticated, "the header authorization is missing or wrong"))
		return
	}
	body, err := payload(w, r)
	if err != nil {
		renderREST(w, r, err)
		return
	}
	var n notification
	if err := json.Unmarshal(body, &n); err != nil {
		renderREST(w, r, malformed(err, "the payload"))
		return
	}
	out, err := s.Notifications.Arrived(r.Context(), n.keys())
	if err != nil {
		renderREST(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// notification is either S3's own form, as AWS and MinIO send it, or the
// envelope of Amazon EventBridge.
type notification struct {
	Records []struct {
		EventName string `json:"eventName"`
		S3        struct {
			Object struct{ Key string }
		} `json:"s3"`
	}
	DetailType string `json:"detail-type"`
	Detail     struct {
		Object struct{ Key string }
	}
}

// keys are those of objects that were written. S3 escapes keys as in a query,
// a blank being a plus; EventBridge does not.
func (n notification) keys() []string {
	var keys []string
	for _, record := range n.Records {
		name := strings.TrimPrefix(record.EventName, "s3:") // MinIO's prefix
		key, err := url.QueryUnescape(record.S3.Object.Key)
		if strings.HasPrefix(name, "ObjectCreated:") && err == nil && key != "" {
			keys = append(keys, key)
		}
	}
	if n.DetailType == "Object Created" && n.Detail.Object.Key != "" {
		keys = append(keys, n.Detail.Object.Key)
	}
	return keys
}
