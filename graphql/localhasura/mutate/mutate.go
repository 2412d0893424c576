// Package mutate runs the root fields that write tables. Each statement is
// followed by the checks of the role's permission and by reading the rows to
// answer, all in the caller's transaction.
package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/pgerror"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
	"hasura-storage/graphql/localhasura/store"
)

// Runner runs mutations of one request.
type Runner struct {
	Tx      *store.Tx
	Session plan.Session
	Catalog *catalog.Catalog
	// Flush makes events of what changed so far. It runs between the parts of
	// an update_many, each of which is a statement of its own; nil = nothing.
	Flush func(context.Context, *store.Tx) error
}

// flush ends a statement for the event triggers.
func (r *Runner) flush(ctx context.Context) *qerr.Error {
	if r.Flush == nil {
		return nil
	}
	if err := r.Flush(ctx, r.Tx); err != nil {
		return qerr.Internalf(err, "database query error")
	}
	return nil
}

// Run runs one root field and answers its JSON.
func (r *Runner) Run(ctx context.Context, s *document.Selection) (string, *qerr.Error) {
	switch node := s.Field.Node.(type) {
	case schema.InsertRoot:
		return r.insert(ctx, node, s)
	case schema.UpdateRoot:
		return r.update(ctx, node, s)
	case schema.DeleteRoot:
		return r.delete(ctx, node, s)
	}
	return "", qerr.Unsupported("the mutation " + s.Name)
}

// written is what a statement did to rows of a view's table.
type written struct {
	view     *schema.View
	affected int
	rowids   []int64
	snapshot string // the rows as they were, if they are gone
}

// response answers a mutation response: affected_rows and returning.
func (r *Runner) response(ctx context.Context, w written, sub []*document.Selection) (string, *qerr.Error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, s := range sub {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(s.Key) + ":")
		text, err := r.responseField(ctx, w, s)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	b.WriteByte('}')
	return b.String(), nil
}

func (r *Runner) responseField(ctx context.Context, w written, s *document.Selection) (string, *qerr.Error) {
	if s.Field == nil {
		return strconv.Quote(s.Parent.Name), nil
	}
	if _, ok := s.Field.Node.(schema.AffectedRows); ok {
		return strconv.Itoa(w.affected), nil
	}
	return r.rows(ctx, w, s.Sub)
}

// rows answers the written rows as a JSON array.
func (r *Runner) rows(ctx context.Context, w written, sub []*document.Selection) (string, *qerr.Error) {
	if len(w.rowids) == 0 {
		return "[]", nil
	}
	q := plan.Returning(r.Session, w.view, sub, w.rowids)
	if w.snapshot != "" {
		q = plan.Remembered(r.Session, w.view, sub, w.snapshot)
	}
	return r.text(ctx, q, w.view.DB, "$")
}

// firstRow answers the only written row, or null.
func (r *Runner) firstRow(ctx context.Context, w written, sub []*document.Selection) (string, *qerr.Error) {
	text, err := r.rows(ctx, w, sub)
	if err != nil || text == "[]" {
		return "null", err
	}
	var list []json.RawMessage
	if fault := json.Unmarshal([]byte(text), &list); fault != nil || len(list) == 0 {
		return "", qerr.Internalf(fault, "database query error")
	}
	return string(list[0]), nil
}

func (r *Runner) text(ctx context.Context, q *plan.Query, t *catalog.Table, path string) (string, *qerr.Error) {
	sql, args, refused := q.SQL()
	if refused != nil {
		return "", refused
	}
	text, err := r.Tx.Text(ctx, sql, args)
	if err != nil {
		return "", r.failed(err, t, path)
	}
	return text, nil
}

// change runs a statement that answers rowids.
func (r *Runner) change(ctx context.Context, q *plan.Query, t *catalog.Table, path string) ([]int64, *qerr.Error) {
	sql, args, refused := q.SQL()
	if refused != nil {
		return nil, refused
	}
	rowids, err := r.Tx.Ints(ctx, sql, args)
	if err == nil {
		return rowids, nil
	}
	v := pgerror.Read(err, r.Catalog, t)
	if v.State == pgerror.ForeignKey {
		v = r.foreignKey(ctx, t, sql, args)
	}
	return nil, v.Error(path)
}

func (r *Runner) failed(err error, t *catalog.Table, path string) *qerr.Error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return qerr.Internalf(err, "database query error")
	}
	return pgerror.Read(err, r.Catalog, t).Error(path)
}

// check fails if one of the rows does not pass a permission's check. A check
// that is neither true nor false fails too.
func (r *Runner) check(ctx context.Context, t *catalog.Table, check schema.Expr, rowids []int64, path string) *qerr.Error {
	if check == nil || len(rowids) == 0 {
		return nil
	}
	q := plan.NewQuery(r.Session)
	row := q.Alias()
	q.Write("SELECT ", row, ".rowid FROM ", catalog.Quote(t.SQLName), " AS ", row, " WHERE ", row, ".rowid IN ")
	bindRows(q, rowids)
	q.Write(" AND NOT ifnull((")
	q.Expr(check, row)
	q.Write("), 0) LIMIT 1")
	bad, err := r.change(ctx, q, t, path)
	if err == nil && len(bad) > 0 {
		err = qerr.New(qerr.PermissionError, "check constraint of an insert/update permission has failed").At(path)
	}
	return err
}

func bindRows(q *plan.Query, rowids []int64) {
	q.Write("(SELECT value FROM json_each(")
	q.Bind(plan.JSONList(rowids))
	q.Write("))")
}
