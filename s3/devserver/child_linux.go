package devserver

import "syscall"

// childAttributes let the kernel end the child when this process dies, even by
// a kill and even if the child no longer reads its standard input.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
