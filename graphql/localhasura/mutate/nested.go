package mutate

import (
	"context"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// nestedRow is a relationship's rows inside an object to insert.
type nestedRow struct {
	name     string
	relation *schema.Relation
	view     *schema.View
	data     *document.Value
	conflict *document.Object
	path     *document.Path
}

// nested are the related rows of an object: those to insert before it and
// those after it.
type nested struct{ before, after []nestedRow }

func nestedOf(object *document.Value) nested {
	var n nested
	for _, m := range object.Object().Members {
		node, ok := m.Input.Node.(schema.RelatedInput)
		if !ok || m.Value.IsNull() {
			continue
		}
		o := m.Value.Object()
		row := nestedRow{name: m.Input.Name, relation: node.Relation, view: node.View, data: o.Get("data"), conflict: conflictOf(o.Get("on_conflict")), path: m.Value.Path}
		switch {
		case node.Relation.Array && len(row.data.List()) == 0:
		case node.Relation.BeforeParent && !node.Relation.Array:
			n.before = append(n.before, row)
		default:
			n.after = append(n.after, row)
		}
	}
	return n
}

func (r *Runner) insertNested(ctx context.Context, i *inserting, object *document.Value, n nested) (inserted, *qerr.Error) {
	parents, affected, err := r.insertBefore(ctx, i, object, n.before)
	if err != nil {
		return inserted{}, err
	}
	row, err := r.insertPlain(ctx, i, i.values(object, parents))
	if err != nil {
		return row, err
	}
	row.affected += affected
	if row.id == nil {
		if len(n.after) > 0 {
			return row, qerr.Newf(qerr.NotSupported, "cannot proceed to insert array relations since insert to table %q affects zero rows", i.view.DB.FullName()).At(i.data.Path.String())
		}
		return row, nil
	}
	if err := r.judge(ctx, i, &row); err != nil {
		return row, err
	}
	return row, r.insertAfter(ctx, i.view.DB, &row, n.after)
}

func (r *Runner) judge(ctx context.Context, i *inserting, row *inserted) *qerr.Error {
	row.judged = true
	if row.updated {
		return r.checkUpdated(ctx, i.view, []int64{*row.id}, i.data.Path.String())
	}
	return r.check(ctx, i.view.DB, i.view.Insert.Check, []int64{*row.id}, i.data.Path.String())
}

// insertBefore inserts the rows that this one points to and returns the values
// that they give its columns.
func (r *Runner) insertBefore(ctx context.Context, i *inserting, object *document.Value, rows []nestedRow) (map[*catalog.Column]any, int, *qerr.Error) {
	values, affected := map[*catalog.Column]any{}, 0
	for _, row := range rows {
		if column := alreadyGiven(i, object, row.relation); column != "" {
			return nil, 0, qerr.Newf(qerr.ValidationFailed, "cannot insert object relationship %q as %q column values are already determined", row.name, column).At(row.path.String())
		}
		w, err := r.insertRows(ctx, &inserting{view: row.view, data: row.data, conflict: row.conflict})
		if err != nil {
			return nil, 0, err
		}
		if len(w.rowids) == 0 {
			return nil, 0, qerr.Newf(qerr.NotSupported, "cannot proceed to insert object relation %q since insert to table %q affects zero rows", row.name, row.view.DB.FullName()).At(row.data.Path.String())
		}
		affected += w.affected
		for _, p := range row.relation.Join.Pairs {
			if values[p.Local], err = r.cell(ctx, row.view.DB, p.Remote, w.rowids[0]); err != nil {
				return nil, 0, err
			}
		}
	}
	return values, affected, nil
}

func alreadyGiven(i *inserting, object *document.Value, rel *schema.Relation) string {
	for _, p := range rel.Join.Pairs {
		if _, ok := i.fixed[p.Local]; ok || names(object, p.Local) {
			return p.Local.Name
		}
	}
	return ""
}

func names(object *document.Value, c *catalog.Column) bool {
	for _, m := range object.Object().Members {
		if given, ok := m.Input.Node.(*schema.Column); ok && given.DB == c {
			return true
		}
	}
	return false
}

// insertAfter inserts the rows that point to this one.
func (r *Runner) insertAfter(ctx context.Context, table *catalog.Table, parent *inserted, rows []nestedRow) *qerr.Error {
	for _, row := range rows {
		child := &inserting{view: row.view, data: row.data, conflict: row.conflict, fixed: map[*catalog.Column]any{}}
		for _, p := range row.relation.Join.Pairs {
			v, err := r.cell(ctx, table, p.Local, *parent.id)
			if err != nil {
				return err
			}
			child.fixed[p.Remote] = v
		}
		if err := refuseDetermined(child); err != nil {
			return err
		}
		w, err := r.insertRows(ctx, child)
		if err != nil {
			return err
		}
		parent.affected += w.affected
	}
	return nil
}

func refuseDetermined(child *inserting) *qerr.Error {
	for _, object := range child.objects() {
		for c := range child.fixed {
			if names(object, c) {
				return qerr.Newf(qerr.ValidationFailed, "cannot insert %q columns as their values are already being determined by parent insert", c.Name).At(object.Path.String())
			}
		}
	}
	return nil
}

// cell reads one column of a row as it is stored now.
func (r *Runner) cell(ctx context.Context, t *catalog.Table, c *catalog.Column, rowid int64) (any, *qerr.Error) {
	v, err := r.Tx.Value(ctx, "SELECT "+catalog.Quote(c.Name)+" FROM "+catalog.Quote(t.SQLName)+" WHERE rowid = ?", rowid)
	if err != nil {
		return nil, r.failed(err, t, "$")
	}
	return v, nil
}
