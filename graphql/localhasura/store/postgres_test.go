package store_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hasura-storage/graphql/localhasura/pgtype"
)

// postgres starts a throwaway server for one test and connects to it. It ends
// with its standard input, so it never outlives this process.
func postgres(t *testing.T) *pgx.Conn {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	who := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // which Postgres refuses to run as
		who.Credential = nobody(t)
		if err := os.Chown(dir, int(who.Credential.Uid), int(who.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	initdb := exec.CommandContext(t.Context(), bin+"/initdb", "-D", dir+"/data", "-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "--encoding=UTF8")
	initdb.SysProcAttr = who
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := exec.Command("sh", "-c", `"$0" "$@" </dev/null & pid=$!; read -r _; kill -QUIT $pid; wait $pid`, bin+"/postgres", "-D", dir+"/data", "-k", dir, "-h", "", "-F")
	server.SysProcAttr = who
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = server.Wait() })
	return connected(t, dir)
}

func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func connected(t *testing.T, dir string) *pgx.Conn {
	t.Helper()
	var err error
	for range 400 {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(t.Context(), "host="+dir+" user=postgres dbname=postgres timezone=UTC"); err == nil {
			t.Cleanup(func() { _ = conn.Close(t.Context()) })
			return conn
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("Postgres did not start: %v", err)
	return nil
}

// answer is a query's text, or Postgres's message.
func answer(t *testing.T, conn *pgx.Conn, query string, args ...any) (text string, refused bool) {
	t.Helper()
	var out *string
	err := conn.QueryRow(t.Context(), query, args...).Scan(&out)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg):
		return pg.Message, true
	case err != nil:
		t.Fatalf("%s: %v", query, err)
	case out == nil:
		return "null", false
	}
	return *out, false
}

var inputs = map[string][]string{
	"timestamptz": {"2024-01-15", "2024-01-15 12:34", "2024-01-15T12:34:56Z", "2024-01-15 12:34:56.123456789+02", "2024-01-15T12:34:56-0330",
		"2024-1-5", "20240115", "20240115T123456Z", "2024-02-30", "2024-13-01", "Jan 15 2024", "January 15, 2024", "15 Jan 2024",
		"2024-01-15 12:34:56 UTC", "epoch", "x", "", "2024/01/15", "0001-01-01", "2024-01-15T12:34:56.5+05:45", "2024-01-15 12"},
	"timestamp":        {"2024-01-15T12:34:56+02:00", "2024-01-15", "x"},
	"date":             {"2024-01-15", "2024-01-15T10:00:00Z", "20240115", "x", "2024-02-30"},
	"time":             {"12:30", "12:30:15.5", "12:30+02", "x"},
	"uuid":             {"6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11", "6B0E5AD2-3B0F-4C5A-9D59-0C7A5E1D7C11", "{6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11}", "6b0e5ad23b0f4c5a9d590c7a5e1d7c11", "6b0e-5ad2-3b0f-4c5a-9d59-0c7a-5e1d-7c11", "6b-0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11", "x", "", " 6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11", "{6b0e5ad23b0f4c5a9d590c7a5e1d7c11"},
	"integer":          {"1", " 1 ", "1.0", "1e3", "-5", "+5", "2147483648", "x", "", "0x10", "1_000"},
	"bigint":           {"9223372036854775807", "9223372036854775808", "1.5", ""},
	"numeric":          {"1e3", " 2 ", "x", "", "-0", "0x1"},
	"numeric(4,2)":     {"1.005", "99.994", "-99.999", "100"},
	"double precision": {"1.5", "1e400", "x", ""},
	"boolean":          {"t", "tr", "true", "yes", "y", "on", "1", "o", "of", "off", "0", "n", "no", "f", "TRUE", " t ", "x", "", "10"},
	"jsonb":            {`{"b":1,"aa":2,"a":[1,2.0,1e2]}`, "1", `"x"`, "null", "{", "", "[1,]", `{"a":1,"a":2}`, "1.10", `"\u00e9"`, "1.5e-3", "12345678901234567890"},
}

// TestCastsAreThoseOfPostgres compares what each type makes of a text with what
// Postgres makes of it, messages included.
func TestCastsAreThoseOfPostgres(t *testing.T) {
	conn := postgres(t)
	for declared, texts := range inputs {
		typ, ok := pgtype.Parse(declared)
		if !ok {
			t.Fatalf("no type %s", declared)
		}
		for _, text := range texts {
			want, refused := answer(t, conn, "SELECT (to_jsonb(json_build_object('v', $1::text::"+declared+")) -> 'v')::text", text)
			v, err := typ.Cast(text)
			got := fmt.Sprint(v)
			if s, isText := v.(string); isText && typ.Class != pgtype.JSON {
				got = strconv.Quote(s)
			}
			if err != nil {
				got = err.Error()
			}
			if refused != (err != nil) || spaceless(got) != spaceless(want) {
				if f, _ := strconv.ParseFloat(want, 64); err != nil || fmt.Sprint(f) != got {
					t.Errorf("%s %q: got %s, Postgres says %s", declared, text, got, want)
				}
			}
		}
	}
}

func spaceless(s string) string { return strings.ReplaceAll(s, " ", "") }

// sameFunctions pairs Postgres's operators with our functions; A and B stand
// for the operands.
var (
	onTwoJSON   = map[string]string{"A::jsonb @> B::jsonb": "pg_jsonb_contains(A, B)", "A::jsonb <@ B::jsonb": "pg_jsonb_contained(A, B)", "A::jsonb || B::jsonb": "pg_jsonb_concat(A, B)", "A::jsonb = B::jsonb": "pg_jsonb(A) = pg_jsonb(B)"}
	onJSONKey   = map[string]string{"A::jsonb ? B": "pg_jsonb_has_key(A, B)", "A::jsonb - B::text": "pg_jsonb_delete_key(A, B)", "A::jsonb #- array[B]": "pg_jsonb_delete_path(A, json_array(B))", "A::jsonb #- array['a', B]": "pg_jsonb_delete_path(A, json_array('a', B))", "A::jsonb #> array[B]": "pg_json_path(A, json_array(B))", "A::jsonb ?& array['a', B]": "pg_jsonb_has_all(A, json_array('a', B))", "A::jsonb ?| array['a', B]": "pg_jsonb_has_any(A, json_array('a', B))", "A::jsonb::text": "pg_jsonb_text(A)"}
	onJSONPlace = map[string]string{"A::jsonb - B::int": "pg_jsonb_delete_elem(A, B)"}
	onPattern   = map[string]string{"A LIKE B": "pg_like(A, B)", "A ILIKE B": "pg_ilike(A, B)", "A SIMILAR TO B": "pg_similar(A, B)", "A ~ B": "pg_regex(A, B)", "A ~* B": "pg_iregex(A, B)"}
	documents   = []string{"{}", "[]", "1", `"a"`, "null", `{"a":1}`, `{"a":{"b":[1,2]}}`, "[1,2,[3]]", `[{"a":1},{"b":2}]`, "true", `["a","b"]`, `{"a":null}`, "1.0"}
	texts       = []string{"", "a", "abc", "ABC", "a%b", "a_b", "a\nb", "100%", "a.c", "aäc", "(a)"}
	patterns    = []string{"", "%", "a%", "_", "a_c", `\%`, `%\%`, `a\`, "(a|b)%", "a*", "[ab]%", "a+", "a{1,2}%", "^a$", "a.c", `\w+`, "a|b", "[^a]%", `a\.c`, "(", "[a", "*a"}
)

// TestOperatorsAreThoseOfPostgres compares our functions with Postgres's
// operators on every pair of operands.
func TestOperatorsAreThoseOfPostgres(t *testing.T) {
	conn, db := postgres(t), openStore(t, "")
	for _, set := range []struct {
		operators   map[string]string
		left, right []string
	}{
		{onTwoJSON, documents, documents},
		{onJSONKey, documents, []string{"a", "b", "", "1", "0", "-1"}},
		{onJSONPlace, documents, []string{"0", "-1", "5"}},
		{onPattern, texts, patterns},
	} {
		for theirs, ours := range set.operators {
			for _, a := range set.left {
				for _, b := range set.right {
					want, refused := answer(t, conn, "SELECT ("+operands(theirs, a, b)+")::text")
					got, err := db.Text(t.Context(), "SELECT "+operands(ours, a, b), nil)
					if refused != (err != nil) || !refused && spaceless(truth(got)) != spaceless(truth(want)) || refused && (err == nil || !strings.Contains(err.Error(), want)) {
						t.Errorf("%s: got %s (%v), Postgres says %s", operands(theirs, a, b), got, err, want)
					}
				}
			}
		}
	}
}

func operands(template, a, b string) string {
	return strings.NewReplacer("A", quote(a), "B", quote(b)).Replace(strings.NewReplacer("LIKE", "like", "ILIKE", "ilike", "SIMILAR", "similar").Replace(template))
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// truth makes SQLite's booleans and Postgres's one.
func truth(s string) string {
	switch s {
	case "true":
		return "1"
	case "false":
		return "0"
	}
	return s
}
