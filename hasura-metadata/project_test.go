package metadata_test

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	metadata "hasura-storage/hasura-metadata"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"go.yaml.in/yaml/v3"
)

type (
	header struct {
		Name         string
		ValueFromEnv string `yaml:"value_from_env"`
	}
	permission struct{ Role string }
	action     struct {
		Name       string
		Definition struct {
			Kind, Handler string
			Timeout       int
			Headers       []header
		}
		Permissions []permission
		Comment     string
	}
	object struct {
		Name          string
		Relationships []struct {
			FieldMapping map[string]string `yaml:"field_mapping"`
		}
	}
	actionsFile struct {
		Actions     []action
		CustomTypes struct {
			Enums, Objects []object
			InputObjects   []object `yaml:"input_objects"`
		} `yaml:"custom_types"`
	}
	cronTrigger struct {
		Name, Webhook, Schedule string
		Headers                 []header
		RetryConf               map[string]int `yaml:"retry_conf"`
	}
	columns struct{ Columns, Payload any }
	table   struct {
		Table         struct{ Schema, Name string }
		Configuration struct {
			CustomName   string `yaml:"custom_name"`
			ColumnConfig map[string]struct {
				CustomName string `yaml:"custom_name"`
			} `yaml:"column_config"`
			CustomColumnNames map[string]string `yaml:"custom_column_names"`
			CustomRootFields  map[string]string `yaml:"custom_root_fields"`
		}
		EventTriggers []struct {
			Name, Webhook string
			Headers       []header
			Definition    struct{ Insert, Update, Delete *columns }
		} `yaml:"event_triggers"`
		Insert []tablePermission `yaml:"insert_permissions"`
		Select []tablePermission `yaml:"select_permissions"`
		Update []tablePermission `yaml:"update_permissions"`
		Delete []tablePermission `yaml:"delete_permissions"`
	}
	tablePermission struct {
		Role       string
		Permission struct {
			Columns []string
			Set     map[string]string
		}
	}
)

