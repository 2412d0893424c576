package plan

import (
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/schema"
)

// Where turns a client's boolean expression into an Expr. Relationships lead
// only to rows that the role may see. nil and null are always true.
func Where(v *schema.View, value *document.Value) schema.Expr {
	if value == nil || value.Object() == nil {
		return nil
	}
	var all []schema.Expr
	for _, m := range value.Object().Members {
		all = append(all, whereMember(v, m))
	}
	return schema.Conjunction(all...)
}

func whereMember(v *schema.View, m document.Member) schema.Expr {
	switch node := m.Input.Node.(type) {
	case *schema.Column:
		return comparisons(v, node, m.Value)
	case schema.RelatedInput:
		where := schema.Conjunction(node.View.Select.Filter(), Where(node.View, m.Value))
		return schema.Related{Join: node.Relation.Join, Where: where}
	case schema.RelatedAggregate:
		return aggregatePredicates(node, m.Value)
	}
	switch m.Input.Name {
	case "_not":
		return schema.Not{Expr: Where(v, m.Value)}
	case "_or":
		return schema.Or(whereList(v, m.Value))
	}
	return schema.And(whereList(v, m.Value))
}

func whereList(v *schema.View, list *document.Value) []schema.Expr {
	all := make([]schema.Expr, 0, len(list.List()))
	for _, item := range list.List() {
		all = append(all, Where(v, item))
	}
	return all
}

func comparisons(v *schema.View, c *schema.Column, value *document.Value) schema.Expr {
	guard := v.Select.CellFilter(c.DB.Name)
	var all []schema.Expr
	for _, m := range value.Object().Members {
		if m.Input.Name == "_cast" {
			all = append(all, casted(c.DB, m.Value))
			continue
		}
		compare := comparison(c.DB, m)
		compare.Guard = guard
		all = append(all, compare)
	}
	return schema.Conjunction(all...)
}

func comparison(c *catalog.Column, m document.Member) schema.Compare {
	return schema.Compare{Column: c, Op: m.Input.Name, Operand: schema.Operand{Value: m.Value.JSON()}}
}

func casted(c *catalog.Column, value *document.Value) schema.Expr {
	e := schema.Casted{Column: c}
	if text := value.Object().Get("String"); text != nil {
		for _, m := range text.Object().Members {
			e.Compare = append(e.Compare, comparison(&catalog.Column{Type: textType}, m))
		}
	}
	return e
}

var (
	countType = mustType("Int")
	boolType  = mustType("Boolean")
)

func mustType(name string) pgtype.Type {
	t, _ := pgtype.ByGraphQL(name)
	return t
}

func aggregatePredicates(node schema.RelatedAggregate, value *document.Value) schema.Expr {
	all := make([]schema.Expr, 0, len(value.Object().Members))
	for _, m := range value.Object().Members {
		result := boolType
		if m.Input.Name == "count" {
			result = countType
		}
		all = append(all, aggregatePredicate(node, m, result))
	}
	return schema.Conjunction(all...)
}

func aggregatePredicate(node schema.RelatedAggregate, m document.Member, result pgtype.Type) schema.Expr {
	o := m.Value.Object()
	e := schema.Counted{Join: node.Relation.Join, Function: m.Input.Name,
		Where: schema.Conjunction(node.View.Select.Filter(), Where(node.View, o.Get("filter")))}
	if args := o.Get("arguments"); args != nil {
		e.Columns = Columns(args)
	}
	if distinct := o.Get("distinct"); distinct != nil {
		e.Distinct = distinct.V == true
	}
	for _, c := range o.Get("predicate").Object().Members {
		e.Compare = append(e.Compare, comparison(&catalog.Column{Type: result}, c))
	}
	return e
}

// Columns reads a list of column enum values, or one.
func Columns(value *document.Value) []*catalog.Column {
	items := value.List()
	if _, ok := value.V.(*schema.Value); ok {
		items = []*document.Value{value}
	}
	var all []*catalog.Column
	for _, item := range items {
		if enum, ok := item.V.(*schema.Value); ok {
			if c, ok := enum.Node.(*schema.Column); ok {
				all = append(all, c.DB)
			}
		}
	}
	return all
}

// ordering is one term of ORDER BY.
type ordering struct {
	write     func(q *Query, alias string)
	column    *catalog.Column // nil if it is not a column of the table itself
	direction string
}

var orderSQL = map[string]string{
	"asc": " ASC NULLS LAST", "asc_nulls_last": " ASC NULLS LAST", "asc_nulls_first": " ASC NULLS FIRST",
	"desc": " DESC NULLS FIRST", "desc_nulls_first": " DESC NULLS FIRST", "desc_nulls_last": " DESC NULLS LAST",
}

// orderings reads an order_by argument.
func orderings(v *schema.View, value *document.Value) []ordering {
	if value == nil {
		return nil
	}
	var all []ordering
	for _, item := range value.List() {
		if o := item.Object(); o != nil {
			all = append(all, objectOrderings(v, o)...)
		}
	}
	return all
}

func objectOrderings(v *schema.View, o *document.Object) []ordering {
	var all []ordering
	for _, m := range o.Members {
		if m.Value.IsNull() {
			continue
		}
		switch node := m.Input.Node.(type) {
		case *schema.Column:
			all = append(all, ordering{direction: direction(m.Value), column: node.DB,
				write: func(q *Query, alias string) { q.cell(v, node, alias) }})
		case schema.RelatedInput:
			for _, inner := range objectOrderings(node.View, m.Value.Object()) {
				all = append(all, relatedOrdering(node.Relation, node.View, inner))
			}
		case schema.RelatedAggregate:
			all = append(all, aggregateOrderings(node, m.Value.Object())...)
		}
	}
	return all
}

func direction(v *document.Value) string {
	enum, _ := v.V.(*schema.Value)
	return orderSQL[enum.Name]
}

// relatedOrdering orders by a value of the related row that the role may see.
func relatedOrdering(r *schema.Relation, v *schema.View, inner ordering) ordering {
	return ordering{direction: inner.direction, write: func(q *Query, alias string) {
		related := q.Alias()
		q.Write("(SELECT ")
		inner.write(q, related)
		q.relatedFrom(r.Join, v, alias, related)
		q.Write(" LIMIT 1)")
	}}
}

func (q *Query) relatedFrom(j schema.Join, v *schema.View, local, remote string) {
	q.from(j.Target, remote)
	q.Write(" WHERE ")
	q.join(j, local, remote)
	if filter := v.Select.Filter(); filter != nil {
		q.Write(" AND ")
		q.Expr(filter, remote)
	}
}

func aggregateOrderings(node schema.RelatedAggregate, o *document.Object) []ordering {
	var all []ordering
	add := func(dir *document.Value, write func(q *Query, alias string)) {
		all = append(all, ordering{direction: direction(dir), write: func(q *Query, alias string) {
			related := q.Alias()
			q.Write("(SELECT ")
			write(q, related)
			q.relatedFrom(node.Relation.Join, node.View, alias, related)
			q.Write(")")
		}})
	}
	for _, m := range o.Members {
		if m.Value.IsNull() {
			continue
		}
		if strings.EqualFold(m.Input.Name, "count") {
			add(m.Value, func(q *Query, alias string) { q.Count(nil, false, alias) })
			continue
		}
		for _, c := range m.Value.Object().Members {
			if column, ok := c.Input.Node.(*schema.Column); ok && !c.Value.IsNull() {
				op := m.Input.Name
				add(c.Value, func(q *Query, alias string) { q.aggregateOf(op, node.View, column, alias) })
			}
		}
	}
	return all
}
