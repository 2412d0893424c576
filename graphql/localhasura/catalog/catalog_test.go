package catalog_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/store"
)

func readCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	db, err := store.Open(t.Context(), "", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Write(t.Context(), "", func(tx *store.Tx) error { return tx.Script(t.Context(), odd) }); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const odd = `
CREATE TABLE "s.parent" ( -- a comment, with a comma
  "Id" uuid NOT NULL DEFAULT (gen_random_uuid()),
  [two words] character varying(10) DEFAULT 'a, (b' CHECK (length([two words]) < 5) CHECK ("two words" <> ''),
  n bigint CONSTRAINT n_unique UNIQUE /* here */ CONSTRAINT positive CHECK (n > 0),
  full_name text GENERATED ALWAYS AS (n || 'x') STORED,
  PRIMARY KEY ("Id"),
  CONSTRAINT pair UNIQUE (n, "two words")
);
CREATE UNIQUE INDEX lower_n ON "s.parent"(n);
CREATE TABLE child(
  a integer PRIMARY KEY AUTOINCREMENT,
  parent uuid REFERENCES "s.parent" ON DELETE SET NULL ON UPDATE NO ACTION,
  other uuid,
  self integer,
  CONSTRAINT to_parent FOREIGN KEY (other) REFERENCES "s.parent"("Id") ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (self) REFERENCES child(a),
  UNIQUE (parent, other)
);
CREATE VIEW "s.seen" AS SELECT "Id", n FROM "s.parent";
CREATE TABLE strange(a mood);
CREATE TABLE short(a integer PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE timed(a integer PRIMARY KEY, at timestamptz DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE hidden(rowid text);
`

func names(keys []*catalog.Constraint) (all []string) {
	for _, k := range keys {
		all = append(all, k.Name+"("+strings.Join(k.Columns, ",")+")")
	}
	return all
}

func TestReadNamesWhatPostgresWouldName(t *testing.T) {
	c := readCatalog(t)
	parent, child := c.Table("s", "parent"), c.Table("public", "child")
	if got, want := names(parent.Keys()), []string{"parent_pkey(Id)", "n_unique(n)", "pair(n,two words)"}; !reflect.DeepEqual(got, want) {
		t.Errorf("keys: got %v, want %v", got, want)
	}
	if got, want := names(child.Keys()), []string{"child_pkey(a)", "child_parent_other_key(parent,other)"}; !reflect.DeepEqual(got, want) {
		t.Errorf("keys: got %v, want %v", got, want)
	}
	if got, want := names(parent.Indexes), []string{"lower_n(n)"}; !reflect.DeepEqual(got, want) {
		t.Errorf("indexes: got %v, want %v", got, want)
	}
	checks := make([]string, 0, len(parent.Checks))
	for _, k := range parent.Checks {
		checks = append(checks, k.Name)
	}
	if want := []string{"parent_two words_check", "parent_two words_check1", "positive"}; !reflect.DeepEqual(checks, want) {
		t.Errorf("checks: got %q, want %q", checks, want)
	}
}

func TestReadFollowsForeignKeys(t *testing.T) {
	c := readCatalog(t)
	child := c.Table("public", "child")
	got := make([]string, 0, len(child.ForeignKeys))
	for _, fk := range child.ForeignKeys {
		text := fk.Name + "→" + fk.RefTable.FullName() + "." + strings.Join(fk.RefColumns, ",")
		if fk.Restrict {
			text += " restrict"
		}
		got = append(got, text)
	}
	want := []string{"child_parent_fkey→s.parent.Id", "to_parent→s.parent.Id restrict", "child_self_fkey→child.a"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadColumns(t *testing.T) {
	c := readCatalog(t)
	columns := c.Table("s", "parent").Columns
	got := make([]string, 0, len(columns))
	for _, column := range columns {
		text := column.Name + " " + column.Type.GraphQL
		if column.NotNull {
			text += "!"
		}
		if column.Default {
			text += " default"
		}
		if column.Generated {
			text += " generated"
		}
		got = append(got, text)
	}
	want := []string{"Id uuid! default", "two words String default", "n bigint", "full_name String generated"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if view := c.Table("s", "seen"); view == nil || !view.View || view.Column("n").Type.GraphQL != "bigint" {
		t.Errorf("view: got %+v", view)
	}
}

func TestReadSkipsByName(t *testing.T) {
	c := readCatalog(t)
	for table, part := range map[string]string{
		"strange": `the type "mood" of column "a" of table "strange" is not supported by the local Hasura`,
		"timed":   "write DEFAULT (now())",
		"hidden":  `a column named "rowid" is not supported by the local Hasura`,
		"short":   "WITHOUT ROWID is not supported by the local Hasura",
	} {
		if why := c.Skipped[table]; !strings.Contains(why, part) {
			t.Errorf("%s: got %q, want %q in it", table, why, part)
		}
	}
}
