// Package schema builds the GraphQL schema that a role sees.
//
// Start at Model: it joins metadata with the catalog. Model.For gives the
// Schema of one role. Every field and input carries its meaning (Node), so that
// a validated request can be planned without looking names up again.
package schema

import (
	"sort"
	"strings"

	"hasura-storage/graphql/localhasura/pgtype"
)

// Kind is a kind of GraphQL type, in introspection's words.
type Kind string

// The kinds that Hasura's schema has for tables and actions.
const (
	Scalar      Kind = "SCALAR"
	Object      Kind = "OBJECT"
	Enum        Kind = "ENUM"
	InputObject Kind = "INPUT_OBJECT"
)

// Ref is a use of a type: a name, or a list, each perhaps non-null.
type Ref struct {
	Name    string
	Of      *Ref // the element of a list
	NonNull bool
}

// Named is a nullable use of a named type.
func Named(name string) *Ref { return &Ref{Name: name} }

// Required is the non-null form of a type.
func Required(r *Ref) *Ref { return &Ref{Name: r.Name, Of: r.Of, NonNull: true} }

// ListOf is a nullable list.
func ListOf(r *Ref) *Ref { return &Ref{Of: r} }

// Base is the name inside all lists.
func (r *Ref) Base() string {
	for r.Of != nil {
		r = r.Of
	}
	return r.Name
}

// String writes the type as GraphQL does, e.g. "[uuid!]!".
func (r *Ref) String() string {
	s := r.Name
	if r.Of != nil {
		s = "[" + r.Of.String() + "]"
	}
	if r.NonNull {
		s += "!"
	}
	return s
}

// Type is a named type.
type Type struct {
	Kind        Kind
	Name        string
	Description string
	Fields      []*Field // of an Object
	Inputs      []*Input // of an InputObject
	Values      []*Value // of an Enum
	fields      map[string]*Field
	inputs      map[string]*Input
}

// Field is a field of an object type. Node says what it stands for: *Column,
// *Relation, *Aggregated, or one of the root nodes.
type Field struct {
	Name        string
	Description string
	Type        *Ref
	Args        []*Input
	Node        any
}

// Input is an argument or a field of an input type.
type Input struct {
	Name        string
	Description string
	Type        *Ref
	Default     string       // GraphQL text; empty = none
	PG          *pgtype.Type // values are judged as Postgres's, not as GraphQL's
	NonNegative bool
	NoNull      bool // null is refused though the type allows it: leave it out instead
	Node        any  // *Column, *Relation, … where the input stands for one
}

// Value is an enum value.
type Value struct {
	Name        string
	Description string
	Deprecated  bool
	Node        any
}

// Field finds a field by name; nil if there is none.
func (t *Type) Field(name string) *Field { return t.fields[name] }

// Input finds an input field by name; nil if there is none.
func (t *Type) Input(name string) *Input { return t.inputs[name] }

// Value finds an enum value by name; nil if there is none.
func (t *Type) Value(name string) *Value {
	for _, v := range t.Values {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Arg finds an argument by name; nil if there is none.
func (f *Field) Arg(name string) *Input {
	for _, a := range f.Args {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// finish sorts members by name, as Hasura lists them, and indexes them.
func (t *Type) finish() {
	sort.SliceStable(t.Fields, func(i, j int) bool { return t.Fields[i].Name < t.Fields[j].Name })
	sort.SliceStable(t.Inputs, func(i, j int) bool { return t.Inputs[i].Name < t.Inputs[j].Name })
	sort.SliceStable(t.Values, func(i, j int) bool { return t.Values[i].Name < t.Values[j].Name })
	t.fields = make(map[string]*Field, len(t.Fields))
	t.inputs = make(map[string]*Input, len(t.Inputs))
	for _, f := range t.Fields {
		sort.SliceStable(f.Args, func(i, j int) bool { return f.Args[i].Name < f.Args[j].Name })
		t.fields[f.Name] = f
	}
	for _, in := range t.Inputs {
		t.inputs[in.Name] = in
	}
}

// ValidName reports whether GraphQL accepts a name.
func ValidName(name string) bool {
	for i, c := range name {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// parseRef reads a type such as "[uuid!]!"; metadata has checked its form.
func parseRef(text string) *Ref {
	text = strings.TrimSpace(text)
	required := strings.HasSuffix(text, "!")
	text = strings.TrimSuffix(text, "!")
	r := &Ref{NonNull: required}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		r.Of = parseRef(text[1 : len(text)-1])
		return r
	}
	r.Name = text
	return r
}
