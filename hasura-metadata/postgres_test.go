package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A throwaway Postgres, started by the first test that asks for it and shared by all of them; each
// gets a database of its own. It ends with this process, however that ends.
var cluster struct {
	dir       string
	stdin     io.Closer
	cmd       *exec.Cmd
	databases int
}

func TestMain(m *testing.M) {
	code := m.Run()
	stopPostgres()
	os.Exit(code)
}

// newDatabase returns a connection to an empty database, or to a copy of template if that is named.
func newDatabase(t *testing.T, template string) *pgx.Conn {
	t.Helper()
	ensurePostgres(t)
	cluster.databases++
	name := "t" + strconv.Itoa(cluster.databases)
	create := "create database " + name
	if template != "" {
		create += " template " + template
	}
	admin := connect(t, "postgres", "postgres")
	mustExec(t, admin, create)
	_ = admin.Close(t.Context())
	return connect(t, name, "postgres")
}

func ensurePostgres(t *testing.T) {
	t.Helper()
	if cluster.dir == "" {
		startPostgres(t)
	}
}

// connect opens a connection that is closed when the test ends.
func connect(t *testing.T, database, role string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn(database, role))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func dsn(database, role string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s", cluster.dir, role, database)
}

func mustExec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%v\nin %.200s", err, sql)
	}
}

// postgresBin returns the folder of Postgres's programs, or skips the test.
func postgresBin(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed")
	}
	return filepath.Dir(found[len(found)-1])
}

// supervised runs a command until standard input ends, which it does when this process dies.
const supervised = `"$0" "$@" </dev/null & pid=$!; read -r _; kill -QUIT $pid; wait $pid`

func startPostgres(t *testing.T) {
	t.Helper()
	bin := postgresBin(t)
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // outlives the test that starts it, and a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	who := unprivileged(t, dir)
	initdb := exec.Command(bin+"/initdb", "-D", dir+"/data", "-A", "trust", "-U", "postgres", "--no-sync")
	initdb.SysProcAttr = who
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	cmd := exec.Command("sh", "-c", supervised, bin+"/postgres", "-D", dir+"/data", "-k", dir, "-h", "", "-F")
	cmd.SysProcAttr, cmd.Dir = who, dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cluster.dir, cluster.stdin, cluster.cmd = dir, stdin, cmd
	awaitPostgres(t)
}

// unprivileged gives dir to nobody if this is root, which Postgres refuses to run as.
func unprivileged(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func awaitPostgres(t *testing.T) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(t.Context(), dsn("postgres", "postgres")); err == nil {
			_ = conn.Close(t.Context())
			return
		}
	}
	t.Fatalf("Postgres did not start: %v", err)
}

func stopPostgres() {
	if cluster.cmd == nil {
		return
	}
	_ = cluster.stdin.Close()
	_ = cluster.cmd.Wait()
	_ = os.RemoveAll(cluster.dir)
}

// migrated is a database with all migrations applied, to be copied.
var migrated = sync.OnceValue(func() error {
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, dsn("postgres", "postgres"))
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	if _, err := admin.Exec(ctx, "create database migrated"); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, dsn("migrated", "postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return migrate(ctx, conn)
})

// migrate applies all migrations, each in a transaction as the Hasura CLI does.
func migrate(ctx context.Context, conn *pgx.Conn) error {
	list, err := migrationList()
	if err != nil {
		return err
	}
	for _, m := range list {
		if _, err := conn.Exec(ctx, "begin;\n"+m.Up+"\ncommit"); err != nil {
			_, undo := conn.Exec(ctx, "rollback")
			return errors.Join(fmt.Errorf("%d_%s: %w", m.Version, m.Name, err), undo)
		}
	}
	return nil
}

// newPostgres returns a connection to a database with all migrations applied.
func newPostgres(t *testing.T) *pgx.Conn {
	t.Helper()
	ensurePostgres(t)
	if err := migrated(); err != nil {
		t.Fatal(err)
	}
	return newDatabase(t, "migrated")
}

// postgresEngine runs rules in a transaction that is taken back at the end.
type postgresEngine struct{ tx pgx.Tx }

func newPostgresEngine(t *testing.T, conn *pgx.Conn) postgresEngine {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return postgresEngine{tx}
}

func (e postgresEngine) exec(t *testing.T, role, sql string) error {
	t.Helper()
	savepoint, err := e.tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = savepoint.Rollback(context.Background()) }()
	who := "" // what a connection of Hasura's holds after a mutation
	if role != "" {
		who = session(role)
	}
	if _, err := savepoint.Exec(t.Context(), "select set_config('hasura.user', $1, true)", who); err != nil {
		t.Fatal(err)
	}
	if _, err := savepoint.Exec(t.Context(), sql); err != nil {
		return err
	}
	return savepoint.Commit(t.Context())
}

func (e postgresEngine) ask(t *testing.T, sql string) string {
	t.Helper()
	return askPostgres(t, e.tx, sql)
}

// askPostgres returns rows, separated by a space, of columns, separated by |.
func askPostgres(t *testing.T, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, sql string) string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		return line(values), err
	})
	if err != nil {
		t.Fatalf("%v\nin %s", err, sql)
	}
	return strings.Join(lines, " ")
}
