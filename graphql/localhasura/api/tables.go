package api

import (
	"encoding/json"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

// onTable are the members that name a table in most commands.
type onTable struct {
	SourceName string             `json:"source"`
	Table      metadata.TableName `json:"table"`
}

func (o onTable) source() string {
	if o.SourceName == "" {
		return "default"
	}
	return o.SourceName
}

// existing makes sure that the source exists.
func (o onTable) existing(m *metadata.Metadata) *qerr.Error {
	if m.Source(o.source()) == nil {
		return failf(qerr.NotExists, "source with name %q does not exist", o.source())
	}
	return nil
}

// find is the tracked table.
func (o onTable) find(m *metadata.Metadata) (*metadata.Table, *qerr.Error) {
	if err := o.existing(m); err != nil {
		return nil, err
	}
	t := m.Source(o.source()).Table(o.Table)
	if t == nil {
		return nil, failf(qerr.NotExists, "table %q does not exist in source: %s", o.Table.String(), o.source())
	}
	return t, nil
}

// tableIn is find in a copy of the draft, where it is known to succeed.
func (o onTable) tableIn(m *metadata.Metadata) *metadata.Table {
	return m.Source(o.source()).Table(o.Table)
}

type trackArgs struct {
	onTable
	Configuration *metadata.TableConfig `json:"configuration"`
}

func trackTable(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a trackArgs
	if len(raw) > 0 && raw[0] == '"' { // the short form: the name alone
		raw = json.RawMessage(`{"table":` + string(raw) + `}`)
	}
	if err := args(raw, &a, "table"); err != nil {
		return nil, err
	}
	return success, w.track(a)
}

func (w *work) track(a trackArgs) *qerr.Error {
	if err := a.existing(w.draft); err != nil {
		return err
	}
	if w.draft.Source(a.source()).Table(a.Table) != nil {
		return failf(qerr.AlreadyTracked, "view/table already tracked: %q", a.Table.String())
	}
	tables, err := catalog.Read(w.ctx, w.db)
	if err != nil {
		return qerr.Internalf(err, "internal error")
	}
	if tables.Table(a.Table.Schema, a.Table.Name) == nil {
		return failf(qerr.NotExists, "no such table/view exists in source: %q", a.Table.String())
	}
	return w.change("table", func(m *metadata.Metadata) {
		s := m.Source(a.source())
		s.Tables = append(s.Tables, metadata.Table{Table: a.Table, Configuration: a.Configuration})
	})
}

func trackTables(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		Tables []trackArgs `json:"tables"`
	}
	if err := args(raw, &a, "tables"); err != nil {
		return nil, err
	}
	for _, t := range a.Tables {
		if err := w.track(t); err != nil {
			return nil, err
		}
	}
	return success, nil
}

type untrackArgs struct {
	onTable
	Cascade bool `json:"cascade"`
}

func untrackTable(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a untrackArgs
	if err := args(raw, &a, "table"); err != nil {
		return nil, err
	}
	return success, w.untrack(a)
}

func untrackTables(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		Tables []untrackArgs `json:"tables"`
	}
	if err := args(raw, &a, "tables"); err != nil {
		return nil, err
	}
	for _, t := range a.Tables {
		if err := w.untrack(t); err != nil {
			return nil, err
		}
	}
	return success, nil
}

func (w *work) untrack(a untrackArgs) *qerr.Error {
	if err := a.existing(w.draft); err != nil {
		return err
	}
	if w.draft.Source(a.source()).Table(a.Table) == nil {
		return failf(qerr.AlreadyUntracked, "view/table already untracked: %q", a.Table.String())
	}
	return w.remove(a.Cascade, func(m *metadata.Metadata) {
		s := m.Source(a.source())
		s.Tables = slices.DeleteFunc(s.Tables, func(t metadata.Table) bool { return t.Table == a.Table })
	})
}

