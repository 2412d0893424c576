package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinksInDocuments: each relative link of each document leads somewhere.
func TestLinksInDocuments(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "*.md").Output()
	if err != nil {
		t.Skipf("this is no checkout of git: %v", err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for name := range strings.FieldsSeq(string(out)) {
		path := filepath.Join("../..", name)
		text, err := os.ReadFile(path)
		if err != nil {
			continue // deleted, and not yet committed
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
}
