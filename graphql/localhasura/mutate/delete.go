package mutate

import (
	"context"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// delete answers the rows as they were, so it reads them first.
func (r *Runner) delete(ctx context.Context, node schema.DeleteRoot, s *document.Selection) (string, *qerr.Error) {
	rowids, err := r.doomed(ctx, node, s)
	if err != nil {
		return "", err
	}
	w := written{view: node.View, affected: len(rowids), rowids: rowids}
	answer := r.response
	if node.ByPK {
		answer = r.firstRow
	}
	text, err := answer(ctx, w, s.Sub)
	if err != nil || len(rowids) == 0 {
		return text, err
	}
	q := plan.NewQuery(r.Session)
	q.Write("DELETE FROM ", catalog.Quote(node.View.DB.SQLName), " WHERE rowid IN ")
	bindRows(q, rowids)
	_, err = r.change(ctx, q, node.View.DB, "$")
	return text, err
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
