package document

import (
	"fmt"
	"sort"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// Request is one GraphQL request as it came. Variables are decoded JSON with
// numbers as json.Number.
type Request struct {
	Query     string
	Variables map[string]any
	Operation string // the operationName; empty = none
}

// Document is a parsed query text; it may serve many requests at once.
type Document struct{ doc *ast.QueryDocument }

// Parse reads a query text.
func Parse(query string) (*Document, *qerr.Error) {
	doc, err := parser.ParseQuery(&ast.Source{Input: query})
	if err != nil {
		return nil, qerr.New(qerr.ValidationFailed, "not a valid graphql query").At("$.query")
	}
	return &Document{doc}, nil
}

// Operation is a resolved operation.
type Operation struct {
	Kind       ast.Operation
	Selections []*Selection
}

// Resolve validates a request against a schema.
func (d *Document) Resolve(req *Request, s *schema.Schema) (*Operation, *qerr.Error) {
	op, err := d.pick(req.Operation)
	if err != nil {
		return nil, err
	}
	root, err := rootType(op, s)
	if err != nil {
		return nil, err
	}
	r := &resolver{schema: s, doc: d.doc}
	if r.vars, err = bindVariables(op, req.Variables); err != nil {
		return nil, err
	}
	if err := r.operationDirectives(op); err != nil {
		return nil, err
	}
	selections, err := r.selections(root, []ast.SelectionSet{op.SelectionSet}, nil)
	if err == nil && op.Operation == ast.Subscription {
		err = refuseSubscription(selections)
	}
	return &Operation{Kind: op.Operation, Selections: selections}, err
}

// pick finds the operation to run by Hasura's rules.
func (d *Document) pick(name string) (*ast.OperationDefinition, *qerr.Error) {
	ops := d.doc.Operations
	if name == "" {
		if len(ops) != 1 {
			return nil, invalid(nil, "exactly one operation has to be present in the document when operationName is not specified")
		}
		return ops[0], nil
	}
	for _, op := range ops {
		if op.Name == "" {
			return nil, invalid(nil, "operationName cannot be used when an anonymous operation exists in the document")
		}
	}
	if op := ops.ForName(name); op != nil {
		return op, nil
	}
	return nil, invalid(nil, "no such operation found in the document: %q", name)
}

func rootType(op *ast.OperationDefinition, s *schema.Schema) (*schema.Type, *qerr.Error) {
	switch op.Operation {
	case ast.Query:
	case ast.Mutation:
		if s.Mutation == nil {
			return nil, invalid(nil, "no mutations exist")
		}
		return s.Mutation, nil
	case ast.Subscription:
		if s.Subscription == nil {
			return nil, invalid(nil, "no subscriptions exist")
		}
		return s.Subscription, nil
	}
	return s.Query, nil
}

func refuseSubscription(selections []*Selection) *qerr.Error {
	if len(selections) > 1 {
		return invalid(nil, "subscriptions must select one top level field")
	}
	return qerr.New(qerr.UnexpectedPayload, "subscriptions are not supported over HTTP, use websockets instead")
}

// variable is a declared variable with the value of this request.
type variable struct {
	def   *ast.VariableDefinition
	value any // decoded JSON
	set   bool
}

func bindVariables(op *ast.OperationDefinition, given map[string]any) (map[string]*variable, *qerr.Error) {
	vars := make(map[string]*variable, len(op.VariableDefinitions))
	for _, def := range op.VariableDefinitions {
		if vars[def.Variable] != nil {
			return nil, qerr.Newf(qerr.ParseFailed, "multiple definitions for variable %q", def.Variable)
		}
		v := &variable{def: def}
		v.value, v.set = given[def.Variable]
		if err := v.check(); err != nil {
			return nil, err
		}
		vars[def.Variable] = v
	}
	return vars, unexpectedVariables(vars, given)
}

func (v *variable) check() *qerr.Error {
	switch {
	case v.set && v.value == nil && v.def.Type.NonNull:
		return invalid(nil, "null value found for non-nullable type: %q", v.def.Type.String())
	case !v.set && v.def.DefaultValue == nil && v.def.Type.NonNull:
		return invalid(nil, "expecting a value for non-nullable variable: %q", v.def.Variable)
	}
	return nil
}

func unexpectedVariables(vars map[string]*variable, given map[string]any) *qerr.Error {
	var extra []string
	for name := range given {
		if vars[name] == nil {
			extra = append(extra, name)
		}
	}
	if extra == nil {
		return nil
	}
	sort.Strings(extra)
	return invalid(nil, "unexpected variables in variableValues: %s", strings.Join(extra, ", "))
}

func (r *resolver) operationDirectives(op *ast.OperationDefinition) *qerr.Error {
	for _, d := range op.Directives {
		switch {
		case d.Name == "cached" && op.Operation == ast.Query:
		case d.Name == "skip" || d.Name == "include" || d.Name == "cached":
			return invalid(nil, "directive '%s' is not allowed on a %s", d.Name, op.Operation)
		default:
			return undefinedDirective(d.Name, nil)
		}
	}
	return nil
}

func undefinedDirective(name string, at *Path) *qerr.Error {
	return invalid(at, "directive '%s' is not defined in the schema", name)
}

// Normal writes a query text without comments, blanks and __typename, so that
// the allow list can compare texts as trees. The error is that of Parse.
func Normal(query string) (string, *qerr.Error) {
	d, err := Parse(query)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, op := range d.doc.Operations {
		fmt.Fprintf(&b, "%s %s", op.Operation, op.Name)
		normalVariables(&b, op.VariableDefinitions)
		normalDirectives(&b, op.Directives)
		normalSet(&b, op.SelectionSet)
	}
	for _, f := range d.doc.Fragments {
		fmt.Fprintf(&b, "fragment %s on %s", f.Name, f.TypeCondition)
		normalSet(&b, f.SelectionSet)
	}
	return b.String(), nil
}

func normalVariables(b *strings.Builder, defs ast.VariableDefinitionList) {
	for _, def := range defs {
		fmt.Fprintf(b, "$%s:%s", def.Variable, def.Type)
		if def.DefaultValue != nil {
			b.WriteString("=" + def.DefaultValue.String())
		}
	}
}

func normalDirectives(b *strings.Builder, list ast.DirectiveList) {
	for _, d := range list {
		b.WriteString("@" + d.Name)
		normalArguments(b, d.Arguments)
	}
}

func normalArguments(b *strings.Builder, args ast.ArgumentList) {
	for _, a := range args {
		fmt.Fprintf(b, "(%s:%s)", a.Name, a.Value)
	}
}

func normalSet(b *strings.Builder, set ast.SelectionSet) {
	b.WriteByte('{')
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Name == "__typename" {
				continue
			}
			fmt.Fprintf(b, "%s:%s", s.Alias, s.Name)
			normalArguments(b, s.Arguments)
			normalDirectives(b, s.Directives)
			if s.SelectionSet != nil {
				normalSet(b, s.SelectionSet)
			}
		case *ast.FragmentSpread:
			b.WriteString("..." + s.Name)
			normalDirectives(b, s.Directives)
		case *ast.InlineFragment:
			b.WriteString("...on " + s.TypeCondition)
			normalDirectives(b, s.Directives)
			normalSet(b, s.SelectionSet)
		}
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}
