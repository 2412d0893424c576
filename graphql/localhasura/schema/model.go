package schema

import (
	"encoding/json"
	"fmt"
	"sync"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
)

// Model is metadata joined with the database's catalog: everything that the
// schemas of all roles are made of. It is not changed once built.
type Model struct {
	Metadata     *metadata.Metadata
	Catalog      *catalog.Catalog
	Inconsistent []metadata.InconsistentObject
	env          metadata.Env
	tables       map[metadata.TableName]*Tracked
	order        []*Tracked
	inherited    map[string][]string // role → its set
	roles        map[string]bool     // that the metadata mentions
	mu           sync.Mutex          // guards schemas
	schemas      map[schemaKey]*Schema
}

// Tracked is a table with its names and relationships.
type Tracked struct {
	Meta       *metadata.Table
	DB         *catalog.Table
	Base       string    // the name that its types start with
	Columns    []*Column // those with a valid GraphQL name, in database order
	Relations  []*Relation
	selects    map[string]*Select
	inserts    map[string]*Insert
	updates    map[string]*Update
	deletes    map[string]*Delete
	columnByDB map[string]*Column
}

// Column is a column under its GraphQL name.
type Column struct {
	Name        string
	Description string
	DB          *catalog.Column
}

// Relation is a relationship of a table.
type Relation struct {
	Name     string
	Array    bool
	Join     Join
	Target   *Tracked
	Required bool // an object relation that every row has
	// BeforeParent says that a nested insert writes the related row first,
	// because the key stands in this table.
	BeforeParent bool
}

// NewModel joins metadata and catalog. What does not fit is inconsistent and
// left out; the rest works. env answers the variables in actions' handlers.
func NewModel(md *metadata.Metadata, db *catalog.Catalog, env metadata.Env) *Model {
	m := &Model{Metadata: md, Catalog: db, env: env, tables: map[metadata.TableName]*Tracked{}, inherited: map[string][]string{}, roles: map[string]bool{Admin: true}, schemas: map[schemaKey]*Schema{}}
	for _, role := range md.InheritedRoles {
		m.inherited[role.RoleName] = role.RoleSet
		m.roles[role.RoleName] = true
	}
	for _, a := range md.Actions {
		for _, p := range a.Permissions {
			m.roles[p.Role] = true
		}
	}
	for i := range md.Sources {
		m.trackTables(&md.Sources[i])
	}
	for _, t := range m.order {
		m.relate(t)
	}
	for _, t := range m.order {
		m.permissions(t)
	}
	m.checkInherited()
	m.checkActions()
	return m
}

func (m *Model) trackTables(source *metadata.Source) {
	for i := range source.Tables {
		meta := &source.Tables[i]
		db := m.Catalog.Table(meta.Table.Schema, meta.Table.Name)
		if db == nil {
			m.missingTable(source.Name, meta)
			continue
		}
		if meta.IsEnum {
			m.inconsistent("table", fmt.Sprintf("table %s in source %s", meta.Table, source.Name),
				"enum tables are not supported by the local Hasura: use a real one", meta.Table)
			continue
		}
		t := newTracked(meta, db)
		m.tables[meta.Table] = t
		m.order = append(m.order, t)
	}
}

func (m *Model) missingTable(source string, meta *metadata.Table) {
	reason := fmt.Sprintf("no such table/view exists in source: %q", meta.Table.String())
	for _, name := range []string{meta.Table.Schema + "." + meta.Table.Name, meta.Table.Name} {
		if why := m.Catalog.Skipped[name]; why != "" {
			reason = why
		}
	}
	m.inconsistent("table", fmt.Sprintf("table %s in source %s", meta.Table, source), reason, meta.Table)
}

func (m *Model) inconsistent(kind, name, reason string, definition any) {
	m.Inconsistent = append(m.Inconsistent, metadata.Inconsistent(kind, name, reason, definition))
}

func newTracked(meta *metadata.Table, db *catalog.Table) *Tracked {
	t := &Tracked{Meta: meta, DB: db, Base: baseName(meta), columnByDB: map[string]*Column{},
		selects: map[string]*Select{}, inserts: map[string]*Insert{}, updates: map[string]*Update{}, deletes: map[string]*Delete{}}
	for _, c := range db.Columns {
		column := &Column{Name: meta.Configuration.ColumnName(c.Name), DB: c}
		if meta.Configuration != nil {
			column.Description = meta.Configuration.ColumnConfig[c.Name].Comment
		}
		if ValidName(column.Name) {
			t.Columns = append(t.Columns, column)
			t.columnByDB[c.Name] = column
		}
	}
	return t
}

func baseName(meta *metadata.Table) string {
	if meta.Configuration != nil && meta.Configuration.CustomName != "" {
		return meta.Configuration.CustomName
	}
	if meta.Table.Schema == "" || meta.Table.Schema == "public" {
		return meta.Table.Name
	}
	return meta.Table.Schema + "_" + meta.Table.Name
}

// Tracked finds a tracked table; nil if there is none.
func (m *Model) Tracked(name metadata.TableName) *Tracked { return m.tables[name] }

// Tables lists the tracked tables in the order of the metadata.
func (m *Model) Tables() []*Tracked { return m.order }

