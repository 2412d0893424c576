package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"hasura-storage/graphql/localhasura/metadata"
)

// Types are the output types that answers are checked against.
type Types struct {
	objects map[string][]metadata.TypeField
}

// NewTypes indexes custom types; custom may be nil.
func NewTypes(custom *metadata.CustomTypes) *Types {
	t := &Types{objects: map[string][]metadata.TypeField{}}
	if custom != nil {
		for _, o := range custom.Objects {
			t.objects[o.Name] = o.Fields
		}
	}
	return t
}

// check says what is wrong with the shape of an answer, or "". Only the top
// level and the presence of the fields of its objects are checked; the values
// of fields, enums and scalars that are not built in pass, as in Hasura.
func (t *Types) check(value any, output string) string {
	if elem, ok := element(output); ok {
		return t.checkList(value, elem, nonNull(output))
	}
	name := strings.TrimSuffix(output, "!")
	fields, isObject := t.objects[name]
	if !isObject && !builtIn(name) {
		return ""
	}
	switch v := value.(type) {
	case nil:
		return nullFault(nonNull(output))
	case []any:
		return "got array for the action webhook response, expecting " + name
	case map[string]any:
		if !isObject {
			return "got object for the action webhook response, expecting " + name
		}
		return checkFields(v, fields)
	case bool:
		return scalarFault("Boolean", name, name == "Boolean")
	case string:
		return scalarFault("String", name, name == "String" || name == "ID")
	}
	// Hasura calls numbers "String" in this message too.
	return scalarFault("String", name, name == "Int" || name == "Float")
}

func (t *Types) checkList(value any, elem string, required bool) string {
	if value == nil {
		return nullFault(required)
	}
	list, ok := value.([]any)
	if !ok {
		return "expecting array for the action webhook response"
	}
	for _, item := range list {
		if fault := t.check(item, elem); fault != "" {
			return fault
		}
	}
	return ""
}

func nullFault(required bool) string {
	if required {
		return "got null for the action webhook response"
	}
	return ""
}

func scalarFault(kind, want string, ok bool) string {
	if ok {
		return ""
	}
	return fmt.Sprintf("got scalar %s for the action webhook response, expecting %s", kind, want)
}

// checkFields looks at all declared fields, selected or not.
func checkFields(object map[string]any, fields []metadata.TypeField) string {
	for _, f := range fields {
		value, found := object[f.Name]
		switch {
		case !nonNull(f.Type):
		case !found:
			return fmt.Sprintf("field %q expected in webhook response, but not found", f.Name)
		case value == nil:
			return fmt.Sprintf("expecting not null value for field %q", f.Name)
		}
	}
	return ""
}

func nonNull(text string) bool { return strings.HasSuffix(text, "!") }

// element is the element type of a list type such as "[T!]!".
func element(text string) (string, bool) {
	inner, ok := strings.CutPrefix(strings.TrimSuffix(text, "!"), "[")
	if !ok {
		return "", false
	}
	return strings.TrimSuffix(inner, "]"), true
}

func builtIn(name string) bool {
	switch name {
	case "Int", "Float", "String", "Boolean", "ID":
		return true
	}
	return false
}

// parse reads exactly one JSON value.
func parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("not enough input")
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("endOfInput")
	}
	return value, nil
}
