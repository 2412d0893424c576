package mutate

import (
	"context"
	"slices"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// delete remembers the rows that it deletes, to answer them.
func (r *Runner) delete(ctx context.Context, node schema.DeleteRoot, s *document.Selection) (string, *qerr.Error) {
	rowids, err := r.doomed(ctx, node, s)
	if err != nil {
		return "", err
	}
	w := written{view: node.View, affected: len(rowids), rowids: rowids}
	if len(rowids) > 0 && (node.ByPK || answersRows(s.Sub)) {
		if w.snapshot, err = r.text(ctx, plan.Snapshot(r.Session, node.View, rowids), node.View.DB, "$"); err != nil {
			return "", err
		}
	}
	if err := r.deleteRows(ctx, node.View.DB, rowids); err != nil {
		return "", err
	}
	if node.ByPK {
		return r.firstRow(ctx, w, s.Sub)
	}
	return r.response(ctx, w, s.Sub)
}

// answersRows reports whether a mutation response selects returning.
func answersRows(sub []*document.Selection) bool {
	return slices.ContainsFunc(sub, func(s *document.Selection) bool { return len(s.Sub) > 0 })
}

func (r *Runner) deleteRows(ctx context.Context, t *catalog.Table, rowids []int64) *qerr.Error {
	if len(rowids) == 0 {
		return nil
	}
	q := plan.NewQuery(r.Session)
	q.Write("DELETE FROM ", catalog.Quote(t.SQLName), " WHERE rowid IN ")
	bindRows(q, rowids)
	_, err := r.change(ctx, q, t, "$")
	return err
}

func (r *Runner) doomed(ctx context.Context, node schema.DeleteRoot, s *document.Selection) ([]int64, *qerr.Error) {
	q := plan.NewQuery(r.Session)
	row := q.Alias()
	q.Write("SELECT ", row, ".rowid FROM ", catalog.Quote(node.View.DB.SQLName), " AS ", row, " WHERE ")
	if node.ByPK {
		q.Key(row, s.Args)
	} else {
		q.Expr(plan.Where(node.View, s.Arg("where")), row)
	}
	if node.View.Delete.Filter != nil {
		q.Write(" AND ")
		q.Expr(node.View.Delete.Filter, row)
	}
	return r.change(ctx, q, node.View.DB, "$")
}
