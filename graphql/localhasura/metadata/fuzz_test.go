package metadata_test

import (
	"testing"
	"testing/fstest"

	"hasura-storage/graphql/localhasura/metadata"
)

// FuzzParse holds that what can be read can be exported, and is read the same
// again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"version":3,"sources":[{"name":"a","tables":[{"table":"t","select_permissions":[{"role":"r","permission":{"columns":"*","filter":{}}}]}]}]}`,
		`{"version":2,"tables":[{"table":{"schema":"s","name":"t"},"object_relationships":[{"name":"r","using":{"foreign_key_constraint_on":["a","b"]}}]}]}`,
		`{"version":3,"actions":[{"name":"a","definition":{"timeout":30}}],"cron_triggers":[{"name":"c","retry_conf":{}}]}`,
		`{"version":3,"sources":[{"tables":[{"table":"t","configuration":{"custom_root_fields":{"select":{"name":"x","comment":"y"}}},"insert_permissions":[{"role":"r","permission":{"check":null,"set":{"a":1}}}]}]}]}`,
		`{}`, `null`, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := metadata.Parse(raw)
		if err != nil {
			return
		}
		_ = m.Unsupported()
		first, err := m.Export()
		if err != nil {
			t.Fatalf("cannot export %s: %v", raw, err)
		}
		again, err := metadata.Parse(first)
		if err != nil {
			t.Fatalf("cannot read the export %s: %v", first, err)
		}
		second, err := again.Export()
		if err != nil || string(first) != string(second) {
			t.Errorf("the export changed: %v\n%s\n%s", err, first, second)
		}
	})
}

// FuzzLoad holds that no YAML and no SDL makes the loader panic.
func FuzzLoad(f *testing.F) {
	f.Add("- {name: a, tables: !include x.yaml}", "type Query { a: Int }")
	f.Add("- &a [*a]", "extend type Mutation { a(b: C! = 1): [D!]! }")
	f.Add("- {<<: {a: 1}, name: 1.5e400}", "enum E { A @deprecated }")
	f.Fuzz(func(_ *testing.T, databases, sdl string) {
		_, _ = metadata.Load(fstest.MapFS{
			"databases/databases.yaml": {Data: []byte(databases)},
			"actions.graphql":          {Data: []byte(sdl)},
			"actions.yaml":             {Data: []byte("actions: [{name: a}]")},
		})
	})
}
