// Package introspect answers __schema and __type from a role's schema.
package introspect

import (
	"strings"

	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/schema"
)

// Answer is the value of __schema or __type: maps, lists, strings and booleans
// that encode as JSON.
func Answer(s *schema.Schema, root *document.Selection) any {
	w := walker{s}
	if root.Name == "__schema" {
		return w.object(root.Sub, w.schemaField)
	}
	name, _ := root.Arg("name").V.(string)
	t := s.Type(name)
	if t == nil {
		return nil
	}
	return w.namedType(t, root.Sub)
}

type walker struct{ schema *schema.Schema }

// Object keeps the order of the selections when it is encoded.
type Object []Member

// Member is a key with its value.
type Member struct {
	Key   string
	Value any
}

func (w walker) object(sub []*document.Selection, field func(*document.Selection) any) Object {
	o := make(Object, 0, len(sub))
	for _, s := range sub {
		v := any(s.Parent.Name) // __typename
		if s.Field != nil {
			v = field(s)
		}
		o = append(o, Member{s.Key, v})
	}
	return o
}

func each[T any](items []T, one func(T) any) []any {
	list := make([]any, 0, len(items))
	for _, item := range items {
		list = append(list, one(item))
	}
	return list
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (w walker) schemaField(s *document.Selection) any {
	switch s.Name {
	case "types":
		return each(w.schema.Types(), func(t *schema.Type) any { return w.namedType(t, s.Sub) })
	case "queryType":
		return w.namedType(w.schema.Query, s.Sub)
	case "mutationType":
		return w.optional(w.schema.Mutation, s.Sub)
	case "subscriptionType":
		return w.optional(w.schema.Subscription, s.Sub)
	case "directives":
		return each(schema.Directives(), func(d *schema.Directive) any { return w.directive(d, s.Sub) })
	}
	return nil
}

func (w walker) optional(t *schema.Type, sub []*document.Selection) any {
	if t == nil {
		return nil
	}
	return w.namedType(t, sub)
}

// use describes a use of a type: its wrappers first.
func (w walker) use(r *schema.Ref, sub []*document.Selection) any {
	switch {
	case r.NonNull:
		nullable := *r
		nullable.NonNull = false
		return w.wrapper("NON_NULL", &nullable, sub)
	case r.Of != nil:
		return w.wrapper("LIST", r.Of, sub)
	}
	return w.namedType(w.schema.Type(r.Name), sub)
}

func (w walker) wrapper(kind string, of *schema.Ref, sub []*document.Selection) any {
	return w.object(sub, func(s *document.Selection) any {
		switch s.Name {
		case "kind":
			return kind
		case "ofType":
			return w.use(of, s.Sub)
		}
		return nil
	})
}

func (w walker) namedType(t *schema.Type, sub []*document.Selection) any {
	return w.object(sub, func(s *document.Selection) any {
		switch s.Name {
		case "kind":
			return string(t.Kind)
		case "name":
			return t.Name
		case "description":
			return text(t.Description)
		}
		return w.members(t, s)
	})
}

// members answers the lists that only some kinds of types have.
func (w walker) members(t *schema.Type, s *document.Selection) any {
	switch {
	case s.Name == "fields" && t.Kind == schema.Object:
		return each(t.Fields, func(f *schema.Field) any { return w.field(f, s.Sub) })
	case s.Name == "interfaces" && t.Kind == schema.Object:
		return []any{}
	case s.Name == "inputFields" && t.Kind == schema.InputObject:
		return w.inputs(t.Inputs, s.Sub)
	case s.Name == "enumValues" && t.Kind == schema.Enum:
		deprecated := s.Arg("includeDeprecated")
		var shown []*schema.Value
		for _, v := range t.Values {
			if !v.Deprecated || deprecated != nil && deprecated.V == true {
				shown = append(shown, v)
			}
		}
		return each(shown, func(v *schema.Value) any { return w.enumValue(v, s.Sub) })
	}
	return nil
}

func (w walker) field(f *schema.Field, sub []*document.Selection) any {
	return w.object(sub, func(s *document.Selection) any {
		switch s.Name {
		case "name":
			return f.Name
		case "description":
			return text(f.Description)
		case "args":
			return w.inputs(f.Args, s.Sub)
		case "type":
			return w.use(f.Type, s.Sub)
		case "isDeprecated":
			return false
		}
		return nil
	})
}

func (w walker) inputs(list []*schema.Input, sub []*document.Selection) any {
	return each(list, func(in *schema.Input) any {
		return w.object(sub, func(s *document.Selection) any {
			switch s.Name {
			case "name":
				return in.Name
			case "description":
				return text(in.Description)
			case "type":
				return w.use(in.Type, s.Sub)
			case "defaultValue":
				return text(in.Default)
			case "isDeprecated":
				return false
			}
			return nil
		})
	})
}

func (w walker) enumValue(v *schema.Value, sub []*document.Selection) any {
	return w.object(sub, func(s *document.Selection) any {
		switch s.Name {
		case "name":
			return v.Name
		case "description":
			return text(v.Description)
		case "isDeprecated":
			return v.Deprecated
		case "deprecationReason":
			return text(strings.Repeat("No longer supported", map[bool]int{true: 1}[v.Deprecated]))
		}
		return nil
	})
}

func (w walker) directive(d *schema.Directive, sub []*document.Selection) any {
	return w.object(sub, func(s *document.Selection) any {
		switch s.Name {
		case "name":
			return d.Name
		case "description":
			return text(d.Description)
		case "locations":
			return d.Locations
		case "args":
			return w.inputs(d.Args, s.Sub)
		case "isRepeatable":
			return false
		}
		return nil
	})
}
