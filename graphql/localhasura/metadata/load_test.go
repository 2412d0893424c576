package metadata_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"hasura-storage/graphql/localhasura/metadata"
)

// project is a small CLI v3 folder that uses both include forms and every
// place where the CLI's form differs from the API's.
func project() fstest.MapFS {
	files := map[string]string{
		"version.yaml": "version: 3\n",
		"databases/databases.yaml": `
- name: default
  kind: postgres
  configuration: {connection_info: {database_url: {from_env: PG_DATABASE_URL}}}
  tables: "!include default/tables/tables.yaml"
  functions: "!include default/functions/functions.yaml"
`,
		"databases/default/functions/functions.yaml": "",
		"databases/default/tables/tables.yaml": `
- "!include storage_files.yaml"
- !include public_notes.yaml
`,
		"databases/default/tables/public_notes.yaml": "table: notes\n",
		"databases/default/tables/storage_files.yaml": `
table: {schema: storage, name: files}
configuration:
  custom_name: files
  custom_root_fields: {select: files, select_by_pk: file}
  column_config: {bucket_id: {custom_name: bucketId}}
object_relationships:
  - {name: bucket, using: {foreign_key_constraint_on: bucket_id}}
array_relationships:
  - name: versions
    using: {foreign_key_constraint_on: {column: file_id, table: {schema: storage, name: versions}}}
select_permissions:
  - role: user
    permission:
      columns: '*'
      filter: {zeta: {_eq: X-Hasura-User-Id}, alpha: {_is_null: false}}
      query_root_fields: []
update_permissions:
  - {role: user, permission: {columns: [name], filter: {}, check: null}}
event_triggers:
  - name: file_deleted
    definition: {enable_manual: false, delete: {columns: '*'}}
    retry_conf: {num_retries: 5, interval_sec: 3}
    webhook: '{{BASE}}/events'
`,
		"actions.yaml": `
actions:
  - name: makeTicket
    definition: {kind: synchronous, handler: '{{BASE}}/x', timeout: 60}
    permissions: [{role: user}]
custom_types:
  objects:
    - name: Ticket
      relationships:
        - {name: file, type: object, remote_table: {schema: storage, name: files}, field_mapping: {fileId: id}}
`,
		"actions.graphql": `
type Mutation {
  "Makes a ticket."
  makeTicket(input: TicketInput!, ttl: Int = 5): Ticket!
}
input TicketInput { name: String! }
type Ticket { fileId: uuid! url: String! }
enum Kind { A B }
scalar Bytes
`,
		"cron_triggers.yaml": `
- {name: sweep, webhook: '{{BASE}}/cron', schedule: '* * * * *', include_in_metadata: true, retry_conf: {tolerance_seconds: 120}}
`,
		"inherited_roles.yaml": "- {role_name: editor, role_set: [user, public]}\n",
	}
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func load(t *testing.T, files fs.FS) *metadata.Metadata {
	t.Helper()
	m, err := metadata.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLoadReadsTables(t *testing.T) {
	s := load(t, project()).Source("default")
	files := s.Table(metadata.TableName{Schema: "storage", Name: "files"})
	if files == nil || s.Table(metadata.TableName{Schema: "public", Name: "notes"}) == nil {
		t.Fatalf("tables = %+v", s.Tables)
	}
	if got := files.Configuration.ColumnName("bucket_id"); got != "bucketId" {
		t.Errorf("custom column name = %q", got)
	}
	p := files.SelectPermissions[0].Permission
	if want := `{"zeta":{"_eq":"X-Hasura-User-Id"},"alpha":{"_is_null":false}}`; string(p.Filter) != want {
		t.Errorf("filter lost its order: %s, want %s", p.Filter, want)
	}
	if p.QueryRootFields == nil || len(*p.QueryRootFields) != 0 {
		t.Errorf("query_root_fields = %v, want an empty list, which hides all", p.QueryRootFields)
	}
	if got := files.ArrayRelationships[0].Using.ForeignKey; got.Table.Name != "versions" || got.Columns[0] != "file_id" {
		t.Errorf("foreign key = %+v", got)
	}
	want := metadata.RetryConf{NumRetries: 5, IntervalSec: 3, TimeoutSec: 60}
	if got := files.EventTriggers[0].RetryConf; got != want {
		t.Errorf("retry_conf = %+v, want %+v", got, want)
	}
}

func TestLoadJoinsActionsWithTheirSDL(t *testing.T) {
	m := load(t, project())
	a := m.Action("makeTicket")
	if a.Definition.OutputType != "Ticket!" || a.Definition.IsQuery() {
		t.Errorf("definition = %+v", a.Definition)
	}
	if got := a.Definition.Arguments[1]; got.Name != "ttl" || got.Type != "Int" {
		t.Errorf("argument = %+v", got)
	}
	if got := m.CustomTypes.Objects[0].Relationships[0]; got.FieldMapping["fileId"] != "id" {
		t.Errorf("relationship = %+v", got)
	}
	if got := len(m.CustomTypes.Enums[0].Values); got != 2 {
		t.Errorf("enum has %d values", got)
	}
	if got := m.CronTriggers[0].Retry(); got.ToleranceSeconds != 120 || got.TimeoutSeconds != 60 {
		t.Errorf("cron retry = %+v", got)
	}
}

func TestLoadOfAnEmptyFolder(t *testing.T) {
	m := load(t, fstest.MapFS{})
	if len(m.Sources) != 0 || m.Version != 3 {
		t.Errorf("metadata = %+v", m)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"an include of a missing file": {"databases/default/tables/tables.yaml", `- "!include gone.yaml"`, "gone.yaml"},
		"an include of itself":         {"databases/default/tables/tables.yaml", `- "!include tables.yaml"`, "leads back to itself"},
		"broken YAML":                  {"inherited_roles.yaml", "- {", "inherited_roles.yaml"},
		"another version":              {"version.yaml", "version: 2", "only version 3"},
		"an action without a field":    {"actions.graphql", "type Query { other: Int }", `"makeTicket"`},
		"broken SDL":                   {"actions.graphql", "type {", "actions.graphql"},
		"a wrong kind":                 {"inherited_roles.yaml", "- {role_name: 5}", "inherited_roles.role_name"},
	} {
		t.Run(name, func(t *testing.T) {
			files := project()
			files[c.file] = &fstest.MapFile{Data: []byte(c.text)}
			_, err := metadata.Load(files)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want it to contain %q", err, c.want)
			}
		})
	}
}

func TestExportAndParseAgree(t *testing.T) {
	first, err := load(t, project()).Export()
	if err != nil {
		t.Fatal(err)
	}
	m, err := metadata.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Errorf("export changed:\n%s\n%s", first, second)
	}
}

