// Package pgtest gives tests a real Postgres, where it is installed.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is the one Postgres of this process.
type server struct {
	dir   string
	alive *os.File // it ends when this is closed, at the latest by this process' end
}

var databases atomic.Int64

// supervised runs Postgres until standard input ends, then removes its folder.
const supervised = `dir=$1; shift
"$0" "$@" </dev/null >"$dir/log" 2>&1 & pid=$!
read -r _
kill -QUIT $pid; wait $pid
rm -rf "$dir"`

var start = sync.OnceValues(func() (*server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // a socket's path must be short
	if err != nil {
		return nil, err
	}
	who, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	initdb := exec.CommandContext(context.Background(), filepath.Join(bin, "initdb"), "-D", dir+"/data", "-A", "trust", "-U", "postgres", "--no-sync") //nolint:gosec // a program that was found
	initdb.SysProcAttr, initdb.Dir = who, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return launch(filepath.Join(bin, "postgres"), dir, who)
})

func launch(program, dir string, who *syscall.SysProcAttr) (*server, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.CommandContext(context.Background(), "sh", "-c", supervised, program, dir, "-D", dir+"/data", "-k", dir, "-h", "", "-F") //nolint:gosec // as above
	cmd.SysProcAttr, cmd.Dir, cmd.Stdin = who, "/", read
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{dir: dir, alive: write}
	return s, s.await()
}

// errAbsent makes tests skip.
var errAbsent = errors.New("PostgreSQL is not installed")

// programs is the folder of Postgres's programs.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errAbsent
	}
	return filepath.Dir(path), nil
}

// unprivileged gives dir to nobody if this is root, which Postgres refuses to be.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // no other user is needed
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, errUser := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, errGroup := strconv.ParseUint(nobody.Gid, 10, 32)
	if err := errors.Join(errUser, errGroup, os.Chown(dir, int(uid), int(gid))); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func (s *server) await() (err error) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(context.Background(), s.source("postgres")); err == nil {
			return conn.Close(context.Background())
		}
	}
	return fmt.Errorf("the test's Postgres did not start: %w", err)
}

func (s *server) source(database string) string {
	return fmt.Sprintf("host=%s user=postgres dbname=%s", s.dir, database)
}

// Database returns the connection string of a new, empty database, owned by a
// superuser. Without Postgres the test is skipped.
func Database(tb testing.TB) string {
	tb.Helper()
	s, err := start()
	if errors.Is(err, errAbsent) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	name := fmt.Sprintf("d%d", databases.Add(1))
	Exec(tb, s.source("postgres"), "create database "+name)
	return s.source(name)
}

// Exec runs statements on a database.
func Exec(tb testing.TB, source, statements string) {
	tb.Helper()
	ask(tb, source, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statements)
		return err
	})
}

// Text returns the one value that query answers, as text; null is "".
func Text(tb testing.TB, source, query string) string {
	tb.Helper()
	var text *string
	ask(tb, source, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "select ("+query+")::text").Scan(&text)
	})
	if text == nil {
		return ""
	}
	return *text
}

func ask(tb testing.TB, source string, work func(context.Context, *pgx.Conn) error) {
	tb.Helper()
	ctx := context.Background() // also in clean-ups
	conn, err := pgx.Connect(ctx, source)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := work(ctx, conn); err != nil {
		tb.Fatal(err)
	}
}
