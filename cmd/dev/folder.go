package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// lockFolder makes the folder and keeps it for this process alone: two stacks
// on one folder would deliver each event twice. The kernel gives the lock back
// even when the process is killed.
func lockFolder(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, errors.New("another stack uses this folder: stop it, or name another folder")
	}
	return func() { _ = file.Close() }, nil
}
