package service

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestHealth(t *testing.T) {
	i := start(t, away)
	addr := strings.TrimPrefix(i.url, "http://")
	_, port, _ := strings.Cut(addr, ":")
	for _, bind := range []string{addr, ":" + port, "0.0.0.0:" + port, "[::]:" + port} {
		if err := Health(t.Context(), with("BIND", bind)); err != nil {
			t.Errorf("%s: %v", bind, err)
		}
	}
	i.end(t)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for bind, want := range map[string]string{
		addr: "does not answer", strings.TrimPrefix(other.URL, "http://"): "answers 404", "8000": "BIND must be host:port",
	} {
		if err := Health(t.Context(), with("BIND", bind)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", bind, err, want)
		}
	}
}

// TestTheComposeExampleIsUnderstood: its settings are known, enough and without
// a warning, and Hasura has what the service expects of it.
func TestTheComposeExampleIsUnderstood(t *testing.T) {
	text, err := os.ReadFile("../../../examples/compose/docker-compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	filled := os.Expand(string(text), func(name string) string {
		name, _, _ = strings.Cut(name, ":") // ${NAME:?why}
		return strings.ToLower(name) + "-of-thirty-two-letters-or-more"
	})
	var compose struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Unmarshal([]byte(filled), &compose); err != nil {
		t.Fatal(err)
	}
	env, hasura := compose.Services["storage"].Environment, compose.Services["graphql"].Environment
	known := map[string]bool{}
	for _, s := range settings {
		known[s.name] = true
	}
	for name := range env {
		if !known[name] {
			t.Errorf("%s is no setting", name)
		}
	}
	c, err := load(func(name string) string { return env[name] })
	if err != nil || len(c.warnings) > 0 {
		t.Errorf("complaints: %v; warnings: %q", err, c.warnings)
	}
	for _, name := range []string{"HASURA_GRAPHQL_ADMIN_SECRET", "HASURA_STORAGE_SECRET", "HASURA_GRAPHQL_UNAUTHORIZED_ROLE"} {
		if env[name] == "" || env[name] != hasura[name] {
			t.Errorf("%s is %q here and %q in Hasura", name, env[name], hasura[name])
		}
	}
	if hasura["HASURA_STORAGE_URL"] != "http://storage:8000" {
		t.Errorf("Hasura calls %q", hasura["HASURA_STORAGE_URL"])
	}
}
