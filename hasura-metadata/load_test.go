package metadata_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// together runs work n times at once, each with a connection of its own, and returns the errors.
func together(t *testing.T, database string, n int, work func(conn *pgx.Conn, i int) error) []error {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		conn := connect(t, database, "postgres")
		wg.Go(func() { errs[i] = work(conn, i) })
	}
	wg.Wait()
	return errs
}

func TestQuotaIsExactAmongManyWriters(t *testing.T) {
	conn := newPostgres(t)
	mustExec(t, conn, `insert into storage.buckets (id, quota_bytes) values ('a', 95)`)
	var stored atomic.Int64
	together(t, conn.Config().Database, 8, func(c *pgx.Conn, _ int) error {
		for range 5 {
			_, err := c.Exec(context.Background(), `insert into storage.uploads (file_id, bucket_id, kind, size, expires_at)
				values (gen_random_uuid(), 'a', 'create', 10, now())`)
			if err == nil {
				stored.Add(1)
			} else if !refused(err, "quota-exceeded: ") {
				return err
			}
		}
		return nil
	})
	if stored.Load() != 9 {
		t.Errorf("%d uploads of 10 bytes fit into 95", stored.Load())
	}
	if got := askPostgres(t, conn, used); got != "a|90" {
		t.Errorf("got %s", got)
	}
}

func TestMovesInBothDirectionsDoNotWaitForEachOther(t *testing.T) {
	conn := newPostgres(t)
	mustExec(t, conn, `insert into storage.buckets (id, quota_bytes) values ('a', 1000), ('b', 1000);
		insert into storage.files (name, bucket_id, size, is_uploaded) select n, 'a', 1, true from generate_series(0, 7) n`)
	errs := together(t, conn.Config().Database, 8, func(c *pgx.Conn, i int) error {
		for n := range 20 {
			to := "ab"[(i+n)%2]
			if _, err := c.Exec(context.Background(), fmt.Sprintf(`update storage.files set bucket_id = '%c' where name = '%d'`, to, i)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if got := askPostgres(t, conn, `select count(*) from storage.buckets b where used_bytes <> (
		select coalesce(sum(size), 0) from storage.files f where f.bucket_id = b.id)`); got != "0" {
		t.Errorf("%s buckets are counted wrongly", got)
	}
}

// The bound is generous for a busy machine: what grows with the square takes minutes.
func TestManyRowsAtOnceTakeTimeInProportion(t *testing.T) {
	conn := newPostgres(t)
	mustExec(t, conn, `insert into storage.buckets (id) values ('a'), ('b')`)
	for _, statement := range []string{
		`update storage.files set name = 'warm' where false`, // plans made for few rows are kept
		`insert into storage.files (bucket_id, size, is_uploaded, object_key) select 'a', 1, true, n from generate_series(1, 30000) n`,
		`update storage.files set bucket_id = 'b'`,
		`update storage.files set object_key = object_key || 'x'`,
		`update storage.buckets set id = 'c' where id = 'b'`,
		`delete from storage.files where object_key < '5'`,
		`delete from storage.buckets where id = 'c'`,
	} {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := conn.Exec(ctx, statement)
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		t.Logf("%6d ms  %s", time.Since(began).Milliseconds(), statement)
	}
	if got := askPostgres(t, conn, `select count(*) from storage.garbage`); got != "60000" {
		t.Errorf("%s rows of garbage, want one for each key", got)
	}
	if got := askPostgres(t, conn, used); got != "a|0" {
		t.Errorf("got %s", got)
	}
}
