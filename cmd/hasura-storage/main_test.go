package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func noEnv(string) string { return "" }

func TestCommands(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		out  string
		err  string
	}{
		"help":                        {[]string{"help"}, "usage:", ""},
		"version":                     {[]string{"version"}, "\n", ""},
		"settings":                    {[]string{"settings"}, "| `HASURA_ENDPOINT` |", ""},
		"serving without settings":    {nil, "", "HASURA_ENDPOINT is required"},
		"a command nobody knows":      {[]string{"fly"}, "", `there is no command "fly"`},
		"a stray argument":            {[]string{"serve", "now"}, "", `takes no argument such as "now"`},
		"metadata without a verb":     {[]string{"metadata"}, "", "needs export, apply or diff"},
		"metadata with a wrong verb":  {[]string{"metadata", "drop"}, "", `metadata has no command "drop"`},
		"applying to where":           {[]string{"metadata", "apply"}, "", "HASURA_ENDPOINT is required\nHASURA_GRAPHQL_ADMIN_SECRET is required"},
		"comparing with what":         {[]string{"metadata", "diff"}, "", "HASURA_ENDPOINT is required"},
		"comparing with a folder":     {[]string{"metadata", "diff", "dir"}, "", `takes no argument such as "dir"`},
		"ops without a verb":          {[]string{"ops"}, "", "ops needs rollback-keys"},
		"ops with a wrong verb":       {[]string{"ops", "roll"}, "", `ops has no command "roll"`},
		"a rollback of one file":      {[]string{"ops", "rollback-keys", "id"}, "", `takes no argument such as "id"`},
		"a rollback with no settings": {[]string{"ops", "rollback-keys"}, "", "HASURA_ENDPOINT is required"},
		"the health of nobody":        {[]string{"health", "--bind", "127.0.0.1:1"}, "", "the service does not answer"},
		"an export to nowhere":        {[]string{"metadata", "export"}, "", "takes one folder"},
		"an export with a wrong flag": {[]string{"metadata", "export", "-x", "d"}, "", "there is no flag -x"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := run(t.Context(), tc.args, noEnv, &out)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("err = %v, want %q", err, tc.err)
			}
			if !strings.Contains(out.String(), tc.out) {
				t.Errorf("out = %q, want %q in it", out.String(), tc.out)
			}
		})
	}
}

func TestExport(t *testing.T) {
	for name, args := range map[string][]string{"plain": nil, "with permissions to begin with": {"-starter"}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "project")
			var out strings.Builder
			args := append(append([]string{"metadata", "export"}, args...), dir)
			if err := run(t.Context(), args, noEnv, &out); err != nil {
				t.Fatal(err)
			}
			table, err := os.ReadFile(filepath.Join(dir, "metadata/databases/default/tables/storage_files.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Contains(string(table), "insert_permissions"), len(args) == 4; got != want {
				t.Errorf("permissions in the table file: %v, want %v", got, want)
			}
			if twins, _ := filepath.Glob(filepath.Join(dir, "migrations/default/*/*.sqlite.sql")); twins != nil {
				t.Errorf("exported %s", twins)
			}
			ups, _ := filepath.Glob(filepath.Join(dir, "migrations/default/*/up.sql"))
			if len(ups) == 0 {
				t.Error("no migration was exported")
			}
		})
	}
}

func TestExportReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"metadata", "export", dir}, noEnv, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "config.yaml is there already") || errors.Is(err, errUsage) {
		t.Errorf("err = %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
}
