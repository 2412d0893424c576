// Package store keeps the rows in one SQLite file: one connection writes,
// several read beside it (WAL). It gives SQLite the Postgres functions and
// operators that it lacks, and reads its errors as Postgres's.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

const (
	fileName = "hasura.db"
	readers  = 4
)

// DB is an open database.
type DB struct {
	read    *sql.DB
	write   *sql.DB
	conn    *sql.Conn // the only connection of write
	lock    chan struct{}
	now     func() time.Time
	txTime  atomic.Pointer[time.Time]
	reads   *statements
	writes  *statements
	scratch string // a folder to remove on Close
}

// Open opens or creates hasura.db in a folder. An empty folder name means a
// database that is gone after Close. now is the clock of SQL's now().
func Open(ctx context.Context, dir string, now func() time.Time) (*DB, error) {
	db := &DB{lock: make(chan struct{}, 1), now: now}
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "localhasura-"); err != nil {
			return nil, fmt.Errorf("make a folder for a passing database: %w", err)
		}
		db.scratch = dir
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	// In a file URI the first part of a relative path would be a host.
	file, err := filepath.Abs(filepath.Join(dir, fileName))
	if err == nil {
		err = db.open(ctx, file)
	}
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, fileName), err)
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, file string) error {
	d := &sqlite.Driver{}
	if err := db.register(d); err != nil {
		return err
	}
	sync := "NORMAL"
	if db.scratch != "" {
		sync = "OFF"
	}
	// The writer comes first: it makes the file a WAL database.
	db.write = sql.OpenDB(connector{d, dsn(file, sync, false)})
	db.write.SetMaxOpenConns(1)
	var err error
	if db.conn, err = db.write.Conn(ctx); err != nil {
		return err
	}
	db.read = sql.OpenDB(connector{d, dsn(file, sync, true)})
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	db.reads = newStatements(db.read.PrepareContext)
	db.writes = newStatements(db.conn.PrepareContext)
	return nil
}

func dsn(file, sync string, readOnly bool) string {
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(" + sync + ")", "foreign_keys(1)", "cache_size(-16000)"}}
	if readOnly {
		q.Set("_query_only", "1")
	}
	u := url.URL{Scheme: "file", Path: file, RawQuery: q.Encode()}
	return u.String()
}

type connector struct {
	driver *sqlite.Driver
	dsn    string
}

// Connect opens a connection.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver is part of driver.Connector.
func (c connector) Driver() driver.Driver { return c.driver }

// Close closes all connections.
func (db *DB) Close() error {
	var errs []error
	if db.read != nil {
		db.reads.clear()
		errs = append(errs, db.read.Close())
	}
	if db.conn != nil {
		if db.writes != nil {
			db.writes.clear()
		}
		errs = append(errs, db.conn.Close())
	}
	if db.write != nil {
		errs = append(errs, db.write.Close())
	}
	if db.scratch != "" {
		errs = append(errs, os.RemoveAll(db.scratch))
	}
	return errors.Join(errs...)
}

// Text runs a statement that answers one row of one text; null is "null".
func (db *DB) Text(ctx context.Context, query string, args []any) (string, error) {
	return oneText(ctx, db.reads, query, args)
}

func oneText(ctx context.Context, cache *statements, query string, args []any) (string, error) {
	var text sql.NullString
	err := cache.use(ctx, query, func(s *sql.Stmt) error {
		err := s.QueryRowContext(ctx, args...).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || !text.Valid {
		return "null", err
	}
	return text.String, nil
}

// QueryContext reads with the readers; it suits catalog.Read.
func (db *DB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return db.read.QueryContext(ctx, query, args...)
}

// maxStatements bounds a cache of prepared statements.
const maxStatements = 512

// statements caches prepared statements by their text.
type statements struct {
	prepare func(context.Context, string) (*sql.Stmt, error)
	mu      sync.Mutex
	known   map[string]*sql.Stmt
}

func newStatements(prepare func(context.Context, string) (*sql.Stmt, error)) *statements {
	return &statements{prepare: prepare, known: map[string]*sql.Stmt{}}
}

// use runs fn with a prepared statement. A statement that another goroutine
// has thrown out of the cache meanwhile is prepared once more.
func (c *statements) use(ctx context.Context, query string, fn func(*sql.Stmt) error) error {
	for range 3 {
		s, err := c.get(ctx, query)
		if err != nil {
			return err
		}
		if err = fn(s); err == nil || err.Error() != "sql: statement is closed" {
			return err
		}
	}
	return errors.New("no statement could be kept")
}

func (c *statements) get(ctx context.Context, query string) (*sql.Stmt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.known[query]; s != nil {
		return s, nil
	}
	// Preparing does not depend on the request that came first.
	s, err := c.prepare(context.WithoutCancel(ctx), query) //nolint:sqlclosecheck // it is kept; drop closes it
	if err != nil {
		return nil, err
	}
	if len(c.known) >= maxStatements {
		c.drop()
	}
	c.known[query] = s
	return s, nil
}

// clear forgets all statements, as after a change of the schema.
func (c *statements) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

func (c *statements) drop() {
	for text, s := range c.known {
		_ = s.Close()
		delete(c.known, text)
	}
}
