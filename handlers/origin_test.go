package handlers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

func TestCookiesOfOtherPages(t *testing.T) {
	tests := map[string]struct {
		method  string
		headers map[string]string
		off     bool
		status  int
	}{
		"a trusted page":               {"DELETE", map[string]string{"Cookie": "a=1", "Origin": "https://app.example.com", "Sec-Fetch-Site": "cross-site"}, false, 204},
		"the service's own page":       {"DELETE", map[string]string{"Cookie": "a=1", "Sec-Fetch-Site": "same-origin"}, false, 204},
		"another page":                 {"DELETE", map[string]string{"Cookie": "a=1", "Origin": "https://evil.example.com", "Sec-Fetch-Site": "cross-site"}, false, 403},
		"another page, an old browser": {"DELETE", map[string]string{"Cookie": "a=1", "Origin": "https://evil.example.com"}, false, 403},
		"a sandboxed page":             {"DELETE", map[string]string{"Cookie": "a=1", "Origin": "null"}, false, 403},
		"no browser":                   {"DELETE", map[string]string{"Cookie": "a=1"}, false, 204},
		"without cookies":              {"DELETE", map[string]string{"Origin": "https://evil.example.com"}, false, 204},
		"cookies that nobody forwards": {"DELETE", map[string]string{"Cookie": "a=1", "Origin": "https://evil.example.com"}, true, 204},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.CORS.Origins, o.Cookies, o.Files = []string{"*", "https://app.example.com"}, !test.off, &restStub{}
			r := httptest.NewRequest(test.method, "/v1/files/"+fileID, nil)
			for name, value := range test.headers {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			handlers.New(&stub{}, o).ServeHTTP(w, r)
			if w.Code != test.status {
				t.Errorf("status = %d, want %d: %s", w.Code, test.status, w.Body)
			}
		})
	}
}

// TestPagesThatAreNotNamedAreNotTrusted: that every page may read does not let it write.
func TestPagesThatAreNotNamedAreNotTrusted(t *testing.T) {
	o := options()
	o.CORS.Origins, o.Cookies, o.Files = []string{"*"}, true, &restStub{}
	h := handlers.New(&stub{}, o)
	for _, request := range []string{"POST /v1/files", "PUT /v1/files/" + fileID, "DELETE /v1/files/" + fileID, "POST /v1/ops/delete-orphans"} {
		method, path, _ := strings.Cut(request, " ")
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Cookie", "a=1")
		r.Header.Set("Origin", "https://app.example.com")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "a page of another origin") {
			t.Errorf("%s: %d %s", request, w.Code, w.Body)
		}
	}
}

// restStub deletes everything and does nothing else.
type restStub struct{ *actions.Storage }

func (restStub) DeleteFile(context.Context, actions.Headers, string, actions.Precondition) error {
	return nil
}
