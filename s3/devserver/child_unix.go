//go:build unix && !linux

package devserver

import "syscall"

// childAttributes keep the terminal's Ctrl-C away from the child. It ends when
// its standard input does.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
