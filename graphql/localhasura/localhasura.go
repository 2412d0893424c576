// Package localhasura is a subset of Hasura v2 on SQLite, for development and
// tests. What it answers is what Hasura answers, to the text, code and path of
// its errors; what it cannot do it refuses by name.
//
// The way of a request: metadata and catalog make a schema (a model, and from
// it one schema per role); document validates the request against it; plan and
// mutate write SQL with bound parameters; SQLite answers JSON. The packages
// below are named after these steps.
package localhasura

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql/localhasura/auth"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/store"
	"hasura-storage/graphql/localhasura/triggers"
	"hasura-storage/graphql/localhasura/webhook"
)

// Config says what to serve. Only Metadata is needed.
type Config struct {
	// Metadata is the metadata folder of a Hasura CLI project, config v3: the
	// one that holds version.yaml. Its database connections are ignored. What
	// /v1/metadata changes is in force until Close; a start begins with the
	// folder again.
	Metadata fs.FS
	// Schema is SQLite DDL that runs once, on an empty data folder. The table
	// t of Postgres schema s is named "s.t"; columns have Postgres's types.
	Schema string
	// Migrations is the project's folder: migrations/<db>/<version>_<name>/up.sqlite.sql
	// run once each, in the order of their versions. nil = none.
	Migrations fs.FS
	// Dir keeps the rows and pending deliveries; empty = until Close.
	Dir string
	// Env answers environment variables, those of authentication among them;
	// nil = the process's own.
	Env func(string) string
	// Log gets one line per request; nil logs nothing.
	Log *zap.Logger
	// Now is the clock of SQL's now() and of triggers; nil = the real one.
	Now func() time.Time
	// EventInterval is how often due events are looked for without being
	// woken; 0 = 1 s, as in Hasura.
	EventInterval time.Duration
}

// Server is a running local Hasura.
type Server struct {
	config   Config
	db       *store.DB
	auth     *auth.Authenticator
	caller   *webhook.Caller
	triggers *triggers.Engine
	handler  http.Handler
	state    atomic.Pointer[state]
	applying sync.Mutex // held while metadata changes
	docs     documents
	// stringify is HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES.
	stringify bool
}

// Open starts a server: it opens the database, runs what has not run yet,
// loads the metadata and begins to deliver events. Close it.
func Open(ctx context.Context, config Config) (*Server, error) {
	config.fillIn()
	s := &Server{config: config}
	if err := s.open(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("local Hasura: %w", err)
	}
	s.handler = s.routes()
	s.triggers.Start()
	return s, nil
}

func (c *Config) fillIn() {
	if c.Env == nil {
		c.Env = os.Getenv
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

func (s *Server) open(ctx context.Context) (err error) {
	if s.auth, err = auth.New(s.config.Env); err != nil {
		return err
	}
	if err := refusedSettings(s.config.Env); err != nil {
		return err
	}
	s.stringify = s.config.Env("HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES") == "true"
	md, err := metadata.Load(s.config.Metadata)
	if err != nil {
		return err
	}
	if s.db, err = store.Open(ctx, s.config.Dir, s.config.Now); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	s.caller = webhook.New(s.config.Env)
	s.triggers, err = triggers.Open(ctx, triggers.Options{DB: s.db, Env: s.config.Env, Log: s.config.Log, Now: s.config.Now, Interval: s.config.EventInterval})
	if err != nil {
		return err
	}
	return s.apply(ctx, md)
}

// Close stops deliveries and closes the database.
func (s *Server) Close() error {
	if s.triggers != nil {
		s.triggers.Close()
	}
	if s.caller != nil {
		s.caller.Close()
	}
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// Handler serves Hasura's HTTP endpoints.
func (s *Server) Handler() http.Handler { return s.handler }

// Triggers is the engine of event and cron triggers, for tests that lose,
// repeat or hold back deliveries.
func (s *Server) Triggers() *triggers.Engine { return s.triggers }

// Inconsistent lists the parts of the metadata that do not work.
func (s *Server) Inconsistent() []metadata.InconsistentObject { return s.state.Load().inconsistent }

// Exec runs SQL in one transaction, not through Hasura: no session variables,
// event triggers fire. For set-up by tests and seeds.
func (s *Server) Exec(ctx context.Context, script string) error {
	err := s.db.Write(ctx, "", func(tx *store.Tx) error {
		if err := tx.Script(ctx, script); err != nil {
			return err
		}
		return s.triggers.Flush(ctx, tx)
	})
	s.triggers.Wake()
	return err
}

// Query reads one text by SQL, for assertions of tests; SQL null is "null".
func (s *Server) Query(ctx context.Context, query string, args ...any) (string, error) {
	return s.db.Text(ctx, query, args)
}