// remove takes something away. What depends on it goes as well if cascade
// says so; otherwise it is named in the error.
func (w *work) remove(cascade bool, modify func(*metadata.Metadata)) *qerr.Error {
	m, bad, err := w.try(modify)
	if err != nil {
		return err
	}
	if fresh := newOnes(w.bad, bad); len(fresh) > 0 {
		var gone []dependent
		if gone, bad, err = w.prune(w.ctx, m, w.db, w.bad, fresh); err != nil {
			return err
		}
		if !cascade {
			return dependencies(gone)
		}
	}
	w.draft, w.bad, w.changed = m, bad, true
	return nil
}

func dependencies(of []dependent) *qerr.Error {
	shown := make([]string, len(of))
	for i, d := range of {
		shown[i] = d.shown
	}
	return failf(qerr.DependencyError, "cannot drop due to the following dependent objects: %s", strings.Join(shown, ", "))
}

func setTableCustomization(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a trackArgs
	if err := args(raw, &a, "table", "configuration"); err != nil {
		return nil, err
	}
	if _, err := a.find(w.draft); err != nil {
		return nil, err
	}
	return success, w.change("table", func(m *metadata.Metadata) { a.tableIn(m).Configuration = a.Configuration })
}

func createRelationship(kind string) command {
	return func(w *work, raw json.RawMessage) (any, *qerr.Error) {
		var a struct {
			onTable
			metadata.Relationship
		}
		if err := args(raw, &a, "table", "name", "using"); err != nil {
			return nil, err
		}
		t, err := a.find(w.draft)
		if err != nil {
			return nil, err
		}
		if relationOf(t, a.Name) != nil {
			return nil, failf(qerr.AlreadyExists, "field with name %q already exists in table %q", a.Name, a.Table.String())
		}
		return success, w.change(kind, func(m *metadata.Metadata) {
			t := a.tableIn(m)
			if kind == object {
				t.ObjectRelationships = append(t.ObjectRelationships, a.Relationship)
			} else {
				t.ArrayRelationships = append(t.ArrayRelationships, a.Relationship)
			}
		})
	}
}

func relationOf(t *metadata.Table, name string) *metadata.Relationship {
	for _, list := range [][]metadata.Relationship{t.ObjectRelationships, t.ArrayRelationships} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// relation reads arguments that name a relationship and makes sure it exists.
func relation(w *work, raw json.RawMessage, into any, on *onTable, name *string) *qerr.Error {
	if err := args(raw, into, "table"); err != nil {
		return err
	}
	t, err := on.find(w.draft)
	if err != nil {
		return err
	}
	if relationOf(t, *name) == nil {
		return failf(qerr.NotExists, "relationship %q does not exist in table %q", *name, on.Table.String())
	}
	return nil
}

func dropRelationship(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		onTable
		Relationship string `json:"relationship"`
		Cascade      bool   `json:"cascade"`
	}
	if err := relation(w, raw, &a, &a.onTable, &a.Relationship); err != nil {
		return nil, err
	}
	named := func(r metadata.Relationship) bool { return r.Name == a.Relationship }
	return success, w.remove(a.Cascade, func(m *metadata.Metadata) {
		t := a.tableIn(m)
		t.ObjectRelationships = slices.DeleteFunc(t.ObjectRelationships, named)
		t.ArrayRelationships = slices.DeleteFunc(t.ArrayRelationships, named)
	})
}

func renameRelationship(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		onTable
		Name    string `json:"name"`
		NewName string `json:"new_name"`
	}
	if err := relation(w, raw, &a, &a.onTable, &a.Name); err != nil {
		return nil, err
	}
	return success, w.change("", func(m *metadata.Metadata) {
		relationOf(a.tableIn(m), a.Name).Name = a.NewName
	})
}

func dropSource(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		Name string `json:"name"`
	}
	if err := args(raw, &a, "name"); err != nil {
		return nil, err
	}
	if err := (onTable{SourceName: a.Name}).existing(w.draft); err != nil {
		return nil, err
	}
	return success, w.change("source", func(m *metadata.Metadata) {
		m.Sources = slices.DeleteFunc(m.Sources, func(s metadata.Source) bool { return s.Name == a.Name })
	})
}
