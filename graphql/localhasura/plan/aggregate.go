package plan

import (
	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/schema"
)

// aggregate writes a subquery that answers an aggregate. Its values count all
// rows that the role sees; only its nodes obey the role's row limit.
func (q *Query) aggregate(l listing, sub []*document.Selection) {
	row, base := q.Alias(), q.Alias()
	q.Write("(SELECT ")
	q.Object(len(sub), func(i int) {
		q.Bind(sub[i].Key)
		q.Write(", ")
		q.aggregatePart(l, sub[i], base)
	})
	q.Write(" FROM (")
	if l.plain() {
		q.Write("SELECT ", row, ".*")
		q.source(l, row)
	} else {
		q.ordered(l, row, func() { q.Write(row, ".*") })
	}
	q.Write(") AS ", base, ")")
}

func (q *Query) aggregatePart(l listing, s *document.Selection, base string) {
	if s.Field == nil {
		q.Bind(s.Parent.Name)
		return
	}
	switch s.Field.Node.(type) {
	case schema.AggregateValues:
		q.aggregateValues(s.Sub, base)
	case schema.AggregateNodes:
		q.Write("json(")
		q.list(l.capped(), s.Sub)
		q.Write(")")
	}
}

func (q *Query) aggregateValues(sub []*document.Selection, base string) {
	q.Object(len(sub), func(i int) {
		s := sub[i]
		q.Bind(s.Key)
		q.Write(", ")
		if s.Field == nil {
			q.Bind(s.Parent.Name)
			return
		}
		switch node := s.Field.Node.(type) {
		case schema.Count:
			q.countField(s, base)
		case schema.AggregateOp:
			q.aggregateGroup(node, s.Sub, base)
		}
	})
}

func (q *Query) countField(s *document.Selection, base string) {
	var columns []*catalog.Column
	if arg := s.Arg("columns"); arg != nil {
		columns = Columns(arg)
	}
	distinct := s.Arg("distinct")
	q.Count(columns, distinct != nil && distinct.V == true, base)
}

// Count writes count(*), or a count of the rows where the columns are not all
// null, each combination once if distinct. Of one column nulls do not count.
func (q *Query) Count(columns []*catalog.Column, distinct bool, alias string) {
	switch len(columns) {
	case 0:
		q.Write("count(*)")
		return
	case 1:
		q.Write("count(", map[bool]string{true: "DISTINCT "}[distinct])
		q.Column(alias, columns[0])
		q.Write(")")
		return
	}
	q.Write("count(", map[bool]string{true: "DISTINCT "}[distinct], "json_array(")
	for i, c := range columns {
		if i > 0 {
			q.Write(", ")
		}
		q.Column(alias, c)
	}
	q.Write("))")
}

func (q *Query) aggregateGroup(node schema.AggregateOp, sub []*document.Selection, base string) {
	q.Object(len(sub), func(i int) {
		q.Bind(sub[i].Key)
		q.Write(", ")
		if sub[i].Field == nil {
			q.Bind(sub[i].Parent.Name)
			return
		}
		c, ok := sub[i].Field.Node.(*schema.Column)
		if !ok {
			return
		}
		value := func() { q.aggregateOf(node.Op, node.View, c, base) }
		if node.Op == "max" || node.Op == "min" || node.Op == "sum" {
			q.typed(c.DB.Type, value)
			return
		}
		q.typed(mustType("float8"), value)
	})
}

// aggregateOf writes an aggregate function over a column. SQLite has no
// variances: they follow from sums.
func (q *Query) aggregateOf(op string, v *schema.View, c *schema.Column, alias string) {
	cell := func() { q.cell(v, c, alias) }
	switch op {
	case "stddev", "stddev_samp":
		q.Write("sqrt(")
		q.variance(cell, true)
		q.Write(")")
	case "stddev_pop":
		q.Write("sqrt(")
		q.variance(cell, false)
		q.Write(")")
	case "variance", "var_samp":
		q.variance(cell, true)
	case "var_pop":
		q.variance(cell, false)
	default:
		q.Write(op, "(")
		cell()
		q.Write(")")
	}
}

// variance divides the sum of squared distances from the mean by n, or by n-1
// for a sample (null for a sample of one, as in Postgres).
func (q *Query) variance(cell func(), sample bool) {
	q.Write("max((sum(1.0 * ")
	cell()
	q.Write(" * ")
	cell()
	q.Write(") - sum(1.0 * ")
	cell()
	q.Write(") * avg(")
	cell()
	q.Write(")), 0.0) / nullif(count(")
	cell()
	q.Write(")", map[bool]string{true: " - 1"}[sample], ", 0)")
}
