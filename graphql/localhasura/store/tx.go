package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Tx is the one transaction that writes at a moment.
type Tx struct{ db *DB }

// Write runs fn in a transaction, alone among writers. session is the JSON text
// of the session variables that triggers may read; empty means that the write
// does not come through Hasura. An error rolls everything back.
func (db *DB) Write(ctx context.Context, session string, fn func(*Tx) error) (err error) {
	select {
	case db.lock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-db.lock }()
	now := db.now()
	db.txTime.Store(&now)
	defer db.txTime.Store(nil)
	// A half-run transaction must end whatever happens to the request.
	ctx = context.WithoutCancel(ctx)
	tx := &Tx{db}
	if err := tx.begin(ctx, session); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			_ = tx.exec(ctx, "ROLLBACK")
			panic(p)
		}
		err = tx.end(ctx, session, err)
	}()
	return fn(tx)
}

func (tx *Tx) begin(ctx context.Context, session string) error {
	if err := tx.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	if session == "" {
		return nil
	}
	if err := tx.exec(ctx, setSession, session); err != nil {
		return tx.end(ctx, "", fmt.Errorf("set the session variables: %w", err))
	}
	return nil
}

const (
	setSession   = `UPDATE "hdb_catalog.hasura_user" SET session = ?`
	clearSession = `UPDATE "hdb_catalog.hasura_user" SET session = NULL`
)

func (tx *Tx) end(ctx context.Context, session string, err error) error {
	if err == nil && session != "" {
		err = tx.exec(ctx, clearSession)
	}
	if err == nil {
		err = tx.exec(ctx, "COMMIT")
	}
	if err != nil {
		_ = tx.exec(ctx, "ROLLBACK") // fails only if SQLite has rolled back itself
	}
	return err
}

func (tx *Tx) exec(ctx context.Context, query string, args ...any) error {
	return tx.db.writes.use(ctx, query, func(s *sql.Stmt) error {
		_, err := s.ExecContext(ctx, args...)
		return err
	})
}

// Text runs a statement that answers one row of one text; null is "null".
func (tx *Tx) Text(ctx context.Context, query string, args []any) (string, error) {
	return oneText(ctx, tx.db.writes, query, args)
}

// Ints runs a statement that answers rows of one integer, such as RETURNING
// rowid.
func (tx *Tx) Ints(ctx context.Context, query string, args []any) ([]int64, error) {
	var all []int64
	err := tx.db.writes.use(ctx, query, func(s *sql.Stmt) error {
		all = nil
		rows, err := s.QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var n int64
			if err := rows.Scan(&n); err != nil {
				return err
			}
			all = append(all, n)
		}
		return rows.Err()
	})
	return all, err
}

// Value runs a statement that answers one row of one value.
func (tx *Tx) Value(ctx context.Context, query string, args ...any) (any, error) {
	var v any
	err := tx.db.writes.use(ctx, query, func(s *sql.Stmt) error {
		return s.QueryRowContext(ctx, args...).Scan(&v)
	})
	return v, err
}

// Script runs statements without parameters, as a migration holds them.
func (tx *Tx) Script(ctx context.Context, script string) error {
	_, err := tx.db.conn.ExecContext(ctx, script)
	tx.db.Forget()
	return err
}

// Exec runs one statement; it returns how many rows it changed.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	var n int64
	err := tx.db.writes.use(ctx, query, func(s *sql.Stmt) error {
		res, err := s.ExecContext(ctx, args...)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	return n, err
}

// QueryContext reads what the transaction sees.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return tx.db.conn.QueryContext(ctx, query, args...)
}

// ExecContext is Exec with the signature of package sql.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return tx.db.conn.ExecContext(ctx, query, args...)
}

// Forget drops prepared statements; needed after a change of the schema only
// to free what names things that are gone.
func (db *DB) Forget() {
	db.reads.clear()
	db.writes.clear()
}
