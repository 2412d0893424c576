package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"

	"go.uber.org/zap"

	"hasura-storage/cmd/hasura-storage/service"
	"hasura-storage/s3"
	"hasura-storage/s3/devserver"
)

// parts that run at once: the store, Hasura, the service.
const parts = 3

// stack is what runs: parts start in order and stop in the reverse order.
type stack struct {
	env  *environment
	out  io.Writer
	log  *zap.Logger
	stop []func()
	// broken receives the first error of a part that ended by itself.
	broken chan error
}

// runStack starts all parts, says where they are, and stops them when ctx ends
// or a part breaks.
func runStack(ctx context.Context, getenv func(string) string, out io.Writer) error {
	env, err := newEnvironment(getenv)
	if err != nil {
		return err
	}
	s := &stack{env: env, out: out, log: newLogger(out), broken: make(chan error, parts)}
	defer s.close()
	for _, start := range []func(context.Context) error{
		s.prepare, s.startStore, s.startHasura, s.startService,
	} {
		if err := start(ctx); err != nil {
			if ctx.Err() != nil {
				return nil // interrupted while it started: not a failure
			}
			return err
		}
	}
	s.announce()
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.broken:
		return err
	}
}

func (s *stack) close() {
	for _, stop := range slices.Backward(s.stop) {
		stop()
	}
}

func (s *stack) onStop(f func()) { s.stop = append(s.stop, f) }

// prepare finds out what cannot work before anything is started.
func (s *stack) prepare(ctx context.Context) error {
	release, err := lockFolder(s.env.get("DEV_DATA"))
	if err != nil {
		return fmt.Errorf("DEV_DATA=%s: %w", s.env.get("DEV_DATA"), err)
	}
	s.onStop(release)
	names := []string{"BIND"}
	if s.env.localHasura() {
		names = append(names, "DEV_HASURA_ADDR")
	}
	if s.env.localStore() {
		names = append(names, "DEV_S3_ADDR")
	}
	for _, name := range names {
		if err := s.probe(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// probe tries the address that the variable name holds.
func (s *stack) probe(ctx context.Context, name string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.env.get(name))
	if err != nil {
		return fmt.Errorf("%s: %w: set %s to another address, or stop what listens there", name, err, name)
	}
	return listener.Close()
}

// startStore runs the S3 server, unless another store is named, and makes the bucket.
func (s *stack) startStore(ctx context.Context) error {
	if !s.env.localStore() {
		return nil
	}
	binary, err := devserver.Build(ctx, "", s.out)
	if err != nil {
		return err
	}
	// The store ends after the service, which still writes while it stops: by
	// close and not with ctx.
	server, err := devserver.Start(context.WithoutCancel(ctx), devserver.Config{
		Binary: binary, Addr: s.env.get("DEV_S3_ADDR"), Dir: filepath.Join(s.env.get("DEV_DATA"), "s3"),
		AccessKey: s.env.get("S3_ACCESS_KEY"), SecretKey: s.env.get("S3_SECRET_KEY"),
		Region: s.env.get("S3_REGION"), Stdout: s.out,
	})
	if err != nil {
		return err
	}
	s.onStop(server.Stop)
	go func() {
		<-server.Done()
		s.broken <- errors.New("the S3 server ended") // nobody reads it while all is stopping
	}()
	return s.makeBucket(ctx)
}

func (s *stack) makeBucket(ctx context.Context) error {
	store, err := s3.New(s3.Options{
		Endpoint: s.env.get("S3_ENDPOINT"), Region: s.env.get("S3_REGION"), Bucket: s.env.get("S3_BUCKET"),
		AccessKey: s.env.get("S3_ACCESS_KEY"), SecretKey: s.env.get("S3_SECRET_KEY"), Insecure: true,
	})
	if err != nil {
		return err
	}
	return store.CreateBucket(ctx)
}

// startService runs the storage service as its own program would run it.
func (s *stack) startService(ctx context.Context) error {
	// The service must end before Hasura and the store do, so it does not see
	// ctx but a context that close cancels.
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- service.Run(inner, s.env.get, s.log, ready) }()
	select {
	case <-ready:
	case err := <-ended:
		cancel()
		return errors.Join(errors.New("the storage service ended"), err)
	case <-ctx.Done():
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if err := <-ended; inner.Err() == nil {
			s.broken <- errors.Join(errors.New("the storage service ended"), err)
		}
	}()
	s.onStop(func() { cancel(); <-finished })
	return ctx.Err()
}
