// Package migrate brings a Postgres database to the schema that this version
// of the service needs. Start at Up.
//
// It does what the Hasura CLI would do with the project's migrations, for
// deployments that let the service do it when it starts. Both may be used on
// the same database, in any order: every step can run again.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	metadata "hasura-storage/hasura-metadata"
)

// ErrNewer says that a later version of the service has migrated the database.
// Nothing was changed.
var ErrNewer = errors.New("the database is newer than this program")

// ErrDirty says that the former service's migration stopped half way. Nothing
// was changed.
var ErrDirty = errors.New("storage.schema_migrations is dirty: let hasura-storage finish the migration that it began, or clear the mark, then start again")

const (
	defaultPatience = 5 * time.Minute
	defaultPause    = 3 * time.Second
	connectTime     = 10 * time.Second // for one address
	goodbye         = 5 * time.Second

	// turnTime is how long a step waits for another instance that migrates.
	turnTime = "60s"
	// tableTime is how long it waits for a table. While it waits, everybody who
	// comes later waits behind it, so it gives up soon and tries again.
	tableTime = "5s"
)

// Options say what to migrate.
type Options struct {
	Source   string        // connection string, as a URL or as keywords; see Check
	Patience time.Duration // no try begins after it; default 5 minutes
	Pause    time.Duration // between two tries; default 3 s
	Log      *zap.Logger   // gets each new reason why it has to wait; nil logs nothing
}

// Up applies the steps that the database lacks, each in one transaction, and
// returns how many. Several may call it at once: a lock in the database lets
// one work at a time.
//
// It waits for a database that cannot be reached, or whose tables others hold,
// as long as Options.Patience; a step that has begun is not cut. The error is
// [ErrNewer], [ErrDirty], or says which step failed and why; the steps before
// that one stay.
func Up(ctx context.Context, o Options) (int, error) {
	config, err := parse(o.Source)
	if err != nil {
		return 0, err
	}
	steps, err := metadata.Migrations()
	if err != nil {
		return 0, err
	}
	m := &migrator{config: config, steps: steps, pause: o.Pause, log: o.Log}
	if m.pause <= 0 {
		m.pause = defaultPause
	}
	if m.log == nil {
		m.log = zap.NewNop()
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	err = m.patiently(ctx, o.Patience)
	return m.applied, err
}

// migrator is one call of Up.
type migrator struct {
	config  *pgx.ConnConfig
	steps   []metadata.Migration
	pause   time.Duration
	log     *zap.Logger
	applied int
}

// newest is the version of the schema that this program makes.
func (m *migrator) newest() int { return len(m.steps) }

func (m *migrator) patiently(ctx context.Context, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	said := ""
	for {
		err := m.try(ctx)
		if err == nil || !passing(err) || ctx.Err() != nil {
			return err
		}
		if time.Now().Add(m.pause).After(deadline) {
			return fmt.Errorf("given up after %s: %w", patience, err)
		}
		if reason := err.Error(); reason != said {
			said = reason
			m.log.Warn("the database cannot be migrated yet", zap.String("error", reason))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(m.pause):
		}
	}
}

func (m *migrator) try(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, m.config.Copy())
	if err != nil {
		return &unreachableError{err}
	}
	defer hangUp(ctx, conn)
	version, err := m.version(ctx, conn)
	if err != nil || version == m.newest() {
		return err
	}
	for _, step := range m.steps {
		if err := m.apply(ctx, conn, step); err != nil {
			return err
		}
	}
	return nil
}

func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = conn.Close(ctx)
}
