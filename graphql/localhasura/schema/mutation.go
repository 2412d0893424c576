package schema

// mutationRoots adds the root fields that write a table.
func (b *builder) mutationRoots(v *View, mutation *Type) {
	add := func(f *Field) {
		if ValidName(f.Name) {
			mutation.Fields = append(mutation.Fields, f)
		}
	}
	if v.DB.View {
		return
	}
	if v.Insert != nil && b.allowsBackend(v.Insert.BackendOnly) {
		b.insertRoots(v, add)
	}
	if v.Update != nil && b.allowsBackend(v.Update.BackendOnly) {
		b.updateRoots(v, add)
	}
	if v.Delete != nil && b.allowsBackend(v.Delete.BackendOnly) {
		b.deleteRoots(v, add)
	}
}

func (b *builder) insertRoots(v *View, add func(*Field)) {
	names, table := v.customRoots(), `"`+v.DB.FullName()+`"`
	args := func(in *Input) []*Input {
		if len(v.DB.Keys()) == 0 {
			return []*Input{in}
		}
		return []*Input{in, {Name: "on_conflict", Description: "upsert condition", Type: b.onConflict(v)}}
	}
	row := Required(b.insertInput(v))
	add(&Field{Name: rootName(names.Insert, "insert_%s", v.Base), Description: "insert data into the table: " + table,
		Type: b.response(v), Node: InsertRoot{View: v},
		Args: args(&Input{Name: "objects", Description: "the rows to be inserted", Type: Required(ListOf(row))})})
	if v.readable() {
		add(&Field{Name: rootName(names.InsertOne, "insert_%s_one", v.Base), Description: "insert a single row into the table: " + table,
			Type: b.object(v), Node: InsertRoot{View: v, One: true},
			Args: args(&Input{Name: "object", Description: "the row to be inserted", Type: row})})
	}
}

func (b *builder) updateRoots(v *View, add func(*Field)) {
	names, table := v.customRoots(), `"`+v.DB.FullName()+`"`
	where := &Input{Name: "where", Description: "filter the rows which have to be updated", Type: Required(b.boolExp(v))}
	add(&Field{Name: rootName(names.Update, "update_%s", v.Base), Description: "update data of the table: " + table,
		Type: b.response(v), Node: UpdateRoot{View: v}, Args: append(b.updateOperators(v), where)})
	add(&Field{Name: rootName(names.UpdateMany, "update_%s_many", v.Base), Description: "update multiples rows of table: " + table,
		Type: ListOf(b.response(v)), Node: UpdateRoot{View: v, Batch: true},
		Args: []*Input{{Name: "updates", Description: "updates to execute, in order", Type: Required(ListOf(Required(b.updates(v))))}}})
	if key := v.keyColumns(); key != nil {
		pk := &Input{Name: "pk_columns", Type: Required(b.pkColumns(v, key))}
		add(&Field{Name: rootName(names.UpdateByPK, "update_%s_by_pk", v.Base), Description: "update single row of the table: " + table,
			Type: b.object(v), Node: UpdateRoot{View: v, ByPK: true}, Args: append(b.updateOperators(v), pk)})
	}
}

func (b *builder) deleteRoots(v *View, add func(*Field)) {
	names, table := v.customRoots(), `"`+v.DB.FullName()+`"`
	add(&Field{Name: rootName(names.Delete, "delete_%s", v.Base), Description: "delete data from the table: " + table,
		Type: b.response(v), Node: DeleteRoot{View: v},
		Args: []*Input{{Name: "where", Description: "filter the rows which have to be deleted", Type: Required(b.boolExp(v))}}})
	if key := v.keyColumns(); key != nil {
		add(&Field{Name: rootName(names.DeleteByPK, "delete_%s_by_pk", v.Base), Description: "delete single row from the table: " + table,
			Type: b.object(v), Node: DeleteRoot{View: v, ByPK: true}, Args: b.keyArgs(key)})
	}
}

// response is the type that insert, update and delete of many rows answer.
func (b *builder) response(v *View) *Ref {
	return b.once(v.Base+"_mutation_response", func() *Type {
		t := &Type{Kind: Object, Description: `response of any mutation on the table "` + v.DB.FullName() + `"`}
		t.Fields = []*Field{{Name: "affected_rows", Description: "number of rows affected by the mutation", Type: Required(b.scalar("Int")), Node: AffectedRows{}}}
		if v.readable() {
			t.Fields = append(t.Fields, &Field{Name: "returning", Description: "data from the rows affected by the mutation", Type: b.rows(v), Node: Returning{v}})
		}
		return t
	})
}

func (b *builder) insertInput(v *View) *Ref {
	return b.once(v.Base+"_insert_input", func() *Type {
		t := &Type{Kind: InputObject, Description: `input type for inserting data into table "` + v.DB.FullName() + `"`}
		for _, c := range v.insertable() {
			t.Inputs = append(t.Inputs, ownValue(b, c))
		}
		for _, r := range v.Relations {
			if target := b.schema.View(r.Target); target.Insert != nil && !target.DB.View {
				t.Inputs = append(t.Inputs, &Input{Name: r.Name, Type: b.nestedInput(r, target), Node: RelatedInput{r, target}})
			}
		}
		return t
	})
}

