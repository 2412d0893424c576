package metadata

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// actionFields are the fields of Query and Mutation in actions.graphql.
type actionFields map[string]actionField

type actionField struct {
	kind string // Query or Mutation
	def  *ast.FieldDefinition
}

// parseSDL reads actions.graphql: the custom types, and the root fields that
// describe the actions. Types may be named that it does not define, since a
// database's scalars are known elsewhere.
func parseSDL(text string) (CustomTypes, actionFields, error) {
	var types CustomTypes
	fields := actionFields{}
	doc, err := parser.ParseSchema(&ast.Source{Name: "actions.graphql", Input: text})
	if err != nil {
		return types, nil, err
	}
	for _, def := range append(doc.Definitions, doc.Extensions...) {
		switch def.Name {
		case "Query":
			fields.add(Query, def)
		case "Mutation":
			fields.add(Mutation, def)
		default:
			if err := types.add(def); err != nil {
				return types, nil, err
			}
		}
	}
	return types, fields, nil
}

func (f actionFields) add(kind string, def *ast.Definition) {
	for _, field := range def.Fields {
		f[field.Name] = actionField{kind: kind, def: field}
	}
}

// complete fills in what actions.yaml leaves to the SDL. Default values of
// arguments are dropped, as Hasura drops them.
func (f actionFields) complete(a *Action) error {
	d := &a.Definition
	if d.OutputType != "" {
		return nil // the definition is complete, as in the API's form
	}
	field, ok := f[a.Name]
	if !ok {
		return fmt.Errorf("action %q has no field of that name under Query or Mutation in actions.graphql", a.Name)
	}
	d.Type, d.OutputType = field.kind, field.def.Type.String()
	if a.Comment == "" {
		a.Comment = field.def.Description
	}
	for _, arg := range field.def.Arguments {
		d.Arguments = append(d.Arguments, ActionArgument{
			Name: arg.Name, Type: arg.Type.String(), Description: arg.Description,
		})
	}
	return nil
}

func (c *CustomTypes) add(def *ast.Definition) error {
	switch def.Kind {
	case ast.Scalar:
		c.Scalars = append(c.Scalars, CustomScalar{Name: def.Name, Description: def.Description})
	case ast.Enum:
		c.Enums = append(c.Enums, enumOf(def))
	case ast.InputObject:
		c.InputObjects = append(c.InputObjects, InputObject{
			Name: def.Name, Description: def.Description, Fields: typeFields(def),
		})
	case ast.Object:
		c.Objects = append(c.Objects, ObjectType{
			Name: def.Name, Description: def.Description, Fields: typeFields(def),
		})
	default:
		return fmt.Errorf("type %q: actions know no type of kind %s", def.Name, def.Kind)
	}
	return nil
}

func typeFields(def *ast.Definition) []TypeField {
	out := make([]TypeField, 0, len(def.Fields))
	for _, f := range def.Fields {
		out = append(out, TypeField{Name: f.Name, Type: f.Type.String(), Description: f.Description})
	}
	return out
}

func enumOf(def *ast.Definition) CustomEnum {
	e := CustomEnum{Name: def.Name, Description: def.Description}
	for _, v := range def.EnumValues {
		e.Values = append(e.Values, EnumValue{
			Value:        v.Name,
			Description:  v.Description,
			IsDeprecated: v.Directives.ForName("deprecated") != nil,
		})
	}
	return e
}

// addRelationships takes over what only actions.yaml can say of a type.
func (c *CustomTypes) addRelationships(from CustomTypes) {
	for _, object := range from.Objects {
		for i := range c.Objects {
			if c.Objects[i].Name == object.Name {
				c.Objects[i].Relationships = object.Relationships
			}
		}
	}
}