// Relation finds a relationship by name; nil if there is none.
func (t *Tracked) Relation(name string) *Relation {
	for _, r := range t.Relations {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// ColumnOf is the GraphQL side of a database column; nil if it has none.
func (t *Tracked) ColumnOf(db string) *Column { return t.columnByDB[db] }

func (m *Model) relate(t *Tracked) {
	for i, kind := range [][]metadata.Relationship{t.Meta.ObjectRelationships, t.Meta.ArrayRelationships} {
		for _, rel := range kind {
			r, err := m.relation(t, rel, i == 1)
			if err == nil && (!ValidName(r.Name) || t.DB.Column(r.Name) != nil) {
				err = fmt.Errorf("field with name %q already exists or is not a valid GraphQL name", r.Name)
			}
			if err != nil {
				m.inconsistentIn(t, []string{"object_relation", "array_relation"}[i], rel.Name, err, rel)
				continue
			}
			t.Relations = append(t.Relations, r)
		}
	}
}

func (m *Model) inconsistentIn(t *Tracked, kind, name string, err error, definition any) {
	m.inconsistent(kind, fmt.Sprintf("%s %s in table %s in source default", kind, name, t.Meta.Table), fmt.Sprintf("in table %q: %v", t.Meta.Table.String(), err),
		map[string]any{"table": t.Meta.Table, "definition": definition})
}

func (m *Model) relation(t *Tracked, rel metadata.Relationship, array bool) (*Relation, error) {
	r := &Relation{Name: rel.Name, Array: array}
	switch {
	case rel.Using.Manual != nil:
		return r, m.manual(t, r, rel.Using.Manual)
	case rel.Using.ForeignKey == nil:
		return r, fmt.Errorf("relationship %q has neither a foreign key nor a manual configuration", rel.Name)
	case rel.Using.ForeignKey.Table != nil:
		return r, m.incoming(t, r, rel.Using.ForeignKey)
	}
	return r, m.outgoing(t, r, rel.Using.ForeignKey.Columns)
}

func (m *Model) manual(t *Tracked, r *Relation, conf *metadata.ManualConfiguration) error {
	if r.Target = m.Tracked(conf.RemoteTable); r.Target == nil {
		return fmt.Errorf("table %q is not tracked", conf.RemoteTable)
	}
	r.BeforeParent = !r.Array && (conf.InsertionOrder == nil || *conf.InsertionOrder != "after_parent")
	r.Join.Target = r.Target.DB
	for _, c := range t.DB.Columns { // in a fixed order
		remote, mapped := conf.ColumnMapping[c.Name]
		if !mapped {
			continue
		}
		if r.Target.DB.Column(remote) == nil {
			return fmt.Errorf("column %q does not exist in table %q", remote, conf.RemoteTable)
		}
		r.Join.Pairs = append(r.Join.Pairs, Pair{c, r.Target.DB.Column(remote)})
	}
	if len(r.Join.Pairs) != len(conf.ColumnMapping) || len(r.Join.Pairs) == 0 {
		return fmt.Errorf("the column_mapping of relationship %q names a column that does not exist", r.Name)
	}
	return nil
}

// outgoing follows a foreign key of the table itself.
func (m *Model) outgoing(t *Tracked, r *Relation, columns []string) error {
	for _, fk := range t.DB.ForeignKeys {
		if !sameColumns(fk.Columns, columns) {
			continue
		}
		if r.Target = m.trackedDB(fk.RefTable); r.Target == nil {
			return fmt.Errorf("table %q is not tracked", fk.RefTable.FullName())
		}
		r.Join = Join{Target: fk.RefTable, Pairs: pairs(t.DB, fk.Columns, fk.RefTable, fk.RefColumns)}
		r.BeforeParent, r.Required = true, !r.Array
		for _, p := range r.Join.Pairs {
			r.Required = r.Required && p.Local.NotNull
		}
		return nil
	}
	return fmt.Errorf("no foreign constraint exists on the given column(s) %q", columns)
}

// incoming follows a foreign key of the other table backwards.
func (m *Model) incoming(t *Tracked, r *Relation, key *metadata.ForeignKey) error {
	if r.Target = m.Tracked(*key.Table); r.Target == nil {
		return fmt.Errorf("table %q is not tracked", key.Table)
	}
	for _, fk := range r.Target.DB.ForeignKeys {
		if fk.RefTable == t.DB && sameColumns(fk.Columns, key.Columns) {
			r.Join = Join{Target: r.Target.DB, Pairs: pairs(t.DB, fk.RefColumns, r.Target.DB, fk.Columns)}
			return nil
		}
	}
	return fmt.Errorf("no foreign constraint exists on the given column(s) %q of table %q", key.Columns, key.Table)
}

func (m *Model) trackedDB(db *catalog.Table) *Tracked {
	for _, t := range m.order {
		if t.DB == db {
			return t
		}
	}
	return nil
}

func pairs(local *catalog.Table, here []string, remote *catalog.Table, there []string) []Pair {
	var all []Pair
	for i := range here {
		if i < len(there) {
			all = append(all, Pair{local.Column(here[i]), remote.Column(there[i])})
		}
	}
	return all
}

func sameColumns(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	in := setOf(a)
	for _, name := range b {
		if !in[name] {
			return false
		}
	}
	return true
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
