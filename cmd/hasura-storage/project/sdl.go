package project

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// types are custom types as the metadata API takes them: lists by kind.
type types map[string][]document

// kinds are the lists of custom types.
var kinds = []string{"scalars", "enums", "input_objects", "objects"}

// parseSDL reads actions.graphql: the types, and what each action takes and
// answers.
func parseSDL(text string) (types, map[string]document, error) {
	parsed, err := parser.ParseSchema(&ast.Source{Name: "actions.graphql", Input: text})
	if err != nil {
		return nil, nil, err
	}
	found, shapes := types{}, map[string]document{}
	for _, d := range parsed.Definitions {
		switch {
		case d.Name == "Query" || d.Name == "Mutation":
			addShapes(shapes, d)
		case d.Kind == ast.Enum:
			found["enums"] = append(found["enums"], enum(d))
		case d.Kind == ast.InputObject:
			found["input_objects"] = append(found["input_objects"], object(d))
		case d.Kind == ast.Object:
			found["objects"] = append(found["objects"], object(d))
		default:
			return nil, nil, fmt.Errorf("actions.graphql: %s is of a kind that actions do not know", d.Name)
		}
	}
	return found, shapes, nil
}

// addShapes adds the part of an action's definition that the SDL holds.
func addShapes(shapes map[string]document, root *ast.Definition) {
	kind := map[string]string{"Query": "query", "Mutation": "mutation"}[root.Name]
	for _, f := range root.Fields {
		arguments := make([]any, 0, len(f.Arguments))
		for _, a := range f.Arguments {
			arguments = append(arguments, typed(a.Name, a.Type, a.Description))
		}
		shapes[f.Name] = document{"type": kind, "output_type": f.Type.String(), "arguments": arguments}
	}
}

func typed(name string, t *ast.Type, description string) document {
	d := document{"name": name, "type": t.String()}
	return d.described(description)
}

func (d document) described(text string) document {
	if text != "" {
		d["description"] = text
	}
	return d
}

func object(d *ast.Definition) document {
	fields := make([]any, 0, len(d.Fields))
	for _, f := range d.Fields {
		fields = append(fields, typed(f.Name, f.Type, f.Description))
	}
	return document{"name": d.Name, "fields": fields}.described(d.Description)
}

func enum(d *ast.Definition) document {
	values := make([]any, 0, len(d.EnumValues))
	for _, v := range d.EnumValues {
		values = append(values, document{"value": v.Name}.described(v.Description))
	}
	return document{"name": d.Name, "values": values}.described(d.Description)
}
