// Command devs3 is an S3 server on a folder, for development and tests.
//
// It is versitygw with its POSIX backend: real signatures, checksums and
// conditional requests, every object a plain file. Version 1.8.0 has faults
// that would make tests lie; each file here cures some of them and says which.
// It listens in the clear and keeps one account: it is not for production.
//
//	devs3 -addr 127.0.0.1:9000 -dir /path/to/data
//
// The keys come from DEVS3_ACCESS_KEY and DEVS3_SECRET_KEY, since arguments
// can be read by every user of the machine. When it is ready it prints one
// line, "listening on HOST:PORT".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "devs3:", err)
		os.Exit(1)
	}
}

// settings are what the command line and the environment say.
type settings struct {
	addr, dir, region    string
	accessKey, secretKey string
	withParent, scratch  bool
}

// run serves until a signal comes or, with -with-parent, standard input ends.
func run(args []string, getenv func(string) string, stdin io.Reader, stdout io.Writer) error {
	set, err := parse(args, getenv)
	if err != nil {
		return err
	}
	// A parent that is gone reads no output; there is still a folder to remove.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop() // last, since a signal after it kills
	release, err := prepare(set.dir)
	if err != nil {
		return err
	}
	defer release()
	if set.scratch {
		defer os.RemoveAll(set.dir)
	}
	if set.withParent {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		go func() {
			_, _ = io.Copy(io.Discard, stdin) // until the parent is gone
			cancel()
		}()
	}
	return serveUntil(ctx, set, stdout)
}

// linger is how long running requests get after the end was asked for. Files
// appear whole or not at all, so nothing is lost by leaving then.
const linger = 300 * time.Millisecond

func serveUntil(ctx context.Context, set settings, stdout io.Writer) error {
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, set, stdout) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// The gateway waits ten seconds for idle connections, so it is not waited for.
	select {
	case <-ended:
	case <-time.After(linger):
	}
	return nil
}

func parse(args []string, getenv func(string) string) (settings, error) {
	set := settings{accessKey: getenv("DEVS3_ACCESS_KEY"), secretKey: getenv("DEVS3_SECRET_KEY")}
	flags := flag.NewFlagSet("devs3", flag.ContinueOnError)
	flags.StringVar(&set.addr, "addr", "127.0.0.1:9000", "`host:port` to listen on")
	flags.StringVar(&set.dir, "dir", "", "data `folder`, made if it is missing")
	flags.StringVar(&set.region, "region", "us-east-1", "`name` of the region that signatures must carry")
	flags.BoolVar(&set.scratch, "scratch", false, "remove the data folder at the end")
	flags.BoolVar(&set.withParent, "with-parent", false, "end when standard input does")
	if err := flags.Parse(args); err != nil {
		return set, err
	}
	if set.dir == "" {
		return set, errors.New("-dir must name the data folder")
	}
	if set.accessKey == "" || set.secretKey == "" {
		return set, errors.New("DEVS3_ACCESS_KEY and DEVS3_SECRET_KEY must be set")
	}
	// The gateway changes the working directory.
	var err error
	set.dir, err = filepath.Abs(set.dir)
	return set, err
}
