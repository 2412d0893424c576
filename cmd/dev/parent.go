package main

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"time"
)

// withParent returns a context that also ends when `go run` does. On SIGTERM
// `go run` ends without telling the program it started, which would go on alone.
// A parent that is anything else may end as it likes: nohup must keep working.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	name, err := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/comm")
	if err != nil || string(bytes.TrimSpace(name)) != "go" {
		return ctx, cancel
	}
	go func() {
		for os.Getppid() == parent && ctx.Err() == nil {
			time.Sleep(200 * time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}