// nestedInput is the type of a relationship's rows inside an insert.
func (b *builder) nestedInput(r *Relation, target *View) *Ref {
	name, data := target.Base+"_obj_rel_insert_input", func() *Ref { return Required(b.insertInput(target)) }
	if r.Array {
		name, data = target.Base+"_arr_rel_insert_input", func() *Ref { return Required(ListOf(Required(b.insertInput(target)))) }
	}
	return b.once(name, func() *Type {
		t := &Type{Kind: InputObject, Inputs: []*Input{{Name: "data", Type: data()}}}
		if len(target.DB.Keys()) > 0 {
			t.Inputs = append(t.Inputs, &Input{Name: "on_conflict", Description: "upsert condition", Type: b.onConflict(target)})
		}
		return t
	})
}

func (b *builder) onConflict(v *View) *Ref {
	return b.once(v.Base+"_on_conflict", func() *Type {
		constraints := b.once(v.Base+"_constraint", func() *Type {
			t := &Type{Kind: Enum, Description: `unique or primary key constraints on table "` + v.DB.FullName() + `"`}
			for _, key := range v.DB.Keys() {
				t.Values = append(t.Values, &Value{Name: key.Name, Description: "unique or primary key constraint", Node: key})
			}
			return t
		})
		columns := b.columnEnum(v.Base+"_update_column", v.updatable())
		return &Type{Kind: InputObject, Description: `on_conflict condition type for table "` + v.DB.FullName() + `"`, Inputs: []*Input{
			{Name: "constraint", Type: Required(constraints)},
			{Name: "update_columns", Type: Required(ListOf(Required(columns))), Default: "[]"},
			{Name: "where", Type: b.boolExp(v)},
		}}
	})
}

func (b *builder) pkColumns(v *View, key []*Column) *Ref {
	return b.once(v.Base+"_pk_columns_input", func() *Type {
		return &Type{Kind: InputObject, Description: "primary key columns input for table: " + v.Base, Inputs: b.keyArgs(key)}
	})
}

func (b *builder) updates(v *View) *Ref {
	return b.once(v.Base+"_updates", func() *Type {
		where := &Input{Name: "where", Description: "filter the rows which have to be updated", Type: Required(b.boolExp(v))}
		return &Type{Kind: InputObject, Inputs: append(b.updateOperators(v), where)}
	})
}

// updateOperator is an argument of an update such as _set.
type updateOperator struct {
	name, input, description string
	fits                     func(*Column) bool
	operand                  func(*builder, *Column) *Input
}

func anyColumn(*Column) bool     { return true }
func jsonbColumn(c *Column) bool { return c.DB.Type.Binary() }

// ownValue takes the column's value, null only if the column does.
func ownValue(b *builder, c *Column) *Input {
	in := b.columnInput(c)
	in.NoNull = c.DB.NotNull
	return in
}

func typed(ref *Ref) func(*builder, *Column) *Input {
	return func(b *builder, c *Column) *Input {
		b.scalar(ref.Base())
		return &Input{Name: c.Name, Type: ref, Node: c}
	}
}

var updateOperators = []updateOperator{
	{"_append", "append_input", "append existing jsonb value of filtered columns with new jsonb value", jsonbColumn, ownValue},
	{"_delete_at_path", "delete_at_path_input", "delete the field or element with specified path (for JSON arrays, negative integers count from the end)", jsonbColumn, typed(ListOf(Required(Named("String"))))},
	{"_delete_elem", "delete_elem_input", "delete the array element with specified index (negative integers count from the end). throws an error if top level container is not an array", jsonbColumn, typed(Named("Int"))},
	{"_delete_key", "delete_key_input", "delete key/value pair or string element. key/value pairs are matched based on their key value", jsonbColumn, typed(Named("String"))},
	{"_inc", "inc_input", "increments the numeric columns with given value of the filtered values", numeric, ownValue},
	{"_prepend", "prepend_input", "prepend existing jsonb value of filtered columns with new jsonb value", jsonbColumn, ownValue},
	{"_set", "set_input", "sets the columns of the filtered rows to the given values", anyColumn, ownValue},
}

func (b *builder) updateOperators(v *View) []*Input {
	var args []*Input
	for _, op := range updateOperators {
		var fitting []*Column
		for _, c := range v.updatable() {
			if op.fits(c) {
				fitting = append(fitting, c)
			}
		}
		if len(fitting) == 0 {
			continue
		}
		args = append(args, &Input{Name: op.name, Description: op.description, NoNull: true, Type: b.once(v.Base+"_"+op.input, func() *Type {
			t := &Type{Kind: InputObject, Description: op.description}
			for _, c := range fitting {
				t.Inputs = append(t.Inputs, op.operand(b, c))
			}
			return t
		})})
	}
	return args
}
