package schema

import "hasura-storage/graphql/localhasura/pgtype"

var (
	bigintType, _ = pgtype.ByGraphQL("bigint")
	intType, _    = pgtype.ByGraphQL("Int")
)

const jsonClass = pgtype.JSON

// boolExp is the type of a where. A role that may not read the table has only
// the connectives.
func (b *builder) boolExp(v *View) *Ref {
	name := v.Base + "_bool_exp"
	return b.once(name, func() *Type {
		t := &Type{Kind: InputObject, Description: `Boolean expression to filter rows from the table "` + v.DB.FullName() + `". All fields are combined with a logical 'AND'.`}
		t.Inputs = []*Input{
			{Name: "_and", Type: ListOf(Required(Named(name))), NoNull: true},
			{Name: "_or", Type: ListOf(Required(Named(name))), NoNull: true},
			{Name: "_not", Type: Named(name), NoNull: true},
		}
		for _, c := range v.Visible() {
			t.Inputs = append(t.Inputs, &Input{Name: c.Name, Type: b.comparison(c.DB.Type), Node: c, NoNull: true})
		}
		if v.Select != nil {
			t.Inputs = append(t.Inputs, b.relatedBoolExps(v)...)
		}
		return t
	})
}

func (b *builder) relatedBoolExps(v *View) []*Input {
	var all []*Input
	for _, r := range v.Relations {
		target := b.schema.View(r.Target)
		if !target.readable() {
			continue
		}
		all = append(all, &Input{Name: r.Name, Type: b.boolExp(target), Node: RelatedInput{r, target}, NoNull: true})
		if r.Array && target.Select.Aggregations {
			all = append(all, &Input{Name: r.Name + "_aggregate", Type: b.aggregateBoolExp(target), Node: RelatedAggregate{r, target}, NoNull: true})
		}
	}
	return all
}

// comparison is the type that holds a column type's operators.
func (b *builder) comparison(t pgtype.Type) *Ref {
	return b.once(t.GraphQL+"_comparison_exp", func() *Type {
		exp := &Type{Kind: InputObject, Description: "Boolean expression to compare columns of type \"" + t.GraphQL + "\". All fields are combined with logical 'AND'."}
		for op := range operatorsOf(t) {
			ref, pg := operandRef(op, t)
			b.scalar(ref.Base())
			exp.Inputs = append(exp.Inputs, &Input{Name: op, Type: ref, PG: pg, NoNull: true})
		}
		if t.Binary() {
			exp.Inputs = append(exp.Inputs, &Input{Name: "_cast", Type: b.castExp(t), NoNull: true})
		}
		return exp
	})
}

func (b *builder) castExp(t pgtype.Type) *Ref {
	return b.once(t.GraphQL+"_cast_exp", func() *Type {
		return &Type{Kind: InputObject, Inputs: []*Input{{Name: "String", Type: b.comparison(stringType), NoNull: true}}}
	})
}

// aggregateBoolExp is the type of a predicate over related rows.
func (b *builder) aggregateBoolExp(v *View) *Ref {
	return b.once(v.Base+"_aggregate_bool_exp", func() *Type {
		t := &Type{Kind: InputObject}
		t.Inputs = append(t.Inputs, &Input{Name: "count", Type: b.aggregatePredicate(v, "count", v.Visible(), intType, false)})
		var booleans []*Column
		for _, c := range v.Visible() {
			if c.DB.Type.Class == pgtype.Boolean {
				booleans = append(booleans, c)
			}
		}
		for _, fn := range []string{"bool_and", "bool_or"} {
			if len(booleans) > 0 {
				t.Inputs = append(t.Inputs, &Input{Name: fn, Type: b.aggregatePredicate(v, fn, booleans, booleans[0].DB.Type, true)})
			}
		}
		return t
	})
}

func (b *builder) aggregatePredicate(v *View, fn string, columns []*Column, result pgtype.Type, one bool) *Ref {
	return b.once(v.Base+"_aggregate_bool_exp_"+fn, func() *Type {
		arguments := ListOf(Required(b.selectColumn(v)))
		if one {
			arguments = Required(b.columnEnum(v.Base+"_select_column_"+v.Base+"_aggregate_bool_exp_"+fn+"_arguments_columns", columns))
		}
		return &Type{Kind: InputObject, Inputs: []*Input{
			{Name: "arguments", Type: arguments},
			{Name: "distinct", Type: b.scalar("Boolean")},
			{Name: "filter", Type: b.boolExp(v)},
			{Name: "predicate", Type: Required(b.comparison(result))},
		}}
	})
}

// orderBy is the type of one ordering.
func (b *builder) orderBy(v *View) *Ref {
	return b.once(v.Base+"_order_by", func() *Type {
		t := &Type{Kind: InputObject, Description: `Ordering options when selecting data from "` + v.DB.FullName() + `".`}
		for _, c := range v.Visible() {
			t.Inputs = append(t.Inputs, &Input{Name: c.Name, Type: b.direction(), Node: c})
		}
		for _, r := range v.Relations {
			target := b.schema.View(r.Target)
			switch {
			case !target.readable():
			case !r.Array:
				t.Inputs = append(t.Inputs, &Input{Name: r.Name, Type: b.orderBy(target), Node: RelatedInput{r, target}})
			case target.Select.Aggregations:
				t.Inputs = append(t.Inputs, &Input{Name: r.Name + "_aggregate", Type: b.aggregateOrderBy(target), Node: RelatedAggregate{r, target}})
			}
		}
		return t
	})
}

var directions = []struct{ name, description string }{
	{"asc", "in ascending order, nulls last"},
	{"asc_nulls_first", "in ascending order, nulls first"},
	{"asc_nulls_last", "in ascending order, nulls last"},
	{"desc", "in descending order, nulls first"},
	{"desc_nulls_first", "in descending order, nulls first"},
	{"desc_nulls_last", "in descending order, nulls last"},
}

func (b *builder) direction() *Ref {
	return b.once("order_by", func() *Type {
		t := &Type{Kind: Enum, Description: "column ordering options"}
		for _, d := range directions {
			t.Values = append(t.Values, &Value{Name: d.name, Description: d.description})
		}
		return t
	})
}

func (b *builder) aggregateOrderBy(v *View) *Ref {
	return b.once(v.Base+"_aggregate_order_by", func() *Type {
		t := &Type{Kind: InputObject, Description: `order by aggregate values of table "` + v.DB.FullName() + `"`}
		t.Inputs = append(t.Inputs, &Input{Name: "count", Type: b.direction()})
		for _, op := range aggregateOps {
			columns := op.columns(v)
			if len(columns) == 0 {
				continue
			}
			t.Inputs = append(t.Inputs, &Input{Name: op.name, Type: b.once(v.Base+"_"+op.name+"_order_by", func() *Type {
				group := &Type{Kind: InputObject, Description: "order by " + op.name + `() on columns of table "` + v.DB.FullName() + `"`}
				for _, c := range columns {
					group.Inputs = append(group.Inputs, &Input{Name: c.Name, Type: b.direction(), Node: c})
				}
				return group
			})})
		}
		return t
	})
}
