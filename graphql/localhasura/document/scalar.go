package document

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// describe names the kind of an unfit value.
func (s source) describe() string {
	if s.text != nil {
		return map[ast.ValueKind]string{
			ast.IntValue: "an integer", ast.FloatValue: "a float", ast.StringValue: "a string", ast.BlockValue: "a string",
			ast.BooleanValue: "a boolean", ast.NullValue: "null", ast.EnumValue: "an enum value",
			ast.ListValue: "a list", ast.ObjectValue: "an object",
		}[s.text.Kind]
	}
	switch s.json.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// plain turns the value into decoded JSON, with the variables inside replaced.
func (r *resolver) plain(src source) (any, *qerr.Error) {
	if src.text == nil {
		return src.json, nil
	}
	switch v := src.text; v.Kind {
	case ast.Variable:
		return r.plainVariable(v.Raw)
	case ast.IntValue, ast.FloatValue:
		return json.Number(v.Raw), nil
	case ast.BooleanValue:
		return v.Raw == "true", nil
	case ast.NullValue:
		return nil, nil
	case ast.ListValue:
		return r.plainList(v.Children)
	case ast.ObjectValue:
		return r.plainObject(v.Children)
	default:
		return v.Raw, nil
	}
}

func (r *resolver) plainVariable(name string) (any, *qerr.Error) {
	bound := r.vars[name]
	if bound == nil {
		return nil, invalid(nil, "unbound variable %q", name)
	}
	if bound.set || bound.def.DefaultValue == nil {
		return bound.value, nil
	}
	return r.plain(source{text: bound.def.DefaultValue})
}

func (r *resolver) plainList(children ast.ChildValueList) (any, *qerr.Error) {
	list := make([]any, len(children))
	for i, c := range children {
		item, err := r.plain(source{text: c.Value})
		if err != nil {
			return nil, err
		}
		list[i] = item
	}
	return list, nil
}

func (r *resolver) plainObject(children ast.ChildValueList) (any, *qerr.Error) {
	m := make(map[string]any, len(children))
	for _, c := range children {
		item, err := r.plain(source{text: c.Value})
		if err != nil {
			return nil, err
		}
		m[c.Name] = item
	}
	return m, nil
}

// scalar judges a column's value by Postgres's rules, others by GraphQL's.
func (r *resolver) scalar(src source, want *schema.Ref, in *schema.Input, at *Path) (*Value, *qerr.Error) {
	v, err := r.plain(src)
	if err != nil {
		return nil, err
	}
	if in.PG != nil {
		if v == nil {
			return nil, invalid(at, "unexpected null value for type '%s'", want.Name)
		}
		if why := in.PG.Check(v); why != nil {
			return nil, qerr.New(qerr.ParseFailed, why.Error()).At(at.String())
		}
		return &Value{v, at}, nil
	}
	v, expected := builtinScalar(want.Name, v, in)
	if expected != "" {
		return nil, invalid(at, "expected %s for type '%s', but found %s", expected, want.Name, src.describe())
	}
	return &Value{v, at}, nil
}

// builtinScalar coerces to one of GraphQL's scalars; expected is what should
// have been given. Other scalars take anything.
func builtinScalar(name string, v any, in *schema.Input) (coerced any, expected string) {
	_, isString := v.(string)
	number, isNumber := v.(json.Number)
	switch name {
	case "Boolean":
		if _, ok := v.(bool); !ok {
			return nil, "a boolean"
		}
	case "String":
		if !isString {
			return nil, "a string"
		}
	case "ID":
		if isNumber && isInteger(number) {
			return number.String(), ""
		}
		if !isString {
			return nil, "an id"
		}
	case "Int":
		n, err := strconv.ParseInt(number.String(), 10, 32)
		if in.NonNegative && (err != nil || n < 0) {
			return nil, "a non-negative 32-bit integer"
		}
		if err != nil {
			return nil, "a 32-bit integer"
		}
	case "Float":
		f, err := number.Float64()
		if !isNumber || err != nil || math.IsInf(f, 0) {
			return nil, "a float"
		}
	}
	return v, ""
}

func isInteger(n json.Number) bool {
	return strings.IndexFunc(strings.TrimPrefix(n.String(), "-"), func(c rune) bool { return c < '0' || c > '9' }) < 0
}
