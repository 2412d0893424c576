package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPageInBrowser uses the page as a person would: upload, look, change, be
// somebody else, delete.
func TestPageInBrowser(t *testing.T) {
	for _, tool := range []string{"chromium", "node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), "npm", "install", "--no-save", "--no-audit", "--no-fund", "playwright-core@1.64.1")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}
	script, err := os.ReadFile("testdata/page.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "page.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	chromium, _ := exec.LookPath("chromium")
	stack := startStack(t, t.TempDir())
	visit := exec.CommandContext(t.Context(), "node", "page.mjs", "http://"+stack.hasura+"/",
		abs(t, "../../actions/images/testdata/photo_12mp.jpg"), chromium, os.Getenv("DEV_PAGE_SCREENSHOT"))
	visit.Dir = dir
	if out, err := visit.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nthe stack said\n%s", err, out, stack.output)
	}
}
