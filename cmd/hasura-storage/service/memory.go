package service

import (
	"io/fs"
	"runtime/debug"
	"strconv"
	"strings"

	"go.uber.org/zap"
)

// limits are where a container's memory limit stands, for versions 2 and 1 of
// Linux' control groups.
var limits = []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"}

// headroom is memory that is set aside and never touched, so it is never really
// there; the garbage collector, which lets the heap double, counts it. Without it
// a heap of four megabytes is collected ten times a second, which costs every
// twentieth cycle of a download. Beside full caches it is next to nothing.
const headroom = 8 << 20

// boundMemory tells the garbage collector of the container's limit, so that it
// works harder before the kernel kills. GOMEMLIMIT, where set, is obeyed instead.
func (c *config) boundMemory(root fs.FS, log *zap.Logger) {
	if c.memoryGiven {
		return
	}
	if limit := memoryLimit(root); limit > 0 {
		soft := limit / 10 * 9 // the rest is for stacks of the kernel's side and the binary itself
		debug.SetMemoryLimit(soft)
		log.Debug("memory is limited", zap.Int64("container", limit), zap.Int64("heap", soft))
	}
}

// memoryLimit is in bytes; 0 where there is none.
func memoryLimit(root fs.FS) int64 {
	const unlimited = 1 << 60 // version 1 writes a number near the largest
	for _, name := range limits {
		content, err := fs.ReadFile(root, name)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil || n <= 0 || n >= unlimited {
			return 0 // "max"
		}
		return n
	}
	return 0
}
