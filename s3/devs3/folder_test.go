package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSweepRemovesWhatAKillLeft(t *testing.T) {
	dir := t.TempDir()
	keep := []string{"b/object", "b/.hidden", "b/.sgwtmp/multipart/abc/upload/1", "b/a.sgwtmp.x", "b/.a.sgwtmp.12b"}
	gone := []string{"b/.object.sgwtmp.1733000000000000000", "b/deep/er/.o.sgwtmp.7", "b/.sgwtmp/0123abcd.4711"}
	for _, name := range append(keep, gone...) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := sweep(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range keep {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone", name)
		}
	}
	for _, name := range gone {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

func TestOneServerToAFolder(t *testing.T) {
	dir := t.TempDir()
	release, err := prepare(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(dir); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("a second server gets %v", err)
	}
	release()
	release, err = prepare(dir)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestAFilesystemWithoutAttributesIsNamed(t *testing.T) {
	err := checkAttributes("/proc/self/comm")
	if err == nil || !strings.Contains(err.Error(), "no user extended attributes") {
		t.Fatalf("got %v", err)
	}
}
