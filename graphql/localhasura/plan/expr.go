package plan

import (
	"encoding/json"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// scope is where an expression stands: the row that it judges and the row that
// the whole expression started at.
type scope struct{ row, root string }

// Expr writes a boolean expression over the row under an alias.
func (q *Query) Expr(e schema.Expr, alias string) { q.expr(e, scope{alias, alias}) }

func (q *Query) expr(e schema.Expr, at scope) {
	switch e := e.(type) {
	case nil:
		q.Write("1")
	case schema.And:
		q.connect([]schema.Expr(e), " AND ", "1", at)
	case schema.Or:
		q.connect([]schema.Expr(e), " OR ", "0", at)
	case schema.Not:
		q.Write("NOT (")
		q.expr(e.Expr, at)
		q.Write(")")
	case schema.Compare:
		q.compare(e, at)
	case schema.Related:
		q.related(e, at)
	case schema.Exists:
		alias := q.Alias()
		q.Write("EXISTS (SELECT 1")
		q.from(e.Table, alias)
		q.Write(" WHERE ")
		q.expr(e.Where, scope{alias, at.root})
		q.Write(")")
	case schema.Counted:
		q.counted(e, at)
	case schema.Casted:
		q.casted(e, at)
	}
}

func (q *Query) connect(parts []schema.Expr, with, empty string, at scope) {
	if len(parts) == 0 {
		q.Write(empty)
		return
	}
	q.Write("(")
	for i, p := range parts {
		if i > 0 {
			q.Write(with)
		}
		q.expr(p, at)
	}
	q.Write(")")
}

func (q *Query) related(e schema.Related, at scope) {
	alias := q.Alias()
	q.Write("EXISTS (SELECT 1")
	q.from(e.Join.Target, alias)
	q.Write(" WHERE ")
	q.join(e.Join, at.row, alias)
	if e.Where != nil {
		q.Write(" AND ")
		q.expr(e.Where, scope{alias, at.root})
	}
	q.Write(")")
}

// join writes the condition that connects two rows.
func (q *Query) join(j schema.Join, local, remote string) {
	for i, p := range j.Pairs {
		if i > 0 {
			q.Write(" AND ")
		}
		q.Column(remote, p.Remote)
		q.Write(" = ")
		q.Column(local, p.Local)
	}
}

// left writes the compared column; one that the role sees in some rows only is
// null in the others.
func (q *Query) left(c schema.Compare, at scope) {
	if c.Guard == nil {
		q.Column(at.row, c.Column)
		return
	}
	q.Write("CASE WHEN ")
	q.expr(c.Guard, scope{at.row, at.row})
	q.Write(" THEN ")
	q.Column(at.row, c.Column)
	q.Write(" END")
}

var symbols = map[string]string{
	"_eq": "=", "_neq": "<>", "_gt": ">", "_lt": "<", "_gte": ">=", "_lte": "<=",
	"_ceq": "=", "_cne": "<>", "_cneq": "<>", "_cgt": ">", "_clt": "<", "_cgte": ">=", "_clte": "<=",
}

// functions are the operators that SQLite gets from us; see package store.
var functions = map[string]struct {
	name   string
	negate bool
}{
	"_like": {"pg_like", false}, "_nlike": {"pg_like", true},
	"_ilike": {"pg_ilike", false}, "_nilike": {"pg_ilike", true},
	"_similar": {"pg_similar", false}, "_nsimilar": {"pg_similar", true},
	"_regex": {"pg_regex", false}, "_nregex": {"pg_regex", true},
	"_iregex": {"pg_iregex", false}, "_niregex": {"pg_iregex", true},
	"_contains": {"pg_jsonb_contains", false}, "_contained_in": {"pg_jsonb_contained", false},
	"_has_key": {"pg_jsonb_has_key", false}, "_has_keys_any": {"pg_jsonb_has_any", false}, "_has_keys_all": {"pg_jsonb_has_all", false},
}

func (q *Query) compare(c schema.Compare, at scope) {
	left := func() { q.left(c, at) }
	if c.Operand.Column != "" {
		left()
		q.Write(" ", symbols[c.Op], " ")
		row := at.row
		if c.Operand.Root {
			row = at.root
		}
		q.Column(row, &catalog.Column{Name: c.Operand.Column})
		return
	}
	q.operator(left, c.Column.Type, c)
}

// operator applies an operator to whatever left writes.
func (q *Query) operator(left func(), t pgtype.Type, c schema.Compare) {
	t = t.Unlimited()
	same := "" // the function that makes equal JSON equal texts
	if t.Class == pgtype.JSON && (symbols[c.Op] != "" || c.Op == "_in" || c.Op == "_nin") {
		same = "pg_jsonb"
		plain := left
		left = func() { q.Write("pg_jsonb("); plain(); q.Write(")") }
	}
	switch fn, ok := functions[c.Op]; {
	case ok:
		if fn.negate {
			q.Write("NOT ")
		}
		q.Write(fn.name, "(")
		left()
		q.Write(", ")
		q.Bind(q.functionOperand(c, t))
		q.Write(")")
	case c.Op == "_is_null":
		left()
		q.Write(map[bool]string{true: " IS NULL", false: " IS NOT NULL"}[q.isNull(c)])
	case c.Op == "_in" || c.Op == "_nin":
		left()
		q.Write(map[bool]string{true: " IN ", false: " NOT IN "}[c.Op == "_in"], "(SELECT ", same, "(value) FROM json_each(")
		q.Bind(q.elements(c.Operand, t, c.Path))
		q.Write("))")
	default:
		left()
		q.Write(" ", symbols[c.Op], " ", same, "(")
		q.Bind(q.Operand(c.Operand, t, c.Path))
		q.Write(")")
	}
}

func (q *Query) isNull(c schema.Compare) bool {
	if c.Operand.Session != "" {
		text, _ := q.variable(c.Operand.Session)
		return text == "true" || text == "t"
	}
	return c.Operand.Value == true
}

// functionOperand is the right side of a pattern or jsonb operator. Key names
// are text even on jsonb columns; lists of them travel as JSON.
func (q *Query) functionOperand(c schema.Compare, t pgtype.Type) any {
	switch c.Op {
	case "_contains", "_contained_in":
		return q.Operand(c.Operand, t, c.Path)
	case "_has_keys_any", "_has_keys_all":
		return q.elements(c.Operand, textType, c.Path)
	}
	return q.Operand(c.Operand, textType, c.Path)
}

var textType, _ = pgtype.ByGraphQL("String")

// elements writes the elements of a list as a JSON array of stored values.
func (q *Query) elements(o schema.Operand, t pgtype.Type, path string) any {
	stored := []any{}
	switch {
	case o.Session != "":
		text, ok := q.variable(o.Session)
		if !ok {
			return nil
		}
		items, err := pgtype.ParseArray(text)
		if err != nil {
			q.Fail(DataException(err, path))
		}
		for _, item := range items {
			stored = append(stored, q.Operand(schema.Operand{Value: item}, t, path))
		}
	case o.IsList:
		for _, item := range o.Items {
			stored = append(stored, q.Operand(item, t, path))
		}
	default:
		values, ok := o.Value.([]any)
		if !ok {
			q.Fail(qerr.Newf(qerr.ParseFailed, "expecting a list").At("$"))
		}
		for _, v := range values {
			stored = append(stored, q.Store(t, v, path))
		}
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		q.Fail(DataException(err, path))
	}
	return string(raw)
}

func (q *Query) counted(e schema.Counted, at scope) {
	left := func() {
		alias := q.Alias()
		q.Write("(SELECT ")
		q.countExpr(e, alias)
		q.from(e.Join.Target, alias)
		q.Write(" WHERE ")
		q.join(e.Join, at.row, alias)
		if e.Where != nil {
			q.Write(" AND ")
			q.expr(e.Where, scope{alias, at.root})
		}
		q.Write(")")
	}
	if len(e.Compare) == 0 {
		q.Write("1")
	}
	for i, c := range e.Compare {
		if i > 0 {
			q.Write(" AND ")
		}
		q.operator(left, c.Column.Type, c)
	}
}

func (q *Query) countExpr(e schema.Counted, alias string) {
	switch e.Function {
	case "bool_and":
		q.boolAggregate("min(", e, alias)
	case "bool_or":
		q.boolAggregate("max(", e, alias)
	default:
		q.Count(e.Columns, e.Distinct, alias)
	}
}

func (q *Query) boolAggregate(fn string, e schema.Counted, alias string) {
	q.Write(fn)
	q.Column(alias, e.Columns[0])
	q.Write(")")
}

func (q *Query) casted(e schema.Casted, at scope) {
	left := func() {
		q.Write("pg_jsonb_text(")
		q.Column(at.row, e.Column)
		q.Write(")")
	}
	if len(e.Compare) == 0 {
		q.Write("1")
	}
	for i, c := range e.Compare {
		if i > 0 {
			q.Write(" AND ")
		}
		q.operator(left, textType, c)
	}
}
