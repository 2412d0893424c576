package metadata_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A schema is described by one line for each column and each named thing, so that two of them are
// compared as text whatever database they are in.

const postgresColumns = `
select format('%s.%s %s %s default %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
  case when a.attnotnull then 'not null' else 'null' end, coalesce(pg_get_expr(d.adbin, d.adrelid), 'none'))
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where n.nspname = 'storage' and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and c.relname <> 'schema_migrations'`

const postgresNames = `
select format('%s %s %s', c.relname, k.conname, case k.contype when 'p' then 'primary key' when 'u' then 'unique' when 'c' then 'check'
  else 'foreign key on delete ' || case k.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'other' end
    || ' on update ' || case k.confupdtype when 'c' then 'cascade' when 'a' then 'no action' else 'other' end end)
from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'storage' and c.relname <> 'schema_migrations'
union all
select format('%s %s index', t.relname, i.relname)
from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid join pg_namespace n on n.oid = t.relnamespace
where n.nspname = 'storage' and t.relname <> 'schema_migrations' and not exists (select from pg_constraint k where k.conindid = x.indexrelid and k.contype in ('p', 'u'))`

var (
	cast     = regexp.MustCompile(`::\w+`)
	named    = regexp.MustCompile(`(?i)constraint (\w+)\s+(primary key|unique|check|foreign key)`)
	ownTable = regexp.MustCompile(`^storage\.(\w+)$`)
)

// plain writes a line of Postgres's catalogue as the migrations write it.
func plain(line string) string {
	line = strings.NewReplacer("timestamp with time zone", "timestamptz", "public.", "").Replace(line)
	return cast.ReplaceAllString(line, "")
}

func postgresSchema(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	var lines []string
	for _, query := range []string{postgresColumns, postgresNames} {
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, found...)
	}
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	slices.Sort(lines)
	return lines
}

func sqliteSchema(t *testing.T, db *sql.DB) []string {
	t.Helper()
	var lines []string
	for _, row := range query(t, db, `select type, name, tbl_name, sql from sqlite_schema where sql is not null`) {
		table := ownTable.FindStringSubmatch(row[2])
		switch {
		case table == nil:
		case row[0] == "index":
			lines = append(lines, table[1]+" "+row[1]+" index")
		case row[0] == "table":
			lines = append(lines, sqliteColumns(t, db, table[1])...)
			lines = append(lines, sqliteNames(t, db, table[1], row[3])...)
		}
	}
	slices.Sort(lines)
	return lines
}

func sqliteColumns(t *testing.T, db *sql.DB, table string) []string {
	t.Helper()
	found := query(t, db, `select name, lower(type), iif("notnull", 'not null', 'null'), coalesce(dflt_value, 'none') from pragma_table_info(?)`, "storage."+table)
	lines := make([]string, 0, len(found))
	for _, c := range found {
		lines = append(lines, fmt.Sprintf("%s.%s %s %s default %s", table, c[0], c[1], c[2], c[3]))
	}
	return lines
}

func sqliteNames(t *testing.T, db *sql.DB, table, ddl string) []string {
	t.Helper()
	found := named.FindAllStringSubmatch(ddl, -1)
	lines := make([]string, 0, len(found))
	for _, m := range found {
		kind := strings.ToLower(m[2])
		if kind == "foreign key" {
			// No table has more than one.
			rule := query(t, db, `select lower(on_delete), lower(on_update) from pragma_foreign_key_list(?)`, "storage."+table)[0]
			kind += " on delete " + rule[0] + " on update " + rule[1]
		}
		lines = append(lines, table+" "+m[1]+" "+kind)
	}
	return lines
}

func query(t *testing.T, db *sql.DB, text string, args ...any) [][]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var found [][]string
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		found = append(found, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// sameSchema reports the lines that only one of two schemas has.
func sameSchema(t *testing.T, got, want []string) {
	t.Helper()
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("too much: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("missing:  %s", line)
		}
	}
}

func TestTheTwinHasTheSameSchema(t *testing.T) {
	want := postgresSchema(t, newPostgres(t))
	sameSchema(t, sqliteSchema(t, newSQLite(t)), want)
	if len(want) < 80 {
		t.Errorf("only %d lines describe the schema", len(want))
	}
}

func TestMigrationsRunTwice(t *testing.T) {
	conn := newPostgres(t)
	mustExec(t, conn, `insert into storage.buckets (id) values ('a'); insert into storage.files (bucket_id, size, is_uploaded) values ('a', 5, true)`)
	want := postgresSchema(t, conn)
	if err := migrate(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	sameSchema(t, postgresSchema(t, conn), want)

	db := newSQLite(t)
	wantTwin := sqliteSchema(t, db)
	migrateSQLite(t, db)
	sameSchema(t, sqliteSchema(t, db), wantTwin)
}

func TestMigrationsGoDownAndUpAgain(t *testing.T) {
	conn := newPostgres(t)
	mustExec(t, conn, `insert into storage.files (name, size, is_uploaded) values ('kept', 5, true)`)
	want := postgresSchema(t, conn)
	list, err := migrationList()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Backward(list) {
		mustExec(t, conn, "begin;\n"+m.Down+"\ncommit")
	}
	if left := postgresSchema(t, conn); slices.ContainsFunc(left, func(l string) bool { return strings.HasPrefix(l, "uploads") || strings.Contains(l, "object_key") }) {
		t.Errorf("left behind: %s", left)
	}
	if left := askPostgres(t, conn, `select proname from pg_proc where pronamespace = 'storage'::regnamespace`); left != "" {
		t.Errorf("functions left behind: %s", left)
	}
	if err := migrate(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	sameSchema(t, postgresSchema(t, conn), want)
	if got := askPostgres(t, conn, `select f.name, b.used_bytes from storage.files f join storage.buckets b on b.id = f.bucket_id`); got != "kept|5" {
		t.Errorf("got %s", got)
	}
}

func TestMigrationsDoNotGoDownWhileFilesWouldBeLost(t *testing.T) {
	conn := newPostgres(t)
	mustExec(t, conn, `insert into storage.files (object_key) values ('k')`)
	list, err := migrationList()
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), list[0].Down)
	if err == nil || !strings.Contains(err.Error(), "ops rollback-keys") {
		t.Errorf("err = %v, want one that names the way out", err)
	}
}

func TestMigrationsAreNumberedInOrder(t *testing.T) {
	list, err := migrationList()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range list {
		if m.Number != i+1 || i > 0 && m.Version <= list[i-1].Version {
			t.Errorf("%d_%s is number %d", m.Version, m.Name, m.Number)
		}
	}
	if got, want := askPostgres(t, newPostgres(t), `select max(version) from storage.hasura_storage_version`), strconv.Itoa(len(list)); got != want {
		t.Errorf("the schema says version %s, the last migration is number %s", got, want)
	}
}
