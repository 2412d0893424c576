package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	hasura := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hasura")) })
	handler := withPage(hasura, defaultJWTSecret)
	tests := map[string]struct{ method, path, has string }{
		"the root is the page":           {"GET", "/", "<title>hasura-storage"},
		"its script":                     {"GET", "/dev/page.js", "storageCreateUpload"},
		"its style":                      {"GET", "/dev/page.css", "#gallery"},
		"the users and their tokens":     {"GET", "/dev/users", `{"name":"Alice","token":"ey`},
		"GraphQL is Hasura's":            {"POST", "/v1/graphql", "hasura"},
		"so is everything else":          {"GET", "/healthz", "hasura"},
		"a post to the root is Hasura's": {"POST", "/", "hasura"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequest(tt.method, tt.path, nil))
			if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), tt.has) {
				t.Errorf("got %d %.200s, want %q in it", answer.Code, answer.Body, tt.has)
			}
		})
	}
}
