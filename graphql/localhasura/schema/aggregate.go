package schema

// aggregateOp is a group of aggregate fields, one for each fitting column.
type aggregateOp struct {
	name   string
	fits   func(*Column) bool
	result func(*Column) string // the scalar that it answers
}

func numeric(c *Column) bool    { return c.DB.Type.Numeric() }
func ordered(c *Column) bool    { return c.DB.Type.Comparable() }
func asColumn(c *Column) string { return c.DB.Type.GraphQL }
func asFloat(*Column) string    { return "Float" }

var aggregateOps = []aggregateOp{
	{"avg", numeric, asFloat},
	{"max", ordered, asColumn},
	{"min", ordered, asColumn},
	{"stddev", numeric, asFloat},
	{"stddev_pop", numeric, asFloat},
	{"stddev_samp", numeric, asFloat},
	{"sum", numeric, asColumn},
	{"var_pop", numeric, asFloat},
	{"var_samp", numeric, asFloat},
	{"variance", numeric, asFloat},
}

func (op aggregateOp) columns(v *View) []*Column {
	var all []*Column
	for _, c := range v.Visible() {
		if op.fits(c) {
			all = append(all, c)
		}
	}
	return all
}

// aggregate is the type of a table's aggregate: values and nodes.
func (b *builder) aggregate(v *View) *Ref {
	return b.once(v.Base+"_aggregate", func() *Type {
		return &Type{Kind: Object, Description: `aggregated selection of "` + v.DB.FullName() + `"`, Fields: []*Field{
			{Name: "aggregate", Type: b.aggregateFields(v), Node: AggregateValues{v}},
			{Name: "nodes", Type: b.rows(v), Node: AggregateNodes{v}},
		}}
	})
}

func (b *builder) aggregateFields(v *View) *Ref {
	return b.once(v.Base+"_aggregate_fields", func() *Type {
		t := &Type{Kind: Object, Description: `aggregate fields of "` + v.DB.FullName() + `"`, Fields: []*Field{b.countField(v)}}
		for _, op := range aggregateOps {
			if columns := op.columns(v); len(columns) > 0 {
				t.Fields = append(t.Fields, &Field{Name: op.name, Type: b.aggregateGroup(v, op, columns), Node: AggregateOp{v, op.name}})
			}
		}
		return t
	})
}

func (b *builder) countField(v *View) *Field {
	return &Field{Name: "count", Type: Required(b.scalar("Int")), Node: Count{v}, Args: []*Input{
		{Name: "columns", Type: ListOf(Required(b.selectColumn(v)))},
		{Name: "distinct", Type: b.scalar("Boolean")},
	}}
}

func (b *builder) aggregateGroup(v *View, op aggregateOp, columns []*Column) *Ref {
	return b.once(v.Base+"_"+op.name+"_fields", func() *Type {
		t := &Type{Kind: Object, Description: "aggregate " + op.name + " on columns"}
		for _, c := range columns {
			t.Fields = append(t.Fields, &Field{Name: c.Name, Description: c.Description, Type: b.scalar(op.result(c)), Node: c})
		}
		return t
	})
}
