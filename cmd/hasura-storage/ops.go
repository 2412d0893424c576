package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"hasura-storage/cmd/hasura-storage/service"
)

// runOps is the commands for whoever runs the service: rollback-keys.
func runOps(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: ops needs rollback-keys", errUsage)
	}
	flags := flag.NewFlagSet("ops "+args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	apply := flags.Bool("apply", false, "")
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	switch {
	case args[0] != "rollback-keys":
		return fmt.Errorf("%w: ops has no command %q", errUsage, bare(args[0]))
	case flags.NArg() > 0:
		return fmt.Errorf("%w: ops %s takes no argument such as %q", errUsage, bare(args[0]), bare(flags.Arg(0)))
	}
	return rollbackKeys(ctx, getenv, *apply, out)
}

// rollbackKeys tells of each file as it is dealt with. It fails if one had to
// be left.
func rollbackKeys(ctx context.Context, getenv func(string) string, apply bool, out io.Writer) error {
	log := service.Logger(getenv)
	defer func() { _ = log.Sync() }()
	storage, err := service.Storage(getenv, log)
	if err != nil {
		return err
	}
	files, did := storage.ListKeyRollbacks(ctx), "would go back (-apply does it)"
	if apply {
		files, did = storage.RollbackKeys(ctx), "went back"
	}
	moved, left := 0, 0
	for f, failed := range files {
		if err = failed; err != nil {
			break
		}
		line := fmt.Sprintf("%s -> %s\n", f.From, f.To)
		if f.Left == "" {
			moved++
		} else {
			left++
			line = fmt.Sprintf("! %s stays: %s\n", f.From, f.Left)
		}
		if err = write(out, line); err != nil {
			break
		}
	}
	if left > 0 {
		err = errors.Join(err, fmt.Errorf("%d files stay where they are", left))
	}
	return errors.Join(err, write(out, fmt.Sprintf("%s: %d files\n", did, moved)), storage.Close(context.WithoutCancel(ctx)))
}
