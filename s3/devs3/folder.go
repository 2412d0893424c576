package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/pkg/xattr"
)

// What stands in a data folder. The gateway wants old versions outside of the
// buckets' folder.
const (
	lockName     = "lock"
	bucketsName  = "buckets"
	versionsName = "versions"
)

// prepare makes the data folder ready for one server and returns what gives
// it free again.
func prepare(dir string) (release func(), err error) {
	for _, name := range []string{bucketsName, versionsName} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
	}
	release, err = lock(dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkAttributes(filepath.Join(dir, lockName)), sweep(dir)); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// flock waits a moment for a server that was killed and is not quite gone.
func flock(file *os.File) (err error) {
	for range 20 {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// lock keeps a second server away from the folder. The kernel drops it with
// the process, however that ends.
func lock(dir string) (func(), error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := flock(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("data folder %s is in use by another devs3", dir)
	}
	return func() { file.Close() }, nil
}

// checkAttributes writes an extended attribute, where content types, ETags and
// checksums are kept. Keeping them in files beside the objects would let the
// two disagree after a crash.
func checkAttributes(path string) error {
	const name = "user.devs3.check"
	if err := xattr.Set(path, name, []byte("1")); err != nil {
		return fmt.Errorf("the filesystem of %s has no user extended attributes, which devs3 keeps metadata in; "+
			"use a folder on ext4, xfs, btrfs or a recent tmpfs (%w)", filepath.Dir(path), err)
	}
	return xattr.Remove(path, name)
}

// leftover is the name that an object has for a moment while it replaces
// another. A kill in that moment leaves it, and listings would show it.
var leftover = regexp.MustCompile(`^\..+\.sgwtmp\.\d+$`)

// gatewayFolder holds, in folders, the parts of unfinished uploads, which stay,
// and on filesystems without unnamed files, beside them, what was being
// written, which is of no use to anybody after a kill.
const gatewayFolder = ".sgwtmp"

// sweep removes what a killed server left half done.
func sweep(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
		inGateway := filepath.Base(filepath.Dir(path)) == gatewayFolder
		switch {
		case entry.IsDir() && inGateway:
			return fs.SkipDir
		case entry.Type().IsRegular() && (inGateway || leftover.MatchString(entry.Name())):
			return os.Remove(path)
		}
		return nil
	})
}
