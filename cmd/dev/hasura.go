package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"hasura-storage/graphql/localhasura"
	metadata "hasura-storage/hasura-metadata"
)

// startHasura runs the local Hasura with our metadata and the starter
// permissions, unless another Hasura is named.
func (s *stack) startHasura(ctx context.Context) error {
	if !s.env.localHasura() {
		return nil
	}
	project, err := metadata.WithStarter()
	if err != nil {
		return err
	}
	tables, err := fs.Sub(project, "metadata")
	if err != nil {
		return err
	}
	server, err := localhasura.Open(ctx, localhasura.Config{
		Metadata: tables, Migrations: project,
		Dir: filepath.Join(s.env.get("DEV_DATA"), "hasura"), Env: s.env.get, Log: s.log.Named("hasura"),
	})
	if err != nil {
		return fmt.Errorf("DEV_DATA=%s: %w", s.env.get("DEV_DATA"), err)
	}
	s.onStop(func() { _ = server.Close() })
	if err := server.Exec(ctx, publicBucket); err != nil {
		return err
	}
	return s.listen(ctx, "DEV_HASURA_ADDR", withPage(server.Handler(), s.env.get("HASURA_GRAPHQL_JWT_SECRET")))
}

// publicBucket is what the starter's seed makes in Postgres: the bucket that
// everybody may read.
const publicBucket = `insert into "storage.buckets" (id) values ('public') on conflict do nothing`

// listen serves handler on the address that the variable name holds.
func (s *stack) listen(ctx context.Context, name string, handler http.Handler) error {
	web, err := serve(ctx, s.env.get(name), handler)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.onStop(web.stop)
	go func() {
		if err := <-web.ended; !errors.Is(err, http.ErrServerClosed) {
			s.broken <- fmt.Errorf("%s: %w", name, err)
		}
	}()
	return nil
}

// web is an HTTP server that runs.
type web struct {
	server *http.Server
	ended  chan error
}

func serve(ctx context.Context, addr string, handler http.Handler) (*web, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	w := &web{
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		ended:  make(chan error, 1),
	}
	go func() { w.ended <- w.server.Serve(listener) }()
	return w, nil
}

// stop lets requests end for a moment, then cuts them.
func (w *web) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if w.server.Shutdown(ctx) != nil {
		_ = w.server.Close()
	}
}

// runHasura is the local Hasura alone, on any metadata and any SQLite schema.
// Its settings are Hasura's own, from the environment, without our defaults.
func runHasura(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("hasura", flag.ContinueOnError)
	folder := flags.String("metadata", "", "folder `DIR` of the metadata, as the Hasura CLI (v3) writes it")
	schema := flags.String("schema", "", "SQLite schema `FILE.sql`, run once on an empty data folder")
	addr := flags.String("addr", "127.0.0.1:8080", "`HOST:PORT` to listen on")
	data := flags.String("data", "", "folder `DIR` of the database; without it everything is in memory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *folder == "" || flags.NArg() > 0 {
		flags.Usage()
		return errors.New("hasura: -metadata is required, and there are no other arguments")
	}
	ddl, err := readSchema(*schema)
	if err != nil {
		return err
	}
	server, err := localhasura.Open(ctx, localhasura.Config{
		Metadata: os.DirFS(*folder), Schema: ddl, Dir: *data, Env: getenv, Log: newLogger(out),
	})
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	return serveUntil(ctx, *addr, server.Handler(), out)
}

func readSchema(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	ddl, err := os.ReadFile(name)
	return string(ddl), err
}

func serveUntil(ctx context.Context, addr string, handler http.Handler, out io.Writer) error {
	web, err := serve(ctx, addr, handler)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	defer web.stop()
	fmt.Fprintf(out, "Hasura (local) at http://%s/v1/graphql\n", reachable(addr))
	select {
	case <-ctx.Done():
		return nil
	case err := <-web.ended:
		return err
	}
}
