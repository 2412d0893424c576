package handlers_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"go.yaml.in/yaml/v3"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

func TestOpenAPIDescribesTheRoutes(t *testing.T) {
	o := options()
	o.Receiver = &actions.Storage{}
	o.Files = &actions.Storage{} // routes are listed, none is called
	h := handlers.New(&stub{}, o)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/openapi.yaml", nil))
	var page struct {
		Paths map[string]map[string]any
	}
	if err := yaml.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v", w.Code, err)
	}
	described := map[string]bool{}
	for path, item := range page.Paths {
		for method := range item {
			if method != "parameters" {
				described[strings.ToUpper(method)+" "+path] = true
			}
		}
	}
	routed := map[string]bool{}
	routes, ok := h.(chi.Routes)
	if !ok {
		t.Fatal("the handler lists no routes")
	}
	_ = chi.Walk(routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if path, rest := strings.CutPrefix(route, "/v1"); rest {
			routed[method+" "+strings.ReplaceAll(path, "/*", "/{path}")] = true
		}
		return nil
	})
	if a, b := slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(routed)); !slices.Equal(a, b) {
		t.Errorf("the page describes\n%s\nand the routes are\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}
