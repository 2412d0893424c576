package handlers_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

func discard() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// TestEveryCodeHasAStatus: an unknown code would be a 500.
func TestEveryCodeHasAStatus(t *testing.T) {
	for _, code := range actions.Codes() {
		w := discard()
		service := &stub{err: actions.Errorf(code, "why").Because(errors.New("cause")).With("detail", 1)}
		handlers.New(service, options()).ServeHTTP(w, scenario{path: "/v1/files/f/signed/p"}.request())
		if (w.Code == http.StatusInternalServerError) != (code == actions.Internal) {
			t.Errorf("%s has no status of its own", code)
		}
		if body := w.Body.String(); strings.Contains(body, "cause") || !strings.Contains(body, `"data":{"detail":1}`) {
			t.Errorf("%s: %s", code, body)
		}
	}
}

// TestTheREADMEHasEveryCode compares its table with the list, both ways.
func TestTheREADMEHasEveryCode(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## Errors")
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(section, -1) {
		told[row[1]] = true
	}
	for _, code := range actions.Codes() {
		if !told[string(code)] {
			t.Errorf("the README does not tell of %s", code)
		}
		delete(told, string(code))
	}
	for code := range told {
		t.Errorf("the README tells of %s, which does not exist", code)
	}
}
