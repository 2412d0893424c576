// Command hasura-storage serves files for Hasura.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"hasura-storage/cmd/hasura-storage/service"
)

const usage = `usage:
  hasura-storage [serve]                          the service; settings come from the environment
  hasura-storage metadata export [-starter] DIR   write the Hasura project into DIR: metadata and
                                                  migrations; -starter adds permissions to begin with
  hasura-storage metadata apply [-starter]        add to the Hasura at HASURA_ENDPOINT what it lacks of
                                                  the project; what it has stays as it is
  hasura-storage metadata diff [-starter]         say what apply would add, and change nothing
  hasura-storage doctor                           try out Hasura, the store and the rest as the settings say:
                                                  one line for each finding, exit code 1 if something is broken
  hasura-storage ops rollback-keys [-apply]       for a return to nhost's hasura-storage: copy objects back
                                                  to where it looks for them; without -apply only say which
  hasura-storage health                           exit code 1 if the service at BIND on this machine does not
                                                  answer: for the health check of a container
  hasura-storage settings                         the table of settings, in Markdown
  hasura-storage version

Each setting is a flag too, which wins over the environment: S3_ENDPOINT=minio:9000 is --s3-endpoint minio:9000
or --s3-endpoint=minio:9000, and DEBUG=true is --debug.
`

// errUsage ends with the usage, since the command line is wrong.
var errUsage = errors.New("the command line is wrong")

func main() { os.Exit(program()) }

// program returns the exit code.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "hasura-storage:", err)
	if errors.Is(err, errUsage) {
		fmt.Fprint(os.Stderr, "\n", usage)
		return 2
	}
	return 1
}

// run is the whole program: args without the program's name, what is for the
// reader on out.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	line, err := parse(args, getenv)
	if err != nil {
		return err
	}
	args, getenv = line.args, line.getenv
	switch line.command {
	case "serve":
		log := service.Logger(getenv)
		defer func() { _ = log.Sync() }()
		return service.Run(ctx, getenv, log, nil)
	case "metadata":
		return runMetadata(ctx, args, getenv, out)
	case "ops":
		return runOps(ctx, args, getenv, out)
	case "doctor":
		return service.Doctor(ctx, getenv, out)
	case "health":
		return service.Health(ctx, getenv)
	case "settings":
		return write(out, service.SettingsTable())
	case "version":
		return write(out, service.Version()+"\n")
	case "help":
		return write(out, usage)
	}
	return fmt.Errorf("%w: there is no command %q", errUsage, bare(line.command))
}

func write(out io.Writer, text string) error {
	_, err := io.WriteString(out, text)
	return err
}
