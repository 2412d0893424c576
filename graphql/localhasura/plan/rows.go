package plan

import (
	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// listing is a request for rows of a table.
type listing struct {
	view     *schema.View
	filter   schema.Expr                // the role's filter and the client's where
	join     func(q *Query, row string) // connects to an outer row; may be nil
	order    []ordering
	distinct []*catalog.Column
	limit    any // nil = none
	offset   any
}

// newListing reads the arguments that every list of rows takes.
func (q *Query) newListing(v *schema.View, s *document.Selection) listing {
	l := listing{view: v, filter: schema.Conjunction(v.Select.Filter(), Where(v, s.Arg("where"))), order: orderings(v, s.Arg("order_by"))}
	if arg := s.Arg("distinct_on"); arg != nil {
		l.distinct = Columns(arg)
		q.checkDistinct(l, s)
	}
	if arg := s.Arg("limit"); arg != nil && !arg.IsNull() {
		l.limit = q.Store(countType, arg.V, "$")
	}
	if arg := s.Arg("offset"); arg != nil && !arg.IsNull() {
		l.offset = q.Store(mustType("bigint"), arg.V, "$")
		if n, ok := l.offset.(int64); ok && n < 0 {
			q.Fail(qerr.New(qerr.DataException, "OFFSET must not be negative"))
		}
	}
	return l
}

// checkDistinct is Postgres's rule: the ordering starts with the same columns.
func (q *Query) checkDistinct(l listing, s *document.Selection) {
	leading := map[*catalog.Column]bool{}
	for i, o := range l.order {
		if i < len(l.distinct) {
			leading[o.column] = true
		}
	}
	for _, c := range l.distinct {
		if len(l.order) > 0 && !leading[c] {
			q.Fail(qerr.New(qerr.ValidationFailed, `"distinct_on" columns must match initial "order_by" columns`).At(s.Path.Key("args").String()))
		}
	}
}

// capped lowers the limit to that of the role.
func (l listing) capped() listing {
	if most := l.view.Select.Limit; most != nil {
		if n, ok := l.limit.(int64); !ok || n > int64(*most) {
			l.limit = int64(*most)
		}
	}
	return l
}

func (l listing) plain() bool {
	return len(l.order) == 0 && len(l.distinct) == 0 && l.limit == nil && l.offset == nil
}

// list writes a subquery that answers the rows as a JSON array.
func (q *Query) list(l listing, sub []*document.Selection) {
	row := q.Alias()
	if l.plain() {
		q.Write("(SELECT json_group_array(")
		q.object(l.view, sub, row)
		if !l.view.DB.View {
			q.Write(" ORDER BY ", row, ".rowid")
		}
		q.Write(")")
		q.source(l, row)
		q.Write(")")
		return
	}
	q.Write("(SELECT json_group_array(json(j)) FROM (")
	q.ordered(l, row, func() {
		q.object(l.view, sub, row)
		q.Write(" AS j")
	})
	q.Write("))")
}

// ordered writes SELECT … with ORDER BY, DISTINCT ON and LIMIT. A limit is
// always written: without one SQLite may drop the order of a subquery.
func (q *Query) ordered(l listing, row string, columns func()) {
	if len(l.distinct) > 0 {
		q.distinctOn(l, row, columns)
	} else {
		q.Write("SELECT ")
		columns()
		q.source(l, row)
		q.orderBy(l.view.DB, l.order, row)
	}
	q.Write(" LIMIT ")
	if l.limit == nil {
		q.Write("-1")
	} else {
		q.Bind(l.limit)
	}
	if l.offset != nil {
		q.Write(" OFFSET ")
		q.Bind(l.offset)
	}
}

// distinctOn keeps the first row of each group, as DISTINCT ON does.
func (q *Query) distinctOn(l listing, row string, columns func()) {
	q.Write("SELECT * FROM (SELECT ") //nolint:unqueryvet // the columns are those written next
	columns()
	q.Write(", row_number() OVER (PARTITION BY ")
	for i, c := range l.distinct {
		if i > 0 {
			q.Write(", ")
		}
		q.Column(row, c)
	}
	q.orderBy(l.view.DB, l.order, row)
	q.Write(") AS hdb_nth, row_number() OVER (")
	order := l.order
	if len(order) == 0 {
		for _, c := range l.distinct {
			order = append(order, ordering{direction: orderSQL["asc"], write: func(q *Query, alias string) { q.Column(alias, c) }})
		}
	}
	q.orderBy(l.view.DB, order, row)
	q.Write(") AS hdb_place")
	q.source(l, row)
	q.Write(") WHERE hdb_nth = 1 ORDER BY hdb_place")
}

// orderBy writes ORDER BY; rows that are equal so far come in the order of
// their insertion, which Postgres tends to as well and tests like to rely on.
func (q *Query) orderBy(t *catalog.Table, order []ordering, row string) {
	q.Write(" ORDER BY ")
	for _, o := range order {
		o.write(q, row)
		q.Write(o.direction, ", ")
	}
	if t.View {
		q.Write("NULL") // a view has no rowid
		return
	}
	q.Write(row, ".rowid")
}

// source writes FROM and WHERE.
func (q *Query) source(l listing, row string) {
	q.from(l.view.DB, row)
	if l.join == nil && l.filter == nil {
		return
	}
	q.Write(" WHERE ")
	if l.join != nil {
		l.join(q, row)
	}
	if l.join != nil && l.filter != nil {
		q.Write(" AND ")
	}
	if l.filter != nil {
		q.Expr(l.filter, row)
	}
}

// maxPairs is how many members one json_object takes: SQLite allows a function
// 100 arguments at least.
const maxPairs = 48

// object writes the JSON object of a row.
func (q *Query) object(v *schema.View, sub []*document.Selection, row string) {
	q.Object(len(sub), func(i int) {
		q.Bind(sub[i].Key)
		q.Write(", ")
		q.field(v, sub[i], row)
	})
}

// Object writes a json_object of n members, split where there are too many.
func (q *Query) Object(n int, member func(i int)) {
	if n <= maxPairs {
		q.pairs(0, n, member)
		return
	}
	q.Write("json('{'")
	for from := 0; from < n; from += maxPairs {
		if from > 0 {
			q.Write(" || ','")
		}
		q.Write(" || pg_members(")
		q.pairs(from, min(from+maxPairs, n), member)
		q.Write(")")
	}
	q.Write(" || '}')")
}

func (q *Query) pairs(from, to int, member func(i int)) {
	q.Write("json_object(")
	for i := from; i < to; i++ {
		if i > from {
			q.Write(", ")
		}
		member(i)
	}
	q.Write(")")
}

// field writes the value of one selected field of a row.
func (q *Query) field(v *schema.View, s *document.Selection, row string) {
	if s.Field == nil {
		q.Bind(s.Parent.Name)
		return
	}
	switch node := s.Field.Node.(type) {
	case *schema.Column:
		q.columnJSON(v, node, s, row)
	case schema.RelationField:
		q.relation(node, s, row)
	}
}

func (q *Query) relation(node schema.RelationField, s *document.Selection, row string) {
	join := func(q *Query, related string) { q.join(node.Relation.Join, row, related) }
	q.Write("json(")
	defer q.Write(")")
	switch {
	case node.Aggregate:
		l := q.newListing(node.View, s)
		l.join = join
		q.aggregate(l, s.Sub)
	case node.Relation.Array:
		l := q.newListing(node.View, s).capped()
		l.join = join
		q.list(l, s.Sub)
	default:
		q.one(listing{view: node.View, filter: node.View.Select.Filter(), join: join}, s.Sub)
	}
}

// one writes a subquery that answers one row's object, or null.
func (q *Query) one(l listing, sub []*document.Selection) {
	row := q.Alias()
	q.Write("(SELECT ")
	q.object(l.view, sub, row)
	q.source(l, row)
	q.Write(" LIMIT 1)")
}

// cell writes a column as the role sees it.
func (q *Query) cell(v *schema.View, c *schema.Column, row string) {
	guard := v.Select.CellFilter(c.DB.Name)
	if guard == nil {
		q.Column(row, c.DB)
		return
	}
	q.Write("CASE WHEN ")
	q.Expr(guard, row)
	q.Write(" THEN ")
	q.Column(row, c.DB)
	q.Write(" END")
}

// columnJSON writes a column in the form that Hasura prints.
func (q *Query) columnJSON(v *schema.View, c *schema.Column, s *document.Selection, row string) {
	cell := func() { q.cell(v, c, row) }
	if path := s.Arg("path"); path != nil && !path.IsNull() {
		q.jsonPath(cell, path)
		return
	}
	q.typed(c.DB.Type, cell)
}

// stringified are the types that HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES turns
// into strings.
var stringified = map[string]bool{"bigint": true, "numeric": true, "float8": true}

// typed writes a value of a type in the form that Hasura prints.
func (q *Query) typed(t pgtype.Type, value func()) {
	if q.session.Stringify && stringified[t.GraphQL] {
		q.Write("pg_number(")
		value()
		q.Write(")")
		return
	}
	switch t.Class {
	case pgtype.Boolean:
		q.Write("json(CASE ")
		value()
		q.Write(" WHEN 0 THEN 'false' WHEN 1 THEN 'true' END)")
	case pgtype.JSON:
		q.Write("json(")
		value()
		q.Write(")")
	case pgtype.Numeric:
		q.Write("json(pg_numeric(")
		value()
		q.Write("))")
	case pgtype.Float:
		q.Write("json(pg_number(")
		value()
		q.Write("))")
	default:
		value()
	}
}

// jsonPath writes the part of a json column that a path leads to.
func (q *Query) jsonPath(cell func(), path *document.Value) {
	text, _ := path.V.(string)
	steps, err := parseJSONPath(text)
	if err != nil {
		q.Fail(qerr.New(qerr.ParseFailed, err.Error()).At(path.Path.String()))
	}
	q.Write("json(pg_json_path(")
	cell()
	q.Write(", ")
	q.Bind(steps)
	q.Write("))")
}
