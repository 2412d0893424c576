package mutate

import (
	"context"
	"fmt"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

func (r *Runner) update(ctx context.Context, node schema.UpdateRoot, s *document.Selection) (string, *qerr.Error) {
	if node.Batch {
		return r.updateMany(ctx, node, s)
	}
	u := &updating{view: node.View, members: s.Args, path: s.Path.Key("args")}
	w, err := r.updateRows(ctx, u)
	if err != nil {
		return "", err
	}
	if node.ByPK {
		return r.firstRow(ctx, w, s.Sub)
	}
	return r.response(ctx, w, s.Sub)
}

// updateMany runs several updates in order; each sees what the former did.
func (r *Runner) updateMany(ctx context.Context, node schema.UpdateRoot, s *document.Selection) (string, *qerr.Error) {
	var all []string
	for _, item := range s.Arg("updates").List() {
		u := &updating{view: node.View, members: item.Object().Members, path: item.Path}
		w, err := r.updateRows(ctx, u)
		if err != nil {
			return "", err
		}
		text, err := r.response(ctx, w, s.Sub)
		if err != nil {
			return "", err
		}
		if err := r.flush(ctx); err != nil {
			return "", err
		}
		all = append(all, text)
	}
	return "[" + strings.Join(all, ",") + "]", nil
}

// updating is one update: its operators and the rows that it means.
type updating struct {
	view    *schema.View
	members []document.Member
	path    *document.Path
}

// assignment gives a column a value; write writes it.
type assignment struct {
	column *catalog.Column
	write  func(q *plan.Query, row string)
}

func (r *Runner) updateRows(ctx context.Context, u *updating) (written, *qerr.Error) {
	w := written{view: u.view}
	set, err := u.assignments()
	if err != nil || len(set) == 0 {
		return w, err
	}
	q := plan.NewQuery(r.Session)
	row := q.Alias()
	q.Write("UPDATE ", catalog.Quote(u.view.DB.SQLName), " AS ", row, " SET ")
	for i, a := range set {
		if i > 0 {
			q.Write(", ")
		}
		q.Write(catalog.Quote(a.column.Name), " = ")
		a.write(q, row)
	}
	q.Write(" WHERE ")
	u.which(q, row)
	q.Write(" RETURNING rowid")
	if w.rowids, err = r.change(ctx, q, u.view.DB, "$"); err != nil {
		return w, err
	}
	w.affected = len(w.rowids)
	return w, r.check(ctx, u.view.DB, u.view.Update.Check, w.rowids, "$")
}

func (u *updating) which(q *plan.Query, row string) {
	for _, m := range u.members {
		switch m.Input.Name {
		case "pk_columns":
			q.Key(row, m.Value.Object().Members)
		case "where":
			q.Expr(plan.Where(u.view, m.Value), row)
		}
	}
	if u.view.Update.Filter != nil {
		q.Write(" AND ")
		q.Expr(u.view.Update.Filter, row)
	}
}

// assignments are the operators' values and the role's presets.
func (u *updating) assignments() ([]assignment, *qerr.Error) {
	var all []assignment
	seen := map[*catalog.Column]bool{}
	var twice []string
	for _, m := range u.members {
		if m.Input.Name == "where" || m.Input.Name == "pk_columns" || m.Value.IsNull() {
			continue
		}
		for _, c := range m.Value.Object().Members {
			column := c.Input.Node.(*schema.Column) //nolint:forcetypeassert // members of update operators are columns
			if seen[column.DB] {
				twice = append(twice, "'"+column.DB.Name+"'")
			}
			seen[column.DB] = true
			all = append(all, assignment{column.DB, operator(m.Input.Name, column.DB, c.Value)})
		}
	}
	if twice != nil {
		return nil, qerr.Newf(qerr.ValidationFailed, "Column found in multiple operators: [%s].", strings.Join(twice, ", ")).At(u.path.String())
	}
	return append(all, presets(u.view.Update.Presets)...), nil
}

func presets(list []schema.Preset) []assignment {
	all := make([]assignment, 0, len(list))
	for _, p := range list {
		all = append(all, assignment{p.Column, func(q *plan.Query, _ string) {
			q.Bind(q.Operand(p.Operand, p.Column.Type, "$"))
		}})
	}
	return all
}

// jsonbFunctions are the operators that change a jsonb value in place.
var jsonbFunctions = map[string]string{
	"_append": "pg_jsonb_concat", "_delete_key": "pg_jsonb_delete_key",
	"_delete_elem": "pg_jsonb_delete_elem", "_delete_at_path": "pg_jsonb_delete_path",
}

func operator(op string, c *catalog.Column, v *document.Value) func(q *plan.Query, row string) {
	return func(q *plan.Query, row string) {
		switch op {
		case "_set":
			q.Bind(q.Store(c.Type, v.JSON(), "$"))
		case "_inc":
			increment(q, row, c, v)
		case "_prepend":
			q.Write("pg_jsonb_concat(")
			q.Bind(q.Store(c.Type, v.JSON(), "$"))
			q.Write(", ")
			q.Column(row, c)
			q.Write(")")
		default:
			q.Write(jsonbFunctions[op], "(")
			q.Column(row, c)
			q.Write(", ")
			q.Bind(jsonbOperand(q, op, c, v))
			q.Write(")")
		}
	}
}

// increment refuses to leave the range of an integer type.
func increment(q *plan.Query, row string, c *catalog.Column, v *document.Value) {
	q.Write(map[pgtype.Class]string{pgtype.Integer: "pg_add(", pgtype.Numeric: "pg_add_numeric(", pgtype.Float: "("}[c.Type.Class])
	q.Column(row, c)
	q.Write(map[bool]string{true: " + ", false: ", "}[c.Type.Class == pgtype.Float])
	q.Bind(q.Store(c.Type, v.JSON(), "$"))
	if c.Type.Class == pgtype.Integer {
		q.Write(fmt.Sprintf(", %d", c.Type.Bits))
	}
	q.Write(")")
}

func jsonbOperand(q *plan.Query, op string, c *catalog.Column, v *document.Value) any {
	switch op {
	case "_append":
		return q.Store(c.Type, v.JSON(), "$")
	case "_delete_at_path":
		return pgtype.Canonical(v.JSON())
	}
	return fmt.Sprint(v.V)
}
