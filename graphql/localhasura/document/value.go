package document

import (
	"sort"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// Value is a coerced value. V is nil, bool, string or json.Number for scalars,
// decoded JSON for those that take any, *schema.Value for an enum, []*Value for
// a list, *Object for an input object.
type Value struct {
	V    any
	Path *Path
}

// Object is a coerced input object with its members in the order given.
type Object struct {
	Type    *schema.Type
	Members []Member
}

// Member is an argument or a member of an input object.
type Member struct {
	Input *schema.Input
	Value *Value
}

// Get finds a member's value; nil if it was not given.
func (o *Object) Get(name string) *Value {
	for _, m := range o.Members {
		if m.Input.Name == name {
			return m.Value
		}
	}
	return nil
}

// List returns the elements of a list; none for null.
func (v *Value) List() []*Value {
	list, _ := v.V.([]*Value)
	return list
}

// Object returns the object, or nil for null.
func (v *Value) Object() *Object {
	o, _ := v.V.(*Object)
	return o
}

// IsNull reports an explicit null.
func (v *Value) IsNull() bool { return v.V == nil }

// JSON is the value as decoded JSON, with enums as strings.
func (v *Value) JSON() any {
	switch x := v.V.(type) {
	case *schema.Value:
		return x.Name
	case []*Value:
		list := make([]any, len(x))
		for i, item := range x {
			list[i] = item.JSON()
		}
		return list
	case *Object:
		m := make(map[string]any, len(x.Members))
		for _, member := range x.Members {
			m[member.Input.Name] = member.Value.JSON()
		}
		return m
	}
	return v.V
}

// source is an uncoerced value: GraphQL text, or JSON out of the variables.
type source struct {
	text *ast.Value
	json any
}

// member coerces what was given for an input; nil means that it is absent.
func (r *resolver) member(in *schema.Input, raw *ast.Value, at *Path) (*Member, *qerr.Error) {
	if raw == nil || r.unset(raw) {
		return nil, absent(in, at)
	}
	v, err := r.value(raw, in, at)
	if err != nil {
		return nil, err
	}
	return &Member{in, v}, nil
}

func absent(in *schema.Input, at *Path) *qerr.Error {
	if in.Type.NonNull && in.Default == "" {
		return invalid(at, "missing required field '%s'", in.Name)
	}
	return nil
}

// unset reports a nullable variable without a value: as if nothing were given.
func (r *resolver) unset(raw *ast.Value) bool {
	if raw.Kind != ast.Variable {
		return false
	}
	v := r.vars[raw.Raw]
	return v != nil && !v.set && v.def.DefaultValue == nil
}

func (r *resolver) value(raw *ast.Value, in *schema.Input, at *Path) (*Value, *qerr.Error) {
	return r.coerce(source{text: raw}, in.Type, in, at)
}

// expand replaces a variable by its value, after comparing the types.
func (r *resolver) expand(src source, want *schema.Ref, in *schema.Input, at *Path) (source, *qerr.Error) {
	if src.text == nil || src.text.Kind != ast.Variable {
		return src, nil
	}
	v := r.vars[src.text.Raw]
	if v == nil {
		return src, invalid(nil, "unbound variable %q", src.text.Raw)
	}
	if !usable(v.def, want, in) {
		return src, invalid(at, "variable '%s' is declared as '%s', but used where '%s' is expected", v.def.Variable, v.def.Type, want)
	}
	if v.set {
		return source{json: v.value}, nil
	}
	return source{text: v.def.DefaultValue}, nil
}

// usable is GraphQL's rule for variables in positions of another nullability.
func usable(def *ast.VariableDefinition, want *schema.Ref, in *schema.Input) bool {
	if !want.NonNull || def.Type.NonNull {
		return fits(def.Type, want)
	}
	hasDefault := def.DefaultValue != nil && def.DefaultValue.Kind != ast.NullValue
	if !hasDefault && (in == nil || in.Default == "") {
		return false
	}
	nullable := *want
	nullable.NonNull = false
	return fits(def.Type, &nullable)
}

func fits(have *ast.Type, want *schema.Ref) bool {
	if want.NonNull && !have.NonNull {
		return false
	}
	if want.Of == nil || have.Elem == nil {
		return want.Of == nil && have.Elem == nil && have.NamedType == want.Name
	}
	return fits(have.Elem, want.Of)
}

// coerce judges a value by the type wanted and gives it its meaning.
func (r *resolver) coerce(src source, want *schema.Ref, in *schema.Input, at *Path) (*Value, *qerr.Error) {
	src, err := r.expand(src, want, in, at)
	if err != nil {
		return nil, err
	}
	if src.null() && !want.NonNull && (want != in.Type || !in.NoNull) {
		return &Value{Path: at}, nil
	}
	if want.Of != nil {
		return r.list(src, want, in, at)
	}
	switch t := r.schema.Type(want.Name); t.Kind {
	case schema.InputObject:
		return r.object(src, t, at)
	case schema.Enum:
		return enum(src, t, at)
	default:
		return r.scalar(src, want, in, at)
	}
}

func (r *resolver) list(src source, want *schema.Ref, in *schema.Input, at *Path) (*Value, *qerr.Error) {
	items, ok := src.items()
	if src.null() {
		return nil, invalid(at, "expected a list, but found null")
	}
	list := make([]*Value, 0, len(items))
	for i, item := range items {
		place := at
		if ok {
			place = at.Index(i)
		}
		v, err := r.coerce(item, want.Of, in, place)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return &Value{list, at}, nil
}

// items are the elements of a list; ok is false for a single value, which
// stands for a list of one.
func (s source) items() (items []source, ok bool) {
	if s.text != nil && s.text.Kind == ast.ListValue {
		for _, c := range s.text.Children {
			items = append(items, source{text: c.Value})
		}
		return items, true
	}
	if list, isList := s.json.([]any); isList {
		for _, v := range list {
			items = append(items, source{json: v})
		}
		return items, true
	}
	return []source{s}, false
}

func (s source) null() bool {
	if s.text != nil {
		return s.text.Kind == ast.NullValue
	}
	return s.json == nil
}

func enum(src source, t *schema.Type, at *Path) (*Value, *qerr.Error) {
	name, ok := src.json.(string)
	if src.text != nil {
		name, ok = src.text.Raw, src.text.Kind == ast.EnumValue
	}
	if !ok {
		return nil, invalid(at, "expected an enum value for type '%s', but found %s", t.Name, src.describe())
	}
	if v := t.Value(name); v != nil {
		return &Value{v, at}, nil
	}
	var names []string
	for _, v := range t.Values {
		names = append(names, "'"+v.Name+"'")
	}
	return nil, invalid(at, "expected one of the values [%s] for type '%s', but found '%s'", strings.Join(names, ", "), t.Name, name)
}

// object coerces the members of an input object, those given in their order.
func (r *resolver) object(src source, t *schema.Type, at *Path) (*Value, *qerr.Error) {
	given, ok := src.members()
	if !ok {
		return nil, invalid(at, "expected an object for type '%s', but found %s", t.Name, src.describe())
	}
	o := &Object{Type: t}
	for _, g := range given {
		in := t.Input(g.name)
		if in == nil {
			return nil, invalid(at.Key(g.name), "field '%s' not found in type: '%s'", g.name, t.Name)
		}
		if g.src.text != nil && r.unset(g.src.text) {
			continue
		}
		v, err := r.coerce(g.src, in.Type, in, at.Key(g.name))
		if err != nil {
			return nil, err
		}
		o.Members = append(o.Members, Member{in, v})
	}
	for _, in := range t.Inputs {
		if o.Get(in.Name) == nil {
			if err := absent(in, at.Key(in.Name)); err != nil {
				return nil, err
			}
		}
	}
	return &Value{o, at}, nil
}

type givenMember struct {
	name string
	src  source
}

func (s source) members() ([]givenMember, bool) {
	var all []givenMember
	if s.text != nil {
		for _, c := range s.text.Children {
			all = append(all, givenMember{c.Name, source{text: c.Value}})
		}
		return all, s.text.Kind == ast.ObjectValue
	}
	m, ok := s.json.(map[string]any)
	for name, v := range m {
		all = append(all, givenMember{name, source{json: v}})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all, ok
}
