// Command bench measures the storage service beside floors: servers that do as
// little as net/http allows for the same bytes. It starts everything itself,
// each part as a process of its own, so that the service's processor time and
// memory can be read alone. Start reading at run and measureAll.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: bench            measures; settings come from the environment:
`

// errUsage ends with the usage, since the command line is wrong.
var errUsage = errors.New("the command line is wrong")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	if errors.Is(err, errUsage) {
		fmt.Fprint(os.Stderr, usage, describeSettings())
	}
	os.Exit(1)
}

// parts are what this program also is: each runs as a child of the first.
var parts = map[string]func(ctx context.Context, args []string) error{
	"backends": runBackends,
	"floor":    runFloor,
	"load":     runLoad,
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		part, known := parts[args[0]]
		if !known {
			return fmt.Errorf("%w: there is no part %q", errUsage, args[0])
		}
		return part(ctx, args[1:])
	}
	s, err := readSettings(os.Getenv)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if s.target != "" {
		return benchTarget(ctx, s)
	}
	return benchStack(ctx, s)
}