func TestExportLeavesDefaultsOut(t *testing.T) {
	raw, err := load(t, project()).Export()
	if err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{`"check":null`, `"ignored_client_headers":[`, `"timeout":60`, `"columns":"*"`} {
		if !strings.Contains(string(raw), has) {
			t.Errorf("export lacks %s", has)
		}
	}
	for _, not := range []string{"remote_schemas", "is_enum", "allow_aggregations", "backend_only", "computed_fields"} {
		if strings.Contains(string(raw), not) {
			t.Errorf("export has the default member %s", not)
		}
	}
}

func TestParseOfVersion2(t *testing.T) {
	m, err := metadata.Parse(json.RawMessage(`{"version":2,"tables":[{"table":"notes"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Source("default"); s == nil || len(s.Tables) != 1 {
		t.Errorf("sources = %+v", m.Sources)
	}
}

func TestUnsupportedNamesTheFeature(t *testing.T) {
	for name, c := range map[string]struct{ json, want string }{
		"nothing special":     {`{"version":3,"sources":[]}`, ""},
		"a remote schema":     {`{"version":3,"remote_schemas":[{"name":"x"}]}`, "remote schemas"},
		"a computed field":    {`{"version":3,"sources":[{"name":"a","tables":[{"table":"t","computed_fields":[{}]}]}]}`, `computed fields (table "t")`},
		"a function":          {`{"version":3,"sources":[{"name":"a","functions":[{}]}]}`, "functions"},
		"an async action":     {`{"version":3,"actions":[{"name":"a","definition":{"kind":"asynchronous"}}]}`, "asynchronous actions"},
		"a request transform": {`{"version":3,"actions":[{"name":"a","definition":{"request_transform":{"version":2}}}]}`, "transforms"},
		"another database":    {`{"version":3,"sources":[{"name":"a","kind":"mssql"}]}`, "mssql"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := metadata.Parse([]byte(c.json))
			if err != nil {
				t.Fatal(err)
			}
			got := m.Unsupported()
			if c.want == "" && got != nil {
				t.Fatalf("refused: %v", got)
			}
			if c.want != "" && (got == nil || !strings.Contains(got.Message, c.want)) {
				t.Errorf("error = %v, want it to contain %q", got, c.want)
			}
		})
	}
}
