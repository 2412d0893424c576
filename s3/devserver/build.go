// Package devserver builds and runs devs3, the S3 server for development and
// tests, as a child process. devs3 is a Go module of its own, so that its many
// dependencies stay out of the service; it is compiled on first use, by the go
// command, and kept.
//
// [Build] makes the binary, [Start] runs it, [Server.Stop] ends it.
package devserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const moduleLine = "module hasura-storage"

// Build returns the path of a devs3 binary made from the sources of this
// checkout, which it finds from the working directory upwards. The binary lies
// in cacheDir (empty: the user's cache folder) under a name that changes with
// the sources, so a second Build of the same sources starts nothing.
//
// The first one takes about a minute and downloads modules; that is announced
// on notices, which may be nil. Builds of several processes wait for each other.
func Build(ctx context.Context, cacheDir string, notices io.Writer) (string, error) {
	source, err := findSource()
	if err != nil {
		return "", err
	}
	if cacheDir, err = cacheFolder(cacheDir); err != nil {
		return "", err
	}
	sum, err := fingerprint(source)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(cacheDir, "devs3-"+sum+exeSuffix())
	if exists(binary) {
		return binary, nil
	}
	unlock, err := lock(ctx, filepath.Join(cacheDir, "devs3.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(binary) { // another process built it meanwhile
		return binary, nil
	}
	if notices != nil {
		fmt.Fprintln(notices, "Building the local S3 server. The first time takes a minute or two and downloads about 100 MB of Go modules.")
	}
	if err := compile(ctx, source, binary); err != nil {
		return "", err
	}
	prune(cacheDir)
	return binary, nil
}

// kept is how long binaries of other sources stay, since several checkouts may
// share the folder.
const kept = 14 * 24 * time.Hour

// prune removes old binaries, of 30 MB each. What cannot be removed stays.
func prune(cacheDir string) {
	binaries, _ := filepath.Glob(filepath.Join(cacheDir, "devs3-*"))
	for _, binary := range binaries {
		if info, err := os.Stat(binary); err == nil && time.Since(info.ModTime()) > kept {
			_ = os.Remove(binary)
		}
	}
}

// findSource walks up from the working directory to the checkout.
func findSource() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return filepath.Join(dir, "s3", "devs3"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("the sources of the local S3 server are found from inside a checkout of hasura-storage, and %s is in none", start)
		}
	}
}

// isRoot tells whether dir holds the go.mod of the main module. That of devs3
// itself begins alike, so the whole line counts.
func isRoot(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && slices.Contains(strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n"), moduleLine)
}

func cacheFolder(dir string) (string, error) {
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			base = os.TempDir()
		}
		dir = filepath.Join(base, "hasura-storage")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	return dir, nil
}

// fingerprint names what the binary depends on: sources, dependencies, platform.
func fingerprint(source string) (string, error) {
	files, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return "", err
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	files = append(files, filepath.Join(source, "go.mod"), filepath.Join(source, "go.sum"))
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.GOOS, runtime.GOARCH)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("sources of the local S3 server: %w", err)
		}
		fmt.Fprintln(sum, filepath.Base(name), len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// compile runs the go command with flags of our own: what GOFLAGS and GOWORK
// say is meant for the main module. Otherwise it builds as usual, so that the
// standard library need not be compiled a second time.
func compile(ctx context.Context, source, binary string) error {
	unfinished := fmt.Sprintf("%s.%d", binary, os.Getpid())
	defer func() { _ = os.Remove(unfinished) }() // gone already, if all went well
	//nolint:gosec // the arguments are our own
	build := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w", "-o", unfinished, ".")
	build.Dir = source
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	var output bytes.Buffer
	build.Stdout, build.Stderr = &output, &output
	if err := build.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return errors.New("the local S3 server is built on first use, and there is no go command in PATH")
		}
		return fmt.Errorf("build the local S3 server in %s: %w\n%s", source, err, bytes.TrimSpace(output.Bytes()))
	}
	return os.Rename(unfinished, binary)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
