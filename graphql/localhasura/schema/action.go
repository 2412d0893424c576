package schema

import (
	"fmt"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/pgtype"
)

// builtin are GraphQL's own scalars, whose values GraphQL's rules judge.
var builtin = map[string]bool{"Int": true, "Float": true, "String": true, "Boolean": true, "ID": true}

// actions adds the actions that the role may call.
func (b *builder) actions(query, mutation *Type) {
	for i := range b.model.Metadata.Actions {
		a := &b.model.Metadata.Actions[i]
		if !b.calls(a) || b.model.refused(a) {
			continue
		}
		f := &Field{Name: a.Name, Description: a.Comment, Type: b.outputRef(a.Definition.OutputType), Node: ActionRoot{a}}
		for _, arg := range a.Definition.Arguments {
			f.Args = append(f.Args, b.actionInput(arg.Name, arg.Description, arg.Type))
		}
		root := mutation
		if a.Definition.IsQuery() {
			root = query
		}
		root.Fields = append(root.Fields, f)
	}
}

// calls reports whether the role, or one that it inherits from, has the action.
func (b *builder) calls(a *metadata.Action) bool {
	if b.key.role == Admin {
		return true
	}
	roles := setOf(append(b.model.ancestors(b.key.role), b.key.role))
	for _, p := range a.Permissions {
		if roles[p.Role] {
			return true
		}
	}
	return false
}

func (m *Model) custom() *metadata.CustomTypes {
	if m.Metadata.CustomTypes == nil {
		return &metadata.CustomTypes{}
	}
	return m.Metadata.CustomTypes
}

func (b *builder) actionInput(name, description, typ string) *Input {
	in := &Input{Name: name, Description: description, Type: b.inputRef(typ)}
	if base := in.Type.Base(); !builtin[base] && b.schema.types[base].Kind == Scalar {
		if pg, ok := pgtype.ByGraphQL(base); ok {
			in.PG = &pg
		}
	}
	return in
}

// inputRef makes sure that the type used by an argument exists.
func (b *builder) inputRef(text string) *Ref {
	ref := parseRef(text)
	name := ref.Base()
	for _, in := range b.model.custom().InputObjects {
		if in.Name == name {
			b.once(name, func() *Type { return b.inputObject(in) })
			return ref
		}
	}
	b.leaf(name)
	return ref
}

func (b *builder) inputObject(in metadata.InputObject) *Type {
	t := &Type{Kind: InputObject, Description: in.Description}
	for _, f := range in.Fields {
		t.Inputs = append(t.Inputs, b.actionInput(f.Name, f.Description, f.Type))
	}
	return t
}

// leaf makes a scalar or an enum.
func (b *builder) leaf(name string) {
	for _, e := range b.model.custom().Enums {
		if e.Name == name {
			b.once(name, func() *Type { return enumType(e) })
			return
		}
	}
	b.scalar(name)
}

func enumType(e metadata.CustomEnum) *Type {
	t := &Type{Kind: Enum, Description: e.Description}
	for _, v := range e.Values {
		t.Values = append(t.Values, &Value{Name: v.Value, Description: v.Description, Deprecated: v.IsDeprecated})
	}
	return t
}

func (b *builder) outputRef(text string) *Ref {
	ref := parseRef(text)
	name := ref.Base()
	for i := range b.model.custom().Objects {
		if o := &b.model.custom().Objects[i]; o.Name == name {
			b.once(name, func() *Type { return b.outputObject(o) })
			return ref
		}
	}
	b.leaf(name)
	return ref
}

func (b *builder) outputObject(o *metadata.ObjectType) *Type {
	t := &Type{Kind: Object, Description: o.Description}
	for _, f := range o.Fields {
		t.Fields = append(t.Fields, &Field{Name: f.Name, Description: f.Description, Type: b.outputRef(f.Type), Node: ActionValue{}})
	}
	for _, r := range o.Relationships {
		t.Fields = append(t.Fields, b.actionRelation(r)...)
	}
	return t
}

