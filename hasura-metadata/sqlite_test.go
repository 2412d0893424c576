package metadata_test

import (
	"database/sql"
	"database/sql/driver"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"modernc.org/sqlite"
)

// registerFunctions gives SQLite the functions that the local Hasura gives it.
var registerFunctions = sync.OnceValue(func() error {
	for name, f := range map[string]func() string{
		"now":             func() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000+00:00") },
		"gen_random_uuid": uuid.NewString,
	} {
		err := sqlite.RegisterScalarFunction(name, 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
			return f(), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
})

// newSQLite returns a database in memory with all migrations applied.
func newSQLite(t *testing.T) *sql.DB {
	t.Helper()
	if err := registerFunctions(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ":memory:?_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // each connection would be another memory
	execSQLite(t, db, `create table "hdb_catalog.hasura_user" (session text); insert into "hdb_catalog.hasura_user" values (null)`)
	migrateSQLite(t, db)
	return db
}

func migrateSQLite(t *testing.T, db *sql.DB) {
	t.Helper()
	list, err := migrationList()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		execSQLite(t, db, m.UpSQLite)
	}
}

func execSQLite(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%v\nin %.200s", err, statement)
	}
}

var tableName = regexp.MustCompile(`\bstorage\.\w+`)

// twin writes SQL for Postgres as the local Hasura's naming wants it.
func twin(statement string) string { return tableName.ReplaceAllString(statement, `"$0"`) }

// sqliteEngine runs rules on SQLite.
type sqliteEngine struct{ db *sql.DB }

func (e sqliteEngine) exec(t *testing.T, role, statement string) error {
	t.Helper()
	tx, err := e.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	var who any
	if role != "" {
		who = session(role)
	}
	set := func(who any) {
		if _, err := tx.ExecContext(t.Context(), `update "hdb_catalog.hasura_user" set session = ?`, who); err != nil {
			t.Fatal(err)
		}
	}
	set(who)
	if _, err := tx.ExecContext(t.Context(), twin(statement)); err != nil {
		return err
	}
	set(nil)
	return tx.Commit()
}

func (e sqliteEngine) ask(t *testing.T, query string) string {
	t.Helper()
	rows, err := e.db.QueryContext(t.Context(), twin(query))
	if err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var lines []string
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line(values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, " ")
}
