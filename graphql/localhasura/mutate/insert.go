package mutate

import (
	"context"
	"slices"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/pgerror"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

func (r *Runner) insert(ctx context.Context, node schema.InsertRoot, s *document.Selection) (string, *qerr.Error) {
	data := s.Arg("objects")
	if node.One {
		data = s.Arg("object")
	}
	if err := refusePlaceholder(s.Arg("on_conflict")); err != nil {
		return "", err
	}
	w, err := r.insertRows(ctx, &inserting{view: node.View, data: data, conflict: conflictOf(s.Arg("on_conflict"))})
	if err != nil {
		return "", err
	}
	if node.One {
		return r.firstRow(ctx, w, s.Sub)
	}
	return r.response(ctx, w, s.Sub)
}

// refusePlaceholder refuses the value that stands in the enum of updatable
// columns where a role has none.
func refusePlaceholder(v *document.Value) *qerr.Error {
	conflict := conflictOf(v)
	if conflict == nil || conflict.Get("update_columns") == nil {
		return nil
	}
	for _, item := range conflict.Get("update_columns").List() {
		if enum, ok := item.V.(*schema.Value); ok && enum.Node == nil {
			return qerr.New(qerr.ValidationFailed, "erroneous column name").At(v.Path.String())
		}
	}
	return nil
}

// inserting is a list of rows for one table; a nested one has a parent that
// determines some columns.
type inserting struct {
	view     *schema.View
	data     *document.Value // a list of objects, or one
	conflict *document.Object
	fixed    map[*catalog.Column]any // stored values
}

func conflictOf(v *document.Value) *document.Object {
	if v == nil {
		return nil
	}
	return v.Object()
}

func (i *inserting) objects() []*document.Value {
	if i.data.Object() != nil {
		return []*document.Value{i.data}
	}
	return i.data.List()
}

// insertRows inserts row by row and then judges all of them, as Hasura's one
// statement does. Rows with nested ones are judged before their children.
func (r *Runner) insertRows(ctx context.Context, i *inserting) (written, *qerr.Error) {
	w := written{view: i.view}
	var inserted, updated []int64
	for _, object := range i.objects() {
		row, err := r.insertRow(ctx, i, object)
		if err != nil {
			return w, err
		}
		w.affected += row.affected
		if row.id == nil {
			continue
		}
		if row.updated && slices.Contains(w.rowids, *row.id) {
			return w, pgerror.TwiceInUpsert().Error(i.data.Path.String())
		}
		w.rowids = append(w.rowids, *row.id)
		switch {
		case row.judged:
		case row.updated:
			updated = append(updated, *row.id)
		default:
			inserted = append(inserted, *row.id)
		}
	}
	path := i.data.Path.String()
	if err := r.check(ctx, i.view.DB, i.view.Insert.Check, inserted, path); err != nil {
		return w, err
	}
	return w, r.checkUpdated(ctx, i.view, updated, path)
}

func (r *Runner) checkUpdated(ctx context.Context, v *schema.View, rowids []int64, path string) *qerr.Error {
	if v.Update == nil {
		return nil
	}
	return r.check(ctx, v.DB, v.Update.Check, rowids, path)
}

// inserted is what became of one object.
type inserted struct {
	id       *int64 // nil if a conflict made the database skip it
	updated  bool
	judged   bool // its check has been made
	affected int  // nested rows included
}

func (r *Runner) insertRow(ctx context.Context, i *inserting, object *document.Value) (inserted, *qerr.Error) {
	n := nestedOf(object)
	if len(n.before)+len(n.after) > 0 {
		return r.insertNested(ctx, i, object, n)
	}
	return r.insertPlain(ctx, i, i.values(object, nil))
}

// value is a column of a row to insert.
type value struct {
	column *catalog.Column
	write  func(q *plan.Query)
}

// values are the row's columns: given, fixed by parents, and preset.
func (i *inserting) values(object *document.Value, parents map[*catalog.Column]any) []value {
	path := i.data.Path.String()
	var all []value
	for _, m := range object.Object().Members {
		if c, ok := m.Input.Node.(*schema.Column); ok {
			all = append(all, value{c.DB, func(q *plan.Query) { q.Bind(q.Store(c.DB.Type, m.Value.JSON(), path)) }})
		}
	}
	for _, fixed := range []map[*catalog.Column]any{i.fixed, parents} {
		for c, v := range fixed {
			all = append(all, value{c, func(q *plan.Query) { q.Bind(v) }})
		}
	}
	for _, p := range i.view.Insert.Presets {
		if _, determined := i.fixed[p.Column]; !determined {
			all = append(all, value{p.Column, func(q *plan.Query) { q.Bind(q.Operand(p.Operand, p.Column.Type, path)) }})
		}
	}
	return all
}

// insertPlain inserts one row. With on_conflict it first tries to insert and
// only then to update, to know which of both happened.
func (r *Runner) insertPlain(ctx context.Context, i *inserting, values []value) (inserted, *qerr.Error) {
	var row inserted
	if err := i.refuseNullKey(values); err != nil {
		return row, err
	}
	ids, err := r.change(ctx, r.insertSQL(i, values, false), i.view.DB, i.data.Path.String())
	if err != nil {
		return row, err
	}
	if len(ids) == 0 && i.updates() {
		row.updated = true
		if ids, err = r.change(ctx, r.insertSQL(i, values, true), i.view.DB, i.data.Path.String()); err != nil {
			return row, err
		}
	}
	if len(ids) > 0 {
		row.id, row.affected = &ids[0], 1
	}
	return row, nil
}

// refuseNullKey refuses a row without its key: SQLite would store null there.
func (i *inserting) refuseNullKey(values []value) *qerr.Error {
	if i.view.DB.PrimaryKey == nil {
		return nil
	}
	given := map[string]bool{}
	for _, v := range values {
		given[v.column.Name] = true
	}
	for _, name := range i.view.DB.PrimaryKey.Columns {
		if !given[name] && !i.view.DB.Column(name).Default {
			return pgerror.NotNull(i.view.DB, name).Error(i.data.Path.String())
		}
	}
	return nil
}

func (r *Runner) insertSQL(i *inserting, values []value, update bool) *plan.Query {
	q := plan.NewQuery(r.Session)
	q.Write("INSERT INTO ", catalog.Quote(i.view.DB.SQLName), " AS ", targetAlias, " (")
	for n, v := range values {
		if n > 0 {
			q.Write(", ")
		}
		q.Write(catalog.Quote(v.column.Name))
	}
	if len(values) == 0 {
		q.Write("rowid) VALUES (NULL") // nothing but defaults
	} else {
		q.Write(") VALUES (")
	}
	for n, v := range values {
		if n > 0 {
			q.Write(", ")
		}
		v.write(q)
	}
	q.Write(")")
	if i.conflict != nil {
		i.onConflict(q, update)
	}
	q.Write(" RETURNING rowid")
	return q
}

// targetAlias names the existing row in an upsert.
const targetAlias = "t0"

// updates reports whether a conflicting row is updated instead of skipped.
func (i *inserting) updates() bool {
	return i.conflict != nil && len(i.updateColumns()) > 0
}

func (i *inserting) updateColumns() []*catalog.Column {
	columns := i.conflict.Get("update_columns")
	if columns == nil {
		return nil
	}
	return plan.Columns(columns)
}

// conflictKey are the columns of the constraint that the client names.
func (i *inserting) conflictKey() []string {
	named, _ := i.conflict.Get("constraint").V.(*schema.Value)
	key, _ := named.Node.(*catalog.Constraint)
	return key.Columns
}

func (i *inserting) onConflict(q *plan.Query, update bool) {
	q.Write(" ON CONFLICT (")
	for n, name := range i.conflictKey() {
		if n > 0 {
			q.Write(", ")
		}
		q.Write(catalog.Quote(name))
	}
	q.Write(") DO ")
	if !update {
		q.Write("NOTHING")
		return
	}
	q.Write("UPDATE SET ")
	for n, c := range i.updateColumns() {
		if n > 0 {
			q.Write(", ")
		}
		q.Write(catalog.Quote(c.Name), " = excluded.", catalog.Quote(c.Name))
	}
	for _, a := range presets(i.view.Update.Presets) {
		q.Write(", ", catalog.Quote(a.column.Name), " = ")
		a.write(q, targetAlias)
	}
	q.Write(" WHERE ")
	q.Expr(schema.Conjunction(i.view.Update.Filter, plan.Where(i.view, i.conflict.Get("where"))), targetAlias)
}
