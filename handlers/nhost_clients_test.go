package handlers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nhost's storage clients come from npm as they are: every method of theirs works.
func TestTheClientsOfNhost(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "nhost"))); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	s := startREST(t, nil)
	token := strings.TrimPrefix(tokenFor(ownerID, time.Hour), "Bearer ")
	run("node", "clients.mjs", s.URL, stackSecret, token)
	s.settled(t, 5) // two of them pictures
}
