//go:build !unix

package devserver

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
