// Package catalog reads a SQLite schema as if it were Postgres's: tables with
// schema names, columns with Postgres types, and constraints with the names
// that Postgres gives them.
//
// A SQLite table named `"storage.files"` is the table files of the schema
// storage; a name without a dot stands in schema public.
package catalog

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"hasura-storage/graphql/localhasura/pgtype"
)

// Table is a table or view.
type Table struct {
	Schema, Name string
	SQLName      string // the raw SQLite name; quote it with Quote
	View         bool
	Columns      []*Column // in declaration order
	PrimaryKey   *Constraint
	Unique       []*Constraint // without the primary key
	Indexes      []*Constraint // unique indexes, which are no constraints
	ForeignKeys  []*ForeignKey
	Checks       []Check
	byName       map[string]*Column
}

// Column is a column as declared.
type Column struct {
	Name      string
	Type      pgtype.Type
	NotNull   bool
	Generated bool // its value cannot be given
	Default   bool // it has a value when none is given
}

// Constraint is a primary key or a unique constraint.
type Constraint struct {
	Name    string
	Columns []string
}

// ForeignKey points from Columns of its table to RefColumns of another.
type ForeignKey struct {
	Name       string
	Columns    []string
	RefTable   *Table
	RefColumns []string
	Restrict   bool // ON DELETE RESTRICT
	refName    string
}

// Check is a CHECK constraint; SQLite reports an unnamed one by its text.
type Check struct{ Name, Text string }

// Catalog is a database's schema at one moment; it is not changed once read.
type Catalog struct {
	tables  map[string]*Table // by SQLName
	Skipped map[string]string // tables left out: SQLName → why
}

// Queryer is what Read needs of *sql.DB, *sql.Conn or *sql.Tx.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Read reads the whole schema. Tables of SQLite's own and of schema hdb_catalog
// are left out. A table that cannot be understood stands in Skipped.
func Read(ctx context.Context, db Queryer) (*Catalog, error) {
	rows, err := db.QueryContext(ctx, `SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table','view','index') ORDER BY type DESC, rowid`)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	defer func() { _ = rows.Close() }()
	c := &Catalog{tables: map[string]*Table{}, Skipped: map[string]string{}}
	var views []string
	for rows.Next() {
		var kind, name, table, ddl string
		if err := rows.Scan(&kind, &name, &table, &ddl); err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		switch {
		case internal(name):
		case kind == "view":
			views = append(views, name)
		default:
			c.add(kind, name, table, ddl)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	c.resolve()
	c.addViews(ctx, db, views)
	return c, nil
}

// addViews reads the columns of views; they have no constraints.
func (c *Catalog) addViews(ctx context.Context, db Queryer, names []string) {
	for _, name := range names {
		t, err := readView(ctx, db, name)
		if err != nil {
			c.Skipped[name] = err.Error()
			continue
		}
		c.tables[name] = t
	}
}

// readView takes the types that SQLite knows: those of columns that a view
// hands through, or of its casts.
func readView(ctx context.Context, db Queryer, sqlName string) (*Table, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, type FROM pragma_table_info(?) ORDER BY cid", sqlName)
	if err != nil {
		return nil, fmt.Errorf("read view %q: %w", sqlName, err)
	}
	defer func() { _ = rows.Close() }()
	schema, name := splitName(sqlName)
	t := &Table{Schema: schema, Name: name, SQLName: sqlName, View: true, byName: map[string]*Column{}}
	for rows.Next() {
		var column, declared string
		if err := rows.Scan(&column, &declared); err != nil {
			return nil, fmt.Errorf("read view %q: %w", sqlName, err)
		}
		typ, ok := pgtype.Parse(declared)
		if !ok {
			return nil, unknownType(declared, column, t)
		}
		c := &Column{Name: column, Type: typ, Generated: true}
		t.Columns, t.byName[column] = append(t.Columns, c), c
	}
	return t, rows.Err()
}

func unknownType(declared, column string, t *Table) error {
	return fmt.Errorf("the type %q of column %q of table %q is not supported by the local Hasura: use a real one", declared, column, t.FullName())
}

func internal(name string) bool {
	return strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "hdb_catalog.")
}

func (c *Catalog) add(kind, name, table, ddl string) {
	if kind == "index" {
		if t := c.tables[table]; t != nil {
			t.addIndex(name, ddl)
		}
		return
	}
	t, err := parseTable(name, ddl)
	if err != nil {
		c.Skipped[name] = err.Error()
		return
	}
	c.tables[name] = t
}

// resolve connects foreign keys to the tables that they name.
func (c *Catalog) resolve() {
	for _, t := range c.tables {
		kept := t.ForeignKeys[:0]
		for _, fk := range t.ForeignKeys {
			if fk.RefTable = c.find(fk.refName); fk.RefTable == nil {
				continue
			}
			if len(fk.RefColumns) == 0 && fk.RefTable.PrimaryKey != nil {
				fk.RefColumns = fk.RefTable.PrimaryKey.Columns
			}
			kept = append(kept, fk)
		}
		t.ForeignKeys = kept
	}
}

func (c *Catalog) find(sqlName string) *Table {
	for name, t := range c.tables {
		if strings.EqualFold(name, sqlName) {
			return t
		}
	}
	return nil
}

// Table finds a table by its Postgres name; nil if there is none.
func (c *Catalog) Table(schema, name string) *Table {
	if schema == "" || schema == "public" {
		if t := c.tables[name]; t != nil {
			return t
		}
	}
	return c.tables[schema+"."+name]
}

// BySQLName finds a table by its SQLite name; nil if there is none.
func (c *Catalog) BySQLName(name string) *Table { return c.tables[name] }

// Tables lists all tables, in no order.
func (c *Catalog) Tables() []*Table {
	all := make([]*Table, 0, len(c.tables))
	for _, t := range c.tables {
		all = append(all, t)
	}
	return all
}

// Column finds a column by its name; nil if there is none.
func (t *Table) Column(name string) *Column { return t.byName[name] }

// FullName is the table's name as Hasura prints it: public is left away.
func (t *Table) FullName() string {
	if t.Schema == "public" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// Quote makes a SQL identifier of any name.
func Quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Keys lists the primary key, if any, and the unique constraints.
func (t *Table) Keys() []*Constraint {
	if t.PrimaryKey == nil {
		return t.Unique
	}
	return append([]*Constraint{t.PrimaryKey}, t.Unique...)
}

// splitName parts "schema.table"; a name without a dot is in public.
func splitName(sqlName string) (schema, name string) {
	if schema, name, ok := strings.Cut(sqlName, "."); ok {
		return schema, name
	}
	return "public", sqlName
}
