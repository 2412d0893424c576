package localhasura_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"hasura-storage/graphql/localhasura"
)

func smallProject(version, table string) fstest.MapFS {
	return fstest.MapFS{
		"metadata/version.yaml":                              {Data: []byte("version: 3")},
		"metadata/databases/databases.yaml":                  {Data: []byte(`[{name: default, kind: postgres, tables: [{table: {schema: public, name: ` + table + `}}]}]`)},
		"migrations/default/" + version + "_x/up.sqlite.sql": {Data: []byte(`CREATE TABLE ` + table + `(id integer PRIMARY KEY)`)},
	}
}

func start(t *testing.T, dir, schema string, files fstest.MapFS) *localhasura.Server {
	t.Helper()
	s, err := localhasura.Open(t.Context(), localhasura.Config{
		Metadata: metadataOf(t, files), Migrations: files, Schema: schema, Dir: dir, Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASecondStartKeepsRowsAndRunsWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	const schema = `CREATE TABLE once(a text); INSERT INTO once VALUES ('x')`
	first := start(t, dir, schema, smallProject("1", "a"))
	if err := first.Exec(t.Context(), "INSERT INTO a VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	both := smallProject("1", "a")
	both["migrations/default/10_y/up.sqlite.sql"] = &fstest.MapFile{Data: []byte(`INSERT INTO b VALUES (1)`)}
	both["migrations/default/2_b/up.sqlite.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE b(id integer)`)}
	second := start(t, dir, schema, both)
	defer second.Close()
	for query, want := range map[string]string{
		"SELECT group_concat(id) FROM a": "7", "SELECT count(*) FROM once": "1", "SELECT count(*) FROM b": "1",
	} {
		if got, err := second.Query(t.Context(), query); err != nil || got != want {
			t.Errorf("%s: got %s (%v), want %s", query, got, err, want)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config localhasura.Config
		env    map[string]string
		want   string
	}{
		"a setting that it does not know": {
			env: map[string]string{"HASURA_GRAPHQL_EXPERIMENTAL_FEATURES": "naming_convention"}, want: "HASURA_GRAPHQL_EXPERIMENTAL_FEATURES=naming_convention"},
		"SQL that SQLite does not know": {config: localhasura.Config{Schema: "CREATE TABEL x"}, want: "run migration schema"},
		"a data folder that is a file":  {config: localhasura.Config{Dir: file}, want: file},
		"a migration without a number":  {config: localhasura.Config{Migrations: fstest.MapFS{"migrations/default/x_y/up.sqlite.sql": {}}}, want: "x_y"},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Metadata = metadataOf(t, smallProject("1", "a"))
			c.config.Env = func(name string) string { return c.env[name] }
			s, err := localhasura.Open(t.Context(), c.config)
			if err == nil {
				_ = s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}
