package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hasura-storage/cmd/hasura-storage/migrate"
	"hasura-storage/cmd/hasura-storage/migrate/pgtest"
	metadata "hasura-storage/hasura-metadata"
)

const (
	version = "select max(version) from storage.hasura_storage_version"
	tables  = "select coalesce(string_agg(table_name, ' ' order by table_name), '') from information_schema.tables where table_schema = 'storage'"
)

// steps is how many migrations there are.
var steps = func() int {
	list, err := metadata.Migrations()
	if err != nil {
		panic(err)
	}
	return len(list)
}()

// former makes a database as hasura-storage leaves it, with rows.
func former(t *testing.T) string {
	t.Helper()
	source := pgtest.Database(t)
	pgtest.Exec(t, source, `do $$ begin
		if not exists (select from pg_roles where rolname = 'former_hasura') then
			create role former_hasura; create role former_reader;
		end if;
	end $$; create schema storage`)
	schema, err := os.ReadFile("../../../hasura-metadata/testdata/nhost.sql")
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, source, string(schema))
	return source
}

func up(t *testing.T, source string) (int, error) {
	t.Helper()
	return migrate.Up(t.Context(), migrate.Options{Source: source, Patience: 20 * time.Second, Pause: 20 * time.Millisecond})
}

func TestUp(t *testing.T) {
	for sentence, prepare := range map[string]func(*testing.T) string{
		"an empty database gets the schema":         func(t *testing.T) string { t.Helper(); return pgtest.Database(t) },
		"a database of hasura-storage's is adopted": former,
		"a pooler's and golang-migrate's words are taken": func(t *testing.T) string {
			t.Helper()
			return pgtest.Database(t) + " search_path=storage x-lock-retry=3"
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			source := prepare(t)
			if n, err := up(t, source); err != nil || n != steps {
				t.Fatalf("applied %d, %v; want %d", n, err, steps)
			}
			if n, err := up(t, source); err != nil || n != 0 {
				t.Errorf("the second start applied %d, %v", n, err)
			}
			plain, _, _ := strings.Cut(source, " search_path")
			if got := pgtest.Text(t, plain, version); got != strconv.Itoa(steps) {
				t.Errorf("version %s", got)
			}
		})
	}
}

func TestRowsOfTheFormerServiceStay(t *testing.T) {
	source := former(t)
	const rows = "select md5((select json_agg(row(id, created_at, updated_at, name, size, etag, metadata) order by id) from storage.files)::text)"
	before := pgtest.Text(t, source, rows)
	if _, err := up(t, source); err != nil {
		t.Fatal(err)
	}
	if after := pgtest.Text(t, source, rows); after != before {
		t.Error("rows of files changed")
	}
	if got := pgtest.Text(t, source, "select version || ' ' || dirty from storage.schema_migrations"); got != "5 false" {
		t.Errorf("golang-migrate's table holds %s", got)
	}
}

func TestSeveralInstancesStartAtOnce(t *testing.T) {
	source := former(t)
	var applied atomic.Int64
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			n, err := up(t, source)
			if err != nil {
				t.Error(err)
			}
			applied.Add(int64(n))
		})
	}
	wg.Wait()
	if applied.Load() != int64(steps) {
		t.Errorf("%d steps ran, want each of the %d once", applied.Load(), steps)
	}
}