func readYAML(t *testing.T, project fs.FS, name string, into any) {
	t.Helper()
	b, err := fs.ReadFile(project, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readActions(t *testing.T, project fs.FS) actionsFile {
	t.Helper()
	var file actionsFile
	readYAML(t, project, "metadata/actions.yaml", &file)
	return file
}

func readSDL(t *testing.T) *ast.SchemaDocument {
	t.Helper()
	b, err := fs.ReadFile(metadata.Project(), "metadata/actions.graphql")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parser.ParseSchema(&ast.Source{Name: "actions.graphql", Input: string(b)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// readTables returns the tables that tables.yaml includes, by name.
func readTables(t *testing.T, project fs.FS) map[string]table {
	t.Helper()
	const dir = "metadata/databases/default/tables/"
	var included []string
	readYAML(t, project, dir+"tables.yaml", &included)
	files, err := fs.ReadDir(project, strings.TrimSuffix(dir, "/"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(included)+1 {
		t.Errorf("tables.yaml includes %d of %d files", len(included), len(files)-1)
	}
	tables := map[string]table{}
	for _, include := range included {
		var one table
		file := strings.TrimPrefix(include, "!include ")
		readYAML(t, project, dir+file, &one)
		if file != one.Table.Schema+"_"+one.Table.Name+".yaml" {
			t.Errorf("%s holds the table %v", file, one.Table)
		}
		tables[one.Table.Name] = one
	}
	return tables
}

func TestActionsAndTheirSDLAgree(t *testing.T) {
	defined := map[string]action{}
	for _, a := range readActions(t, metadata.Project()).Actions {
		defined[a.Name] = a
	}
	for _, def := range readSDL(t).Definitions {
		kind := map[string]string{"Mutation": "synchronous", "Query": ""}
		if _, root := kind[def.Name]; !root {
			continue
		}
		for _, field := range def.Fields {
			a, ok := defined[field.Name]
			if !ok {
				t.Errorf("%s has no definition in actions.yaml", field.Name)
			}
			if a.Definition.Kind != kind[def.Name] {
				t.Errorf("%s is of kind %q", field.Name, a.Definition.Kind)
			}
			if want := strings.Join(strings.Fields(field.Description), " "); a.Comment != want {
				t.Errorf("the comment of %s is not its description:\n got %s\nwant %s", field.Name, a.Comment, want)
			}
			delete(defined, field.Name)
		}
	}
	for name := range defined {
		t.Errorf("%s is not in actions.graphql", name)
	}
}

func TestCustomTypesAndTheirSDLAgree(t *testing.T) {
	types := readActions(t, metadata.Project()).CustomTypes
	listed := map[ast.DefinitionKind][]object{ast.Enum: types.Enums, ast.InputObject: types.InputObjects, ast.Object: types.Objects}
	fields := map[string]*ast.Definition{}
	for _, def := range readSDL(t).Definitions {
		if def.Name == "Mutation" || def.Name == "Query" {
			continue
		}
		fields[def.Name] = def
		if !slices.ContainsFunc(listed[def.Kind], func(o object) bool { return o.Name == def.Name }) {
			t.Errorf("%s is not among the types of actions.yaml", def.Name)
		}
	}
	for _, objects := range listed {
		for _, o := range objects {
			if fields[o.Name] == nil {
				t.Errorf("%s is not in actions.graphql", o.Name)
				continue
			}
			for _, r := range o.Relationships {
				for field := range r.FieldMapping {
					if fields[o.Name].Fields.ForName(field) == nil {
						t.Errorf("%s has no field %s to join by", o.Name, field)
					}
				}
			}
		}
	}
}

func TestEverythingInTheSDLIsDescribedAndKnown(t *testing.T) {
	doc := readSDL(t)
	known := map[string]bool{"String": true, "Int": true, "Float": true, "Boolean": true, "uuid": true, "bigint": true, "jsonb": true, "timestamptz": true}
	for _, def := range doc.Definitions {
		known[def.Name] = true
	}
	check := func(name, description string, of *ast.Type) {
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", name)
		}
		if of != nil && !known[of.Name()] {
			t.Errorf("%s is of the unknown type %s", name, of)
		}
	}
	for _, def := range doc.Definitions {
		if def.Name != "Mutation" && def.Name != "Query" {
			check(def.Name, def.Description, nil)
		}
		for _, value := range def.EnumValues {
			check(def.Name+"."+value.Name, value.Description, nil)
		}
		for _, field := range def.Fields {
			check(def.Name+"."+field.Name, field.Description, field.Type)
			for _, argument := range field.Arguments {
				check(field.Name+"("+argument.Name+")", argument.Description, argument.Type)
				if argument.DefaultValue != nil {
					t.Errorf("%s(%s) has a default value, which Hasura drops", field.Name, argument.Name)
				}
			}
		}
	}
}

func TestEveryWebhookIsOursAndCarriesTheSecret(t *testing.T) {
	check := func(name, url, want string, headers []header) {
		if url != "{{HASURA_STORAGE_URL}}"+want {
			t.Errorf("%s calls %s", name, url)
		}
		if !slices.Equal(headers, []header{{"x-hasura-storage-secret", "HASURA_STORAGE_SECRET"}}) {
			t.Errorf("%s sends %v", name, headers)
		}
	}
	for _, a := range readActions(t, metadata.Project()).Actions {
		check(a.Name, a.Definition.Handler, "/actions/"+a.Name, a.Definition.Headers)
		slow := slices.Contains([]string{"storageCompleteUpload", "storageCopyFile", "storageCreateUploads"}, a.Name)
		if (a.Definition.Timeout == 60) != slow {
			t.Errorf("%s waits %d s", a.Name, a.Definition.Timeout)
		}
	}
	for _, trigger := range readTables(t, metadata.Project())["files"].EventTriggers {
		check(trigger.Name, trigger.Webhook, "/events/"+strings.ReplaceAll(strings.TrimPrefix(trigger.Name, "storage_"), "_", "-"), trigger.Headers)
	}
	var crons []cronTrigger
	readYAML(t, metadata.Project(), "metadata/cron_triggers.yaml", &crons)
	tolerance := map[string]int{"storage_sweep": 120, "storage_reconcile": 3600}
	for _, cron := range crons {
		check(cron.Name, cron.Webhook, "/cron/"+strings.TrimPrefix(cron.Name, "storage_"), cron.Headers)
		c := cron.RetryConf
		if c["tolerance_seconds"] != tolerance[cron.Name] || c["num_retries"] != 0 || c["timeout_seconds"] != 55 {
			t.Errorf("%s retries by %v", cron.Name, c)
		}
	}
}

// columnsOf lists the columns of each table, as the migrations make them.
func columnsOf(t *testing.T) map[string][]string {
	t.Helper()
	db, found := newSQLite(t), map[string][]string{}
	for _, row := range query(t, db, `select substr(s.name, 9), c.name from sqlite_schema s, pragma_table_info(s.name) c where s.type = 'table'`) {
		found[row[0]] = append(found[row[0]], row[1])
	}
	return found
}

// Clients of nhost/hasura-storage know these names.
func TestTablesHaveTheNamesThatClientsKnow(t *testing.T) {
	have := columnsOf(t)
	for name, fields := range map[string][2]string{"buckets": {"buckets", "bucket"}, "files": {"files", "file"}, "virus": {"viruses", "virus"}} {
		c := readTables(t, metadata.Project())[name].Configuration
		if c.CustomName != name {
			t.Errorf("%s is called %q", name, c.CustomName)
		}
		many, one := upper(fields[0]), upper(fields[1])
		if want := map[string]string{
			"select": fields[0], "select_by_pk": fields[1], "select_aggregate": fields[0] + "Aggregate",
			"insert": "insert" + many, "insert_one": "insert" + one, "update": "update" + many, "update_by_pk": "update" + one,
			"delete": "delete" + many, "delete_by_pk": "delete" + one,
		}; !maps.Equal(c.CustomRootFields, want) {
			t.Errorf("%s has the root fields %v", name, c.CustomRootFields)
		}
		if got := slices.Sorted(maps.Keys(c.CustomColumnNames)); !slices.Equal(got, slices.Sorted(slices.Values(have[name]))) {
			t.Errorf("%s names %v of %v", name, got, have[name])
		}
		for column, custom := range c.CustomColumnNames {
			if custom != camel(column) || c.ColumnConfig[column].CustomName != custom {
				t.Errorf("%s.%s is called %s and %s", name, column, custom, c.ColumnConfig[column].CustomName)
			}
		}
	}
}

func TestOurOwnTablesKeepTheirNamesAndAreForTheAdminAlone(t *testing.T) {
	for _, project := range projects(t) {
		for _, name := range []string{"uploads", "garbage"} {
			own := readTables(t, project)[name]
			if own.Configuration.CustomName != "" || len(own.Configuration.CustomRootFields)+len(own.Configuration.CustomColumnNames) > 0 {
				t.Errorf("%s is renamed: %v", name, own.Configuration)
			}
			if len(own.Insert)+len(own.Select)+len(own.Update)+len(own.Delete) > 0 {
				t.Errorf("a role may use %s", name)
			}
		}
	}
}

func TestEventsAndPermissionsNameColumnsThatExist(t *testing.T) {
	have := columnsOf(t)["files"]
	_, starter := metadata.Project(), projects(t)["starter"]
	files := readTables(t, starter)["files"]
	var named []string
	for _, trigger := range files.EventTriggers {
		for _, c := range []*columns{trigger.Definition.Update, trigger.Definition.Delete} {
			if c == nil {
				continue
			}
			for _, list := range []any{c.Columns, c.Payload} {
				named = append(named, texts(list)...)
			}
		}
	}
	for _, p := range slices.Concat(files.Insert, files.Select, files.Update, files.Delete) {
		named = append(append(named, p.Permission.Columns...), slices.Collect(maps.Keys(p.Permission.Set))...)
	}
	for _, column := range named {
		if column != "*" && !slices.Contains(have, column) {
			t.Errorf("there is no column %s", column)
		}
	}
}

func texts(list any) []string {
	if one, ok := list.(string); ok {
		return []string{one}
	}
	var all []string
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, item.(string))
	}
	return all
}

func upper(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func camel(column string) string {
	words := strings.Split(column, "_")
	for i := range words[1:] {
		words[i+1] = upper(words[i+1])
	}
	return strings.Join(words, "")
}
