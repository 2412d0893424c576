package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
)

// Admin is the role without any restriction.
const Admin = "admin"

// Select is what a role may read of a table.
type Select struct {
	Parts        []Part // one, or one per parent of an inherited role
	Limit        *int   // rows of a list; nil = any number
	Aggregations bool
	roots        *[]string // nil = all root fields
	streams      *[]string
}

// Part lets some columns of the rows that pass a filter be read.
type Part struct {
	Columns map[string]bool // database names; nil = all
	Filter  Expr
}

// Insert is what a role may insert.
type Insert struct {
	Columns     map[string]bool // nil = all
	Check       Expr
	Presets     []Preset
	BackendOnly bool
	Validation  *metadata.InputValidation
}

// Update is what a role may change.
type Update struct {
	Columns       map[string]bool // nil = all
	Filter, Check Expr
	Presets       []Preset
	BackendOnly   bool
	Validation    *metadata.InputValidation
}

// Delete is what a role may delete.
type Delete struct {
	Filter      Expr
	BackendOnly bool
	Validation  *metadata.InputValidation
}

// Preset gives a column a value of the role's permission.
type Preset struct {
	Column  *catalog.Column
	Operand Operand
}

// Sees reports whether a column may be read in some row at least.
func (s *Select) Sees(column string) bool {
	for _, p := range s.Parts {
		if p.Columns == nil || p.Columns[column] {
			return true
		}
	}
	return false
}

// Always reports whether a column may be read in every row that is visible.
func (s *Select) Always(column string) bool {
	for _, p := range s.Parts {
		if p.Columns != nil && !p.Columns[column] {
			return false
		}
	}
	return true
}

// Filter is the condition under which a row is visible; nil = always.
func (s *Select) Filter() Expr {
	var either Or
	for _, p := range s.Parts {
		if alwaysTrue(p.Filter) {
			return nil
		}
		either = append(either, p.Filter)
	}
	if len(either) == 1 {
		return either[0]
	}
	return either
}

// CellFilter is the condition under which a column of a visible row may be
// read; nil = always.
func (s *Select) CellFilter(column string) Expr {
	if s.Always(column) {
		return nil
	}
	var either Or
	for _, p := range s.Parts {
		if p.Columns != nil && !p.Columns[column] {
			continue
		}
		if alwaysTrue(p.Filter) {
			return nil
		}
		either = append(either, p.Filter)
	}
	return either
}

func (s *Select) hasRoot(name string) bool { return listed(s.roots, name) }

func listed(names *[]string, name string) bool {
	if names == nil {
		return true
	}
	return slices.Contains(*names, name)
}

// permissions parses what the metadata says about a table's roles.
func (m *Model) permissions(t *Tracked) {
	for _, p := range t.Meta.SelectPermissions {
		s, err := m.selectPermission(t, &p.Permission)
		if m.accept(t, "select_permission", p.Role, err, p.Permission) {
			t.selects[p.Role] = s
		}
	}
	if t.DB.View {
		m.refuseViewMutations(t)
		return
	}
	for _, p := range t.Meta.InsertPermissions {
		i, err := m.insertPermission(t, &p.Permission)
		if m.accept(t, "insert_permission", p.Role, err, p.Permission) {
			t.inserts[p.Role] = i
		}
	}
	for _, p := range t.Meta.UpdatePermissions {
		u, err := m.updatePermission(t, &p.Permission)
		if m.accept(t, "update_permission", p.Role, err, p.Permission) {
			t.updates[p.Role] = u
		}
	}
	for _, p := range t.Meta.DeletePermissions {
		filter, err := m.filter(t, p.Permission.Filter)
		if m.accept(t, "delete_permission", p.Role, err, p.Permission) {
			t.deletes[p.Role] = &Delete{Filter: filter, BackendOnly: p.Permission.BackendOnly, Validation: p.Permission.ValidateInput}
		}
	}
}

// refuseViewMutations reports permissions to write through a view.
func (m *Model) refuseViewMutations(t *Tracked) {
	if len(t.Meta.InsertPermissions)+len(t.Meta.UpdatePermissions)+len(t.Meta.DeletePermissions) > 0 {
		m.inconsistentIn(t, "table", t.Meta.Table.String(), errors.New("mutations of views are not supported by the local Hasura: use a real one"), t.Meta.Table)
	}
}

func (m *Model) accept(t *Tracked, kind, role string, err error, definition any) bool {
	if err != nil {
		m.inconsistentIn(t, kind, role, fmt.Errorf("in permission for role %q: %w", role, err), definition)
	}
	m.roles[role] = true
	return err == nil
}

func (m *Model) filter(t *Tracked, raw json.RawMessage) (Expr, error) {
	return filterParser{m}.parse(t, raw)
}

func (m *Model) selectPermission(t *Tracked, p *metadata.SelectPermission) (*Select, error) {
	columns, err := columnSet(t, &p.Columns)
	if err != nil {
		return nil, err
	}
	filter, err := m.filter(t, p.Filter)
	return &Select{Parts: []Part{{columns, filter}}, Limit: p.Limit, Aggregations: p.AllowAggregations,
		roots: p.QueryRootFields, streams: p.SubscriptionRootFields}, err
}

func (m *Model) insertPermission(t *Tracked, p *metadata.InsertPermission) (*Insert, error) {
	columns, err := columnSet(t, p.Columns)
	if err != nil {
		return nil, err
	}
	presets, err := presets(t, p.Set)
	if err != nil {
		return nil, err
	}
	check, err := m.filter(t, p.Check)
	return &Insert{Columns: columns, Check: check, Presets: presets, BackendOnly: p.BackendOnly, Validation: p.ValidateInput}, err
}

func (m *Model) updatePermission(t *Tracked, p *metadata.UpdatePermission) (*Update, error) {
	columns, err := columnSet(t, &p.Columns)
	if err != nil {
		return nil, err
	}
	presets, err := presets(t, p.Set)
	if err != nil {
		return nil, err
	}
	filter, err := m.filter(t, p.Filter)
	if err != nil {
		return nil, err
	}
	check, err := m.filter(t, p.Check)
	return &Update{Columns: columns, Filter: filter, Check: check, Presets: presets, BackendOnly: p.BackendOnly, Validation: p.ValidateInput}, err
}

// allColumns is the set without a limit.
var allColumns map[string]bool

func columnSet(t *Tracked, columns *metadata.Columns) (map[string]bool, error) {
	if columns == nil || columns.All {
		return allColumns, nil
	}
	for _, name := range columns.Names {
		if t.DB.Column(name) == nil {
			return nil, fmt.Errorf("column %q does not exist", name)
		}
	}
	return setOf(columns.Names), nil
}

// presets lists presets in the order of the table's columns.
func presets(t *Tracked, set metadata.Presets) ([]Preset, error) {
	var all []Preset
	for _, c := range t.DB.Columns {
		raw, ok := set[c.Name]
		if !ok {
			continue
		}
		v, err := decode(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, Preset{Column: c, Operand: presetOperand(v)})
	}
	for name := range set {
		if t.DB.Column(name) == nil {
			return nil, fmt.Errorf("column %q does not exist", name)
		}
	}
	return all, nil
}

// presetOperand differs from a filter's: a list is a JSON value here.
func presetOperand(v any) Operand {
	if s, ok := v.(string); ok && strings.HasPrefix(strings.ToLower(s), "x-hasura-") {
		return Operand{Session: strings.ToLower(s)}
	}
	return Operand{Value: v}
}
