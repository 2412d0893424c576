package schema

// queryRoots adds the root fields that read a table.
func (b *builder) queryRoots(v *View, query, subscription *Type) {
	if !v.readable() {
		return
	}
	names := v.customRoots()
	list := &Field{Name: rootName(names.Select, "%s", v.Base), Type: b.rows(v), Args: b.selectArgs(v), Node: SelectRoot{View: v},
		Description: `fetch data from the table: "` + v.DB.FullName() + `"`}
	aggregate := &Field{Name: rootName(names.SelectAggregate, "%s_aggregate", v.Base), Node: AggregateRoot{View: v},
		Description: `fetch aggregated fields from the table: "` + v.DB.FullName() + `"`}
	b.addRoot(v, "select", list, query, subscription)
	if v.Select.Aggregations {
		aggregate.Type, aggregate.Args = Required(b.aggregate(v)), b.selectArgs(v)
		b.addRoot(v, "select_aggregate", aggregate, query, subscription)
	}
	if key := v.keyColumns(); key != nil {
		byPK := &Field{Name: rootName(names.SelectByPK, "%s_by_pk", v.Base), Type: b.object(v), Args: b.keyArgs(key),
			Node:        SelectRoot{View: v, ByPK: true},
			Description: `fetch data from the table: "` + v.DB.FullName() + `" using primary key columns`}
		b.addRoot(v, "select_by_pk", byPK, query, subscription)
	}
}

func (b *builder) addRoot(v *View, kind string, f *Field, query, subscription *Type) {
	if !ValidName(f.Name) {
		return
	}
	if v.Select.hasRoot(kind) {
		query.Fields = append(query.Fields, f)
	}
	if listed(v.Select.streams, kind) {
		subscription.Fields = append(subscription.Fields, f)
	}
}

// rows is the type of a list of a table's rows.
func (b *builder) rows(v *View) *Ref { return Required(ListOf(Required(b.object(v)))) }

func (b *builder) keyArgs(key []*Column) []*Input {
	args := make([]*Input, 0, len(key))
	for _, c := range key {
		in := b.columnInput(c)
		in.Type = Required(in.Type)
		args = append(args, in)
	}
	return args
}

// columnInput is an input that takes a column's value.
func (b *builder) columnInput(c *Column) *Input {
	return &Input{Name: c.Name, Description: c.Description, Type: b.scalar(c.DB.Type.GraphQL), PG: &c.DB.Type, Node: c}
}

func (b *builder) selectArgs(v *View) []*Input {
	return []*Input{
		{Name: "distinct_on", Description: "distinct select on columns", Type: ListOf(Required(b.selectColumn(v)))},
		{Name: "limit", Description: "limit the number of rows returned", Type: b.scalar("Int"), NonNegative: true},
		{Name: "offset", Description: "skip the first n rows. Use only with order_by", Type: b.scalar("Int"), PG: &bigintType},
		{Name: "order_by", Description: "sort the rows by one or more columns", Type: ListOf(Required(b.orderBy(v)))},
		{Name: "where", Description: "filter the rows returned", Type: b.boolExp(v)},
	}
}

// object is the type of a table's rows.
func (b *builder) object(v *View) *Ref {
	return b.once(v.Base, func() *Type {
		t := &Type{Kind: Object, Description: b.tableComment(v)}
		for _, c := range v.Visible() {
			t.Fields = append(t.Fields, b.columnField(v, c))
		}
		for _, r := range v.Relations {
			t.Fields = append(t.Fields, b.relationFields(r)...)
		}
		return t
	})
}

func (b *builder) tableComment(v *View) string {
	if c := v.Meta.Configuration; c != nil && c.Comment != nil {
		return *c.Comment
	}
	return `columns and relationships of "` + v.DB.FullName() + `"`
}

func (b *builder) columnField(v *View, c *Column) *Field {
	f := &Field{Name: c.Name, Description: c.Description, Type: b.scalar(c.DB.Type.GraphQL), Node: c}
	if c.DB.NotNull && v.Select.Always(c.DB.Name) {
		f.Type = Required(f.Type)
	}
	if c.DB.Type.Class == jsonClass {
		f.Args = []*Input{{Name: "path", Description: "JSON select path", Type: b.scalar("String")}}
	}
	return f
}

// relationFields is empty when the role may not read the related table.
func (b *builder) relationFields(r *Relation) []*Field {
	target := b.schema.View(r.Target)
	if !target.readable() {
		return nil
	}
	if !r.Array {
		f := &Field{Name: r.Name, Type: b.object(target), Node: RelationField{Relation: r, View: target}}
		if r.Required {
			f.Type = Required(f.Type)
		}
		return []*Field{f}
	}
	fields := []*Field{{Name: r.Name, Type: b.rows(target), Args: b.selectArgs(target), Node: RelationField{Relation: r, View: target}}}
	if target.Select.Aggregations {
		fields = append(fields, &Field{Name: r.Name + "_aggregate", Type: Required(b.aggregate(target)), Args: b.selectArgs(target),
			Node: RelationField{Relation: r, View: target, Aggregate: true}})
	}
	return fields
}

func (b *builder) selectColumn(v *View) *Ref {
	return b.columnEnum(v.Base+"_select_column", v.Visible())
}

func (b *builder) columnEnum(name string, columns []*Column) *Ref {
	return b.once(name, func() *Type {
		t := &Type{Kind: Enum}
		for _, c := range columns {
			t.Values = append(t.Values, &Value{Name: c.Name, Description: "column name", Node: c})
		}
		if len(columns) == 0 {
			t.Values = []*Value{{Name: "_PLACEHOLDER", Description: "placeholder (do not use)"}}
		}
		return t
	})
}
