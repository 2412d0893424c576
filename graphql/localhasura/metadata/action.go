package metadata

import (
	"encoding/json"
	"time"
)

// Action is a root field that a webhook answers.
type Action struct {
	Name        string             `json:"name"`
	Definition  ActionDefinition   `json:"definition"`
	Comment     string             `json:"comment,omitempty"`
	Permissions []ActionPermission `json:"permissions,omitempty"`
}

// ActionPermission shows the action to a role.
type ActionPermission struct {
	Role    string `json:"role"`
	Comment string `json:"comment,omitempty"`
}

// Kinds and types of actions.
const (
	Synchronous  = "synchronous"
	Asynchronous = "asynchronous"
	Query        = "query"
	Mutation     = "mutation"
)

// ActionDefinition says how an action looks and where it is answered.
type ActionDefinition struct {
	Handler              string           `json:"handler"`
	OutputType           string           `json:"output_type"`
	Arguments            []ActionArgument `json:"arguments,omitempty"`
	Type                 string           `json:"type,omitempty"` // Query or Mutation; empty = Mutation
	Kind                 string           `json:"kind,omitempty"` // empty = Synchronous
	ForwardClientHeaders bool             `json:"forward_client_headers,omitempty"`
	Headers              []Header         `json:"headers,omitempty"`
	// IgnoredClientHeaders replaces the list of client headers that are not
	// forwarded; nil keeps Hasura's own list.
	IgnoredClientHeaders *[]string       `json:"ignored_client_headers,omitempty"`
	Timeout              int             `json:"timeout,omitempty"` // seconds; 0 = 30
	RequestTransform     json.RawMessage `json:"request_transform,omitempty"`
	ResponseTransform    json.RawMessage `json:"response_transform,omitempty"`
}

// ActionArgument is one argument; Type is GraphQL text such as "[uuid!]!".
type ActionArgument struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// DefaultActionTimeout is how long Hasura waits for an action's webhook.
const DefaultActionTimeout = 30 * time.Second

// IsQuery tells whether the action is a field of query_root.
func (d *ActionDefinition) IsQuery() bool { return d.Type == Query }

// WaitsFor is how long the webhook may take.
func (d *ActionDefinition) WaitsFor() time.Duration {
	if d.Timeout == 0 {
		return DefaultActionTimeout
	}
	return time.Duration(d.Timeout) * time.Second
}

// CustomTypes are the types that actions use beside the database's scalars.
type CustomTypes struct {
	InputObjects []InputObject  `json:"input_objects,omitempty"`
	Objects      []ObjectType   `json:"objects,omitempty"`
	Scalars      []CustomScalar `json:"scalars,omitempty"`
	Enums        []CustomEnum   `json:"enums,omitempty"`
}

// InputObject is an input type.
type InputObject struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Fields      []TypeField `json:"fields"`
}

// ObjectType is an output type; relationships lead from it to tables.
type ObjectType struct {
	Name          string             `json:"name"`
	Description   string             `json:"description,omitempty"`
	Fields        []TypeField        `json:"fields"`
	Relationships []TypeRelationship `json:"relationships,omitempty"`
}

// TypeField is a field of an input or output type; Type is GraphQL text.
type TypeField struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// TypeRelationship joins an output type to a table. FieldMapping leads from
// the type's fields to the table's columns.
type TypeRelationship struct {
	Name         string            `json:"name"`
	Type         string            `json:"type"` // "object" or "array"
	RemoteTable  TableName         `json:"remote_table"`
	Source       string            `json:"source,omitempty"` // empty = "default"
	FieldMapping map[string]string `json:"field_mapping"`
}

// CustomScalar is a scalar that takes any JSON.
type CustomScalar struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// CustomEnum is an enum.
type CustomEnum struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Values      []EnumValue `json:"values"`
}

// EnumValue is one value of a CustomEnum.
type EnumValue struct {
	Value        string `json:"value"`
	Description  string `json:"description,omitempty"`
	IsDeprecated bool   `json:"is_deprecated,omitempty"`
}

// Empty tells whether no type is defined. It may be called on nil.
func (c *CustomTypes) Empty() bool {
	return c == nil || len(c.InputObjects)+len(c.Objects)+len(c.Scalars)+len(c.Enums) == 0
}
