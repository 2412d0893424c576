package migrate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	metadata "hasura-storage/hasura-metadata"
)

// lockKey is the advisory lock of all instances that migrate one database.
const lockKey = 0x68617375_73746f72

// apply runs one step, unless another instance has done so meanwhile.
func (m *migrator) apply(ctx context.Context, conn *pgx.Conn, step metadata.Migration) error {
	ran := false
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := takeTurn(ctx, tx); err != nil {
			return err
		}
		version, err := m.version(ctx, tx)
		if err != nil || version >= step.Number {
			return err
		}
		if err := clean(ctx, tx); err != nil {
			return err
		}
		ran = true
		return perform(ctx, tx, step)
	})
	if err != nil {
		return fmt.Errorf("migration %d_%s: %w", step.Version, step.Name, err)
	}
	if ran {
		m.applied++
		m.log.Info("migrated the database", zap.String("migration", step.Name), zap.Int("version", step.Number))
	}
	return nil
}

// takeTurn waits for the lock, which ends with the transaction: so it works
// through poolers that hand out connections by transaction.
func takeTurn(ctx context.Context, tx pgx.Tx) error {
	for _, statement := range []string{
		"set local statement_timeout = 0", // a large table takes its time
		"set local lock_timeout = '" + turnTime + "'",
		fmt.Sprintf("select pg_advisory_xact_lock(%d)", int64(lockKey)),
		"set local lock_timeout = '" + tableTime + "'",
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// perform runs the step's statements. A step that does not say that it ran
// would run again at every start.
func perform(ctx context.Context, tx pgx.Tx, step metadata.Migration) error {
	if _, err := tx.Exec(ctx, step.Up); err != nil {
		return err
	}
	version, err := schemaVersion(ctx, tx)
	if err == nil && version < step.Number {
		err = fmt.Errorf("the schema is at version %d after step %d", version, step.Number)
	}
	return err
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// version is the schema's version, which must not be beyond what we know.
func (m *migrator) version(ctx context.Context, db querier) (int, error) {
	version, err := schemaVersion(ctx, db)
	if err == nil && version > m.newest() {
		return 0, fmt.Errorf("%w: its storage schema has version %d, this program knows versions up to %d; nothing was changed", ErrNewer, version, m.newest())
	}
	return version, err
}

// schemaVersion is 0 for a database that no version of ours has migrated.
func schemaVersion(ctx context.Context, db querier) (version int, err error) {
	has, err := exists(ctx, db, "hasura_storage_version")
	if err != nil || !has {
		return 0, err
	}
	err = db.QueryRow(ctx, "select coalesce(max(version), 0) from storage.hasura_storage_version").Scan(&version)
	return version, err
}

// clean refuses a database that the former service left half migrated. Its
// table is read alone.
func clean(ctx context.Context, db querier) error {
	has, err := exists(ctx, db, "schema_migrations")
	if err != nil || !has {
		return err
	}
	var dirty bool
	err = db.QueryRow(ctx, "select coalesce(bool_or(dirty), false) from storage.schema_migrations").Scan(&dirty)
	if err == nil && dirty {
		err = ErrDirty
	}
	return err
}

// exists reads the catalog as a table. to_regclass would not do: it asks a
// cache that, after the wait for the lock, does not yet know what the instance
// before us has made.
func exists(ctx context.Context, db querier, table string) (has bool, err error) {
	err = db.QueryRow(ctx, "select exists (select from pg_tables where schemaname = 'storage' and tablename = $1)", table).Scan(&has)
	return has, err
}
