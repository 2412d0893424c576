package devserver

import "syscall"

// childAttributes let the kernel tell the child when this process dies, even by
// a kill, besides the end of its standard input. It is told politely, so that
// it can still remove its scratch folder. The process group keeps the
// terminal's Ctrl-C away from it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
