package document

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// Selection is a selected field with its coerced arguments.
type Selection struct {
	Key    string        // the response name
	Name   string        // the field's name; "__typename" has no Field
	Parent *schema.Type  // the type that it was selected on
	Field  *schema.Field // nil for __typename
	Args   []Member      // those that were given
	Sub    []*Selection
	Path   *Path
}

// Arg finds an argument's value; nil if it was not given.
func (s *Selection) Arg(name string) *Value {
	for _, a := range s.Args {
		if a.Input.Name == name {
			return a.Value
		}
	}
	return nil
}

type resolver struct {
	schema *schema.Schema
	doc    *ast.QueryDocument
	vars   map[string]*variable
}

// found is a field of a selection set, with the selection sets of all its
// mentions.
type found struct {
	field *ast.Field
	sets  []ast.SelectionSet
}

// selections resolves the fields that selection sets on one object ask for.
func (r *resolver) selections(on *schema.Type, sets []ast.SelectionSet, at *Path) ([]*Selection, *qerr.Error) {
	c := collector{resolver: r, on: on, at: at.Key("selectionSet"), byKey: map[string]*found{}}
	for _, set := range sets {
		if err := c.collect(set, nil); err != nil {
			return nil, err
		}
	}
	all := make([]*Selection, 0, len(c.order))
	for _, f := range c.order {
		s, err := r.selection(on, f, c.at.Key(f.field.Alias))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

type collector struct {
	*resolver
	on    *schema.Type
	at    *Path
	byKey map[string]*found
	order []*found
}

func (c *collector) collect(set ast.SelectionSet, inside []string) *qerr.Error {
	for _, s := range set {
		if err := c.selection1(s, inside); err != nil {
			return err
		}
	}
	return nil
}

// selection1 takes one member of a selection set; inside lists the fragments
// that are open.
func (c *collector) selection1(s ast.Selection, inside []string) *qerr.Error {
	switch s := s.(type) {
	case *ast.Field:
		if keep, err := c.kept(s.Directives, c.at); err != nil || !keep {
			return err
		}
		return c.field(s)
	case *ast.InlineFragment:
		keep, err := c.kept(s.Directives, c.at)
		if err != nil || !keep || s.TypeCondition != "" && s.TypeCondition != c.on.Name {
			return err
		}
		return c.collect(s.SelectionSet, inside)
	case *ast.FragmentSpread:
		return c.spread(s, inside)
	}
	return nil
}

func (c *collector) spread(s *ast.FragmentSpread, inside []string) *qerr.Error {
	def := c.doc.Fragments.ForName(s.Name)
	if def == nil {
		return invalid(c.at, "reference to undefined fragment %q", s.Name)
	}
	for i, name := range inside {
		if name == s.Name {
			return invalid(c.at, "the fragment definition(s) %s form a cycle", strings.Join(inside[i:], " and "))
		}
	}
	keep, err := c.kept(s.Directives, c.at)
	if err != nil || !keep || def.TypeCondition != c.on.Name {
		return err
	}
	return c.collect(def.SelectionSet, append(slices.Clip(inside), s.Name))
}

func (c *collector) field(f *ast.Field) *qerr.Error {
	same := c.byKey[f.Alias]
	if same == nil {
		entry := &found{field: f, sets: []ast.SelectionSet{f.SelectionSet}}
		c.byKey[f.Alias] = entry
		c.order = append(c.order, entry)
		return nil
	}
	if same.field.Name != f.Name {
		return invalid(c.at, "selection of both '%s' and '%s' specify the same response name, '%s'", same.field.Name, f.Name, f.Alias)
	}
	if !sameArguments(same.field.Arguments, f.Arguments) {
		return invalid(c.at, "inconsistent arguments between multiple selections of field '%s'", f.Name)
	}
	same.sets = append(same.sets, f.SelectionSet)
	return nil
}

func sameArguments(a, b ast.ArgumentList) bool {
	if len(a) != len(b) {
		return false
	}
	for _, arg := range a {
		other := b.ForName(arg.Name)
		if other == nil || other.Value.String() != arg.Value.String() {
			return false
		}
	}
	return true
}

// kept obeys @skip and @include.
func (r *resolver) kept(directives ast.DirectiveList, at *Path) (bool, *qerr.Error) {
	keep := true
	for _, d := range directives {
		if d.Name == "cached" {
			return false, invalid(at, "directive 'cached' is not allowed on a field")
		}
		if d.Name != "skip" && d.Name != "include" {
			return false, undefinedDirective(d.Name, at)
		}
		if given := d.Arguments.ForName("if"); given == nil {
			return false, invalid(at.Key("if"), "missing required field 'if'")
		}
		v, err := r.value(d.Arguments.ForName("if").Value, conditionInput, at.Key("if"))
		if err != nil {
			return false, err
		}
		keep = keep && v.V == (d.Name == "include")
	}
	return keep, nil
}

var conditionInput = &schema.Input{Name: "if", Type: schema.Required(schema.Named("Boolean"))}

func (r *resolver) selection(on *schema.Type, f *found, at *Path) (*Selection, *qerr.Error) {
	s := &Selection{Key: f.field.Alias, Name: f.field.Name, Parent: on, Path: at}
	if s.Name == "__typename" {
		return s, nil
	}
	if s.Field = r.fieldOf(on, s.Name); s.Field == nil {
		return nil, invalid(at, "field '%s' not found in type: '%s'", s.Name, on.Name)
	}
	var err *qerr.Error
	if s.Args, err = r.arguments(s.Field, f.field.Arguments, at); err != nil {
		return nil, err
	}
	target := r.schema.Type(s.Field.Type.Base())
	selected := false
	for _, set := range f.sets {
		selected = selected || len(set) > 0
	}
	switch {
	case target.Kind != schema.Object && selected:
		return nil, invalid(at, "unexpected subselection set for non-object field")
	case target.Kind != schema.Object:
		return s, nil
	case !selected:
		return nil, invalid(at.Key("selectionSet"), "missing selection set for '%s'", target.Name)
	}
	s.Sub, err = r.selections(target, f.sets, at)
	return s, err
}

// fieldOf finds a field; the query's root has those of introspection as well.
func (r *resolver) fieldOf(on *schema.Type, name string) *schema.Field {
	if on == r.schema.Query && r.schema.Introspects() {
		if f := schema.IntrospectionField(name); f != nil {
			return f
		}
	}
	return on.Field(name)
}

func (r *resolver) arguments(f *schema.Field, given ast.ArgumentList, at *Path) ([]Member, *qerr.Error) {
	for _, a := range given {
		if f.Arg(a.Name) == nil {
			return nil, invalid(at, "'%s' has no argument named '%s'", f.Name, a.Name)
		}
	}
	var all []Member
	for _, in := range f.Args {
		var raw *ast.Value
		if a := given.ForName(in.Name); a != nil {
			raw = a.Value
		}
		m, err := r.member(in, raw, at.Key("args").Key(in.Name))
		if err != nil {
			return nil, err
		}
		if m != nil {
			all = append(all, *m)
		}
	}
	return all, nil
}
