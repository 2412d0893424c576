package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"hasura-storage/graphql/localhasura"
	metadata "hasura-storage/hasura-metadata"
)

// runningHasura is a Hasura that serves a project of hasura-storage's. It
// returns the environment of the commands.
func runningHasura(t *testing.T, knowing map[string]string) func(string) string {
	t.Helper()
	url := startHasura(t, localhasura.Config{
		Metadata: os.DirFS("project/testdata/nhost"), Migrations: metadata.Project(),
		Env: func(name string) string { return knowing[name] },
	})
	env := map[string]string{"HASURA_ENDPOINT": url, "HASURA_GRAPHQL_ADMIN_SECRET": knowing["HASURA_GRAPHQL_ADMIN_SECRET"]}
	return func(name string) string { return env[name] }
}

func TestMetadataByHand(t *testing.T) {
	env := runningHasura(t, map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": "x", "HASURA_STORAGE_URL": "http://s:1", "HASURA_STORAGE_SECRET": "s"})
	for _, step := range []struct{ command, says, silent string }{
		{"diff", "+ track storage.uploads\n", "Hasura has all"},
		{"diff", "+ add the action storageDownload\n", "! "}, // the first changed nothing
		{"apply", "+ name the new columns of storage.files\n", "! "},
		{"apply", "Hasura has all of it\n", "+ "},
		{"diff", "Hasura has all of it\n", "+ "},
		{"apply -starter", "! storage.files was tracked already: it gets no permission to begin with\n", "+ "},
	} {
		var out strings.Builder
		if err := run(t.Context(), append([]string{"metadata"}, strings.Fields(step.command)...), env, &out); err != nil {
			t.Fatalf("%s: %v", step.command, err)
		}
		if !strings.Contains(out.String(), step.says) || strings.Contains(out.String(), step.silent) {
			t.Errorf("%s says %s, want %q and not %q", step.command, out.String(), step.says, step.silent)
		}
	}
}

func TestApplyingToAHasuraThatLacksTheVariables(t *testing.T) {
	env := runningHasura(t, map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": "x"})
	var out strings.Builder
	err := run(t.Context(), []string{"metadata", "apply"}, env, &out)
	if err == nil || errors.Is(err, errUsage) || !strings.Contains(err.Error(), "Hasura lacks HASURA_STORAGE_") {
		t.Errorf("err = %v", err)
	}
	if !strings.Contains(out.String(), "+ track storage.garbage") || strings.Contains(out.String(), "action") {
		t.Errorf("out = %s", out.String())
	}
}
