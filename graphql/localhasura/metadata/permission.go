package metadata

import (
	"encoding/json"
	"fmt"
)

// Permission is what a role may do with a table.
type Permission[T any] struct {
	Role       string `json:"role"`
	Permission T      `json:"permission"`
	Comment    string `json:"comment,omitempty"`
}

// Columns is a list of database columns or all of them.
type Columns struct {
	All   bool
	Names []string
}

// UnmarshalJSON takes "*" or a list of names.
func (c *Columns) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var star string
		if err := json.Unmarshal(raw, &star); err != nil {
			return err
		}
		if star != "*" {
			return fmt.Errorf(`unexpected string %q: columns are "*" or a list`, star)
		}
		c.All = true
		return nil
	}
	return json.Unmarshal(raw, &c.Names)
}

// MarshalJSON is the reverse of UnmarshalJSON.
func (c Columns) MarshalJSON() ([]byte, error) {
	if c.All {
		return []byte(`"*"`), nil
	}
	if c.Names == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(c.Names)
}

// Presets give columns a literal or, from a string that starts with
// "x-hasura-" in any case, a session variable.
type Presets map[string]json.RawMessage

// InputValidation asks a webhook about the input of a mutation before it runs.
type InputValidation struct {
	Type       string               `json:"type"` // "http"
	Definition ValidationDefinition `json:"definition"`
}

// ValidationDefinition says where the input is judged.
type ValidationDefinition struct {
	URL                  string   `json:"url"`
	Headers              []Header `json:"headers,omitempty"`
	ForwardClientHeaders bool     `json:"forward_client_headers,omitempty"`
	Timeout              int      `json:"timeout,omitempty"` // seconds; 0 = 10
}

// InsertPermission lets a role insert rows that pass Check. Columns nil = all.
type InsertPermission struct {
	Check         json.RawMessage  `json:"check"`
	Set           Presets          `json:"set,omitempty"`
	Columns       *Columns         `json:"columns,omitempty"`
	BackendOnly   bool             `json:"backend_only,omitempty"`
	ValidateInput *InputValidation `json:"validate_input,omitempty"`
}

// SelectPermission lets a role read columns of the rows that pass Filter.
// A nil Limit or list of root fields means no restriction; an empty list of
// root fields hides them all.
type SelectPermission struct {
	Columns                Columns         `json:"columns"`
	Filter                 json.RawMessage `json:"filter"`
	Limit                  *int            `json:"limit,omitempty"`
	AllowAggregations      bool            `json:"allow_aggregations,omitempty"`
	ComputedFields         []string        `json:"computed_fields,omitempty"`
	QueryRootFields        *[]string       `json:"query_root_fields,omitempty"`
	SubscriptionRootFields *[]string       `json:"subscription_root_fields,omitempty"`
}

// UpdatePermission lets a role change columns of the rows that pass Filter,
// if they pass Check afterwards. A nil or null Check checks nothing.
type UpdatePermission struct {
	Columns       Columns          `json:"columns"`
	Filter        json.RawMessage  `json:"filter"`
	Check         json.RawMessage  `json:"check"`
	Set           Presets          `json:"set,omitempty"`
	BackendOnly   bool             `json:"backend_only,omitempty"`
	ValidateInput *InputValidation `json:"validate_input,omitempty"`
}

// DeletePermission lets a role delete the rows that pass Filter.
type DeletePermission struct {
	Filter        json.RawMessage  `json:"filter"`
	BackendOnly   bool             `json:"backend_only,omitempty"`
	ValidateInput *InputValidation `json:"validate_input,omitempty"`
}
