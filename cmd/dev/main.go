// Command dev runs the whole of hasura-storage on one machine, for development:
// an S3 server, a local Hasura and the storage service, each on its own port.
// It needs Go and nothing else. Start reading at run and stack.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage:
  dev                                            the whole stack; Ctrl-C ends it
  dev token -user UUID [-role user]              print a JWT for this user
  dev hasura -metadata DIR [-schema FILE.sql] [-addr HOST:PORT] [-data DIR]
                                                 a local Hasura alone, on your own metadata

Settings of the stack, from the environment:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the program at once
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

// run is the whole program: args without the program's name, settings by
// getenv, everything for the reader on out. It returns when ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	ctx, cancel := withParent(ctx)
	defer cancel()
	if len(args) == 0 {
		return runStack(ctx, getenv, out)
	}
	switch args[0] {
	case "token":
		return runToken(args[1:], getenv, out)
	case "hasura":
		return runHasura(ctx, args[1:], getenv, out)
	case "help", "-h", "-help", "--help":
		_, err := fmt.Fprint(out, usage, describeSettings())
		return err
	}
	return fmt.Errorf("unknown command %q\n\n%s", args[0], usage)
}

func or(value, fallback string) string {
	if value != "" {
		return value
	}
	return fallback
}
