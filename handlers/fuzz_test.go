package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hasura-storage/handlers"
)

// poster returns a function that posts as Hasura does.
func poster(path string) func(body string) *httptest.ResponseRecorder {
	h := handlers.New(&stub{}, options())
	return func(body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("X-Hasura-Storage-Secret", secret)
		h.ServeHTTP(w, r)
		return w
	}
}

// FuzzAction: whatever Hasura or its impostor sends, the answer is 200 or an
// error that Hasura can read, and nobody acts without a role.
func FuzzAction(f *testing.F) {
	post := poster("/actions/storageDownload")
	f.Add(payloadOf("storageDownload", `{"id":"f","image":{"width":600,"crop":{"x":1}}}`))
	f.Add(payloadOf("storageDownload", `{"id":7}`))
	f.Add(`{"action":{"name":"storageDownload"},"input":null,"session_variables":{"x-hasura-role":"a"}}`)
	f.Add(`{"ACTION":{"NAME":"storageDownload"},"Session_Variables":{"":""}}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := post(body)
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q is answered %q", body, w.Body)
		}
		if w.Code == http.StatusOK {
			return
		}
		var e struct {
			Message    string
			Extensions struct{ Code string }
		}
		err := json.Unmarshal(w.Body.Bytes(), &e)
		if err != nil || w.Code < 400 || w.Code > 499 || e.Message == "" || e.Extensions.Code == "" || len(e.Message) > 1000 {
			t.Fatalf("%q is answered %d %q", body, w.Code, w.Body)
		}
		if e.Extensions.Code == "internal" {
			t.Fatalf("%q is taken for a fault of ours: %s", body, w.Body)
		}
	})
}

// FuzzEvent: no payload makes Hasura deliver it again, since the stub never fails.
func FuzzEvent(f *testing.F) {
	post := poster("/events/file-deleted")
	f.Add(eventOf(0, `{"old":{"id":"f1"},"new":null}`))
	f.Add(eventOf(1<<62, `{"old":null,"new":{"id":""}}`))
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, body string) {
		w := post(body)
		if w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q is answered %d %q", body, w.Code, w.Body)
		}
	})
}