// actionRelation is empty when the role may not read the table.
func (b *builder) actionRelation(r metadata.TypeRelationship) []*Field {
	tracked := b.model.Tracked(r.RemoteTable)
	if tracked == nil || !b.schema.View(tracked).readable() {
		return nil
	}
	node := ActionRelation{View: b.schema.View(tracked), Array: r.Type == "array"}
	for _, c := range tracked.Columns {
		for from, to := range r.FieldMapping {
			if to == c.DB.Name {
				node.Members, node.Columns = append(node.Members, from), append(node.Columns, c)
			}
		}
	}
	if !node.Array {
		return []*Field{{Name: r.Name, Type: b.object(node.View), Node: node}}
	}
	fields := []*Field{{Name: r.Name, Type: b.rows(node.View), Args: b.selectArgs(node.View), Node: node}}
	if node.View.Select.Aggregations {
		node.Aggregate = true
		fields = append(fields, &Field{Name: r.Name + "_aggregate", Type: Required(b.aggregate(node.View)), Args: b.selectArgs(node.View), Node: node})
	}
	return fields
}

// refused reports whether the action was found inconsistent.
func (m *Model) refused(a *metadata.Action) bool {
	return m.actionProblem(a) != ""
}

// checkActions reports actions and relationships of their types that do not fit.
func (m *Model) checkActions() {
	for i := range m.Metadata.Actions {
		a := &m.Metadata.Actions[i]
		if why := m.actionProblem(a); why != "" {
			m.inconsistent("action", "action "+a.Name, fmt.Sprintf("in action %q; %s", a.Name, why), a.Name)
		}
	}
	for _, o := range m.custom().Objects {
		for _, r := range o.Relationships {
			if why := m.relationProblem(o, r); why != "" {
				m.inconsistent("custom_types", "custom_types", why, m.custom())
			}
		}
	}
}

// relationProblem says why an output type's relationship cannot be followed.
func (m *Model) relationProblem(o metadata.ObjectType, r metadata.TypeRelationship) string {
	t := m.Tracked(r.RemoteTable)
	if t == nil {
		return fmt.Sprintf("the remote table %q of relationship %q in object type %q does not exist", r.RemoteTable, r.Name, o.Name)
	}
	for field, column := range r.FieldMapping {
		at := slices.IndexFunc(o.Fields, func(f metadata.TypeField) bool { return f.Name == field })
		switch {
		case at < 0:
			return fmt.Sprintf("the field %q for relationship %q does not exist in object type %q", field, r.Name, o.Name)
		case strings.HasPrefix(o.Fields[at].Type, "["):
			return fmt.Sprintf("the type of the field %q for relationship %q in object type %q is a list type", field, r.Name, o.Name)
		case t.DB.Column(column) == nil:
			return fmt.Sprintf("the column %q of the remote table %q for relationship %q in object type %q does not exist", column, r.RemoteTable, r.Name, o.Name)
		}
	}
	return ""
}

func (m *Model) actionProblem(a *metadata.Action) string {
	if _, err := metadata.Expand(a.Definition.Handler, m.env); err != nil {
		return err.Error()
	}
	for _, arg := range a.Definition.Arguments {
		if !m.knows(parseRef(arg.Type).Base(), true) {
			return undefinedType(parseRef(arg.Type).Base(), "scalar/enum/input_object")
		}
	}
	if out := parseRef(a.Definition.OutputType).Base(); !m.knows(out, false) {
		return undefinedType(out, "object type")
	}
	return ""
}

func undefinedType(name, kinds string) string {
	return fmt.Sprintf("the type: %q is not defined in custom types or it is not a %s", name, kinds)
}

func (m *Model) knows(name string, input bool) bool {
	c := m.custom()
	for _, o := range c.Objects {
		if !input && o.Name == name {
			return true
		}
	}
	for _, o := range c.InputObjects {
		if input && o.Name == name {
			return true
		}
	}
	for _, s := range c.Scalars {
		if s.Name == name {
			return true
		}
	}
	for _, e := range c.Enums {
		if e.Name == name {
			return true
		}
	}
	_, pg := pgtype.ByGraphQL(name)
	return pg || builtin[name]
}