func TestRefusalsChangeNothing(t *testing.T) {
	newer := func(t *testing.T) string {
		t.Helper()
		source := pgtest.Database(t)
		pgtest.Exec(t, source, `create schema storage; create table storage.hasura_storage_version (version int primary key);
			insert into storage.hasura_storage_version values (1), (99)`)
		return source
	}
	dirty := func(t *testing.T) string {
		t.Helper()
		source := former(t)
		pgtest.Exec(t, source, "update storage.schema_migrations set version = 3, dirty = true")
		return source
	}
	other := func(t *testing.T) string {
		t.Helper()
		source := pgtest.Database(t)
		pgtest.Exec(t, source, "create schema storage; create table storage.files (id int)")
		return source
	}
	for sentence, tc := range map[string]struct {
		prepare func(*testing.T) string
		is      error
		says    string
		left    string
	}{
		"a database of a later version":       {newer, migrate.ErrNewer, fmt.Sprintf("has version 99, this program knows versions up to %d", steps), "hasura_storage_version"},
		"a migration that stopped half way":   {dirty, migrate.ErrDirty, "storage.schema_migrations is dirty", "buckets files schema_migrations virus"},
		"a table that is something different": {other, nil, "migration 1796000000000_storage_tables: ", "files"},
	} {
		t.Run(sentence, func(t *testing.T) {
			source := tc.prepare(t)
			n, err := up(t, source)
			if err == nil || n != 0 || !strings.Contains(err.Error(), tc.says) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("applied %d, %v; want %q", n, err, tc.says)
			}
			if got := pgtest.Text(t, source, tables); got != tc.left {
				t.Errorf("tables are %q, want %q", got, tc.left)
			}
		})
	}
}

func TestItWaitsForTheDatabase(t *testing.T) {
	source := pgtest.Database(t)
	name := pgtest.Text(t, source, "select current_database()")
	later := name + "_later"
	core, logs := observer.New(zapcore.WarnLevel)
	timer := time.AfterFunc(300*time.Millisecond, func() { pgtest.Exec(t, source, "create database "+later) })
	defer timer.Stop()
	n, err := migrate.Up(t.Context(), migrate.Options{
		Source: strings.Replace(source, "dbname="+name, "dbname="+later, 1), Log: zap.New(core),
		Patience: 20 * time.Second, Pause: 20 * time.Millisecond,
	})
	if err != nil || n != steps {
		t.Fatalf("applied %d, %v", n, err)
	}
	if logs.Len() == 0 || !strings.Contains(logs.All()[0].ContextMap()["error"].(string), "does not exist") {
		t.Errorf("the reason is not logged: %v", logs.All())
	}
	if logs.Len() > 3 {
		t.Errorf("%d lines: each new reason is worth one", logs.Len())
	}
}

func TestItWaitsForTablesInUse(t *testing.T) {
	source := former(t)
	conn, err := pgx.Connect(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "begin; select from storage.files"); err != nil {
		t.Fatal(err)
	}
	committed := make(chan struct{})
	go func() {
		defer close(committed)
		time.Sleep(500 * time.Millisecond)
		_, _ = conn.Exec(context.Background(), "commit")
	}()
	if n, err := up(t, source); err != nil || n != steps {
		t.Errorf("applied %d, %v", n, err)
	}
	<-committed // a connection serves one goroutine at a time
}

func TestPatienceEnds(t *testing.T) {
	began := time.Now()
	_, err := migrate.Up(t.Context(), migrate.Options{
		Source: "postgres://somebody:word-of-mouth@127.0.0.1:1/none", Patience: 200 * time.Millisecond, Pause: 20 * time.Millisecond,
	})
	if err == nil || !strings.Contains(err.Error(), "given up after 200ms: failed to connect") {
		t.Errorf("err = %v", err)
	}
	if strings.Contains(err.Error(), "word-of-mouth") {
		t.Errorf("the password is in %v", err)
	}
	if time.Since(began) > 5*time.Second {
		t.Errorf("it took %s", time.Since(began))
	}
}

func TestItEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := migrate.Up(ctx, migrate.Options{Source: "host=127.0.0.1 port=1 user=x dbname=x"}); err == nil {
		t.Error("no error")
	}
}

func TestCheck(t *testing.T) {
	for source, right := range map[string]bool{
		"postgres://postgres:postgres@postgres:5432/local?sslmode=disable":          true,
		"host=/tmp user=x dbname=y":                                                 true,
		"postgresql://u:p%40ss@db.example:6543/a?x-migrations-table=m&sslmode=off!": false,
		"postgres://u:hush@db:port/x":                                               false,
		"mysql://u:hush@db/x":                                                       false,
	} {
		err := migrate.Check(source)
		if (err == nil) != right {
			t.Errorf("%s: %v", source, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the password is in %v", err)
		}
	}
}
