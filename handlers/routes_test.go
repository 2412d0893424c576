package handlers_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"hasura-storage/handlers"
)

// TestEveryWebhookOfTheMetadataHasARoute, and no other route is open to Hasura.
func TestEveryWebhookOfTheMetadataHasARoute(t *testing.T) {
	routes := map[string]bool{}
	err := chi.Walk(handlers.New(&stub{}, options()).(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		for _, group := range []string{"/actions/", "/events/", "/cron/"} {
			if method == http.MethodPost && strings.HasPrefix(route, group) {
				routes[route] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for webhook := range webhooks(t) {
		if !routes[webhook] {
			t.Errorf("the metadata calls %s, which has no route", webhook)
		}
		delete(routes, webhook)
	}
	for route := range routes {
		t.Errorf("%s has a route, and nothing in the metadata calls it", route)
	}
}

// webhooks are the paths that the metadata has Hasura call.
func webhooks(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	address := regexp.MustCompile(`\{\{HASURA_STORAGE_URL\}\}(/[A-Za-z/-]+)`)
	err := filepath.WalkDir("../hasura-metadata/metadata", func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range address.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("no webhook was found: %v", err)
	}
	return found
}
