package metadata

import (
	"encoding/json"
	"errors"
)

// TableName is a table of a Postgres schema.
type TableName struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// UnmarshalJSON takes {"schema","name"} or a bare name, which is of the
// schema public.
func (t *TableName) UnmarshalJSON(raw []byte) error {
	*t = TableName{Schema: "public"}
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &t.Name)
	}
	type plain TableName
	return json.Unmarshal(raw, (*plain)(t))
}

// String is the name as Hasura's messages print it: without the schema when
// that is public.
func (t TableName) String() string {
	if t.Schema == "" || t.Schema == "public" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// Table is one tracked table with everything that is said about it.
type Table struct {
	Table               TableName                      `json:"table"`
	IsEnum              bool                           `json:"is_enum,omitempty"`
	Configuration       *TableConfig                   `json:"configuration,omitempty"`
	ObjectRelationships []Relationship                 `json:"object_relationships,omitempty"`
	ArrayRelationships  []Relationship                 `json:"array_relationships,omitempty"`
	ComputedFields      []json.RawMessage              `json:"computed_fields,omitempty"`
	RemoteRelationships []json.RawMessage              `json:"remote_relationships,omitempty"`
	InsertPermissions   []Permission[InsertPermission] `json:"insert_permissions,omitempty"`
	SelectPermissions   []Permission[SelectPermission] `json:"select_permissions,omitempty"`
	UpdatePermissions   []Permission[UpdatePermission] `json:"update_permissions,omitempty"`
	DeletePermissions   []Permission[DeletePermission] `json:"delete_permissions,omitempty"`
	EventTriggers       []EventTrigger                 `json:"event_triggers,omitempty"`
}

// TableConfig renames a table and its columns in GraphQL.
type TableConfig struct {
	CustomName        string                  `json:"custom_name,omitempty"`
	CustomRootFields  RootFields              `json:"custom_root_fields,omitzero"`
	ColumnConfig      map[string]ColumnConfig `json:"column_config,omitempty"`
	CustomColumnNames map[string]string       `json:"custom_column_names,omitempty"`
	Comment           *string                 `json:"comment,omitempty"`
}

// ColumnConfig renames or describes one column.
type ColumnConfig struct {
	CustomName string `json:"custom_name,omitempty"`
	Comment    string `json:"comment,omitempty"`
}

// ColumnName is the GraphQL name of a database column; column itself when it
// has no custom name. It may be called on nil.
func (c *TableConfig) ColumnName(column string) string {
	if c == nil {
		return column
	}
	if named := c.ColumnConfig[column].CustomName; named != "" {
		return named
	}
	if named := c.CustomColumnNames[column]; named != "" {
		return named
	}
	return column
}

// RootFields are custom names of root fields; an empty one keeps the default.
type RootFields struct {
	Select          RootField `json:"select,omitzero"`
	SelectByPK      RootField `json:"select_by_pk,omitzero"`
	SelectAggregate RootField `json:"select_aggregate,omitzero"`
	SelectStream    RootField `json:"select_stream,omitzero"`
	Insert          RootField `json:"insert,omitzero"`
	InsertOne       RootField `json:"insert_one,omitzero"`
	Update          RootField `json:"update,omitzero"`
	UpdateByPK      RootField `json:"update_by_pk,omitzero"`
	UpdateMany      RootField `json:"update_many,omitzero"`
	Delete          RootField `json:"delete,omitzero"`
	DeleteByPK      RootField `json:"delete_by_pk,omitzero"`
}

// RootField is a custom root field: a name, or a name with a comment.
type RootField struct {
	Name    string
	Comment string
}

// UnmarshalJSON takes "name", null or {"name", "comment"}.
func (f *RootField) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '{' {
		var long struct{ Name, Comment string }
		err := json.Unmarshal(raw, &long)
		f.Name, f.Comment = long.Name, long.Comment
		return err
	}
	return json.Unmarshal(raw, &f.Name)
}

// MarshalJSON writes the short form unless there is a comment.
func (f RootField) MarshalJSON() ([]byte, error) {
	if f.Comment == "" {
		return json.Marshal(f.Name)
	}
	return json.Marshal(map[string]string{"name": f.Name, "comment": f.Comment})
}

// Relationship leads from a table to one row (object) or many (array).
type Relationship struct {
	Name    string `json:"name"`
	Using   Using  `json:"using"`
	Comment string `json:"comment,omitempty"`
}

// Using says how the rows of a relationship are found; one of both is set.
type Using struct {
	ForeignKey *ForeignKey          `json:"foreign_key_constraint_on,omitempty"`
	Manual     *ManualConfiguration `json:"manual_configuration,omitempty"`
}

// ForeignKey names the columns of a foreign key. Without Table they are the
// table's own columns, with Table those of the other table.
type ForeignKey struct {
	Table   *TableName
	Columns []string
}

// UnmarshalJSON takes "column", ["column"…] and {"table", "column"|"columns"}.
func (k *ForeignKey) UnmarshalJSON(raw []byte) error {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		k.Columns = make([]string, 1)
		return json.Unmarshal(raw, &k.Columns[0])
	case len(raw) > 0 && raw[0] == '[':
		return json.Unmarshal(raw, &k.Columns)
	}
	var remote struct {
		Table   *TableName `json:"table"`
		Column  string     `json:"column"`
		Columns []string   `json:"columns"`
	}
	if err := json.Unmarshal(raw, &remote); err != nil {
		return err
	}
	if remote.Table == nil {
		return errors.New(`key "table" not found`)
	}
	if remote.Column != "" {
		remote.Columns = []string{remote.Column}
	}
	k.Table, k.Columns = remote.Table, remote.Columns
	return nil
}

// MarshalJSON writes the shortest form.
func (k ForeignKey) MarshalJSON() ([]byte, error) {
	var columns any = k.Columns
	key := "columns"
	if len(k.Columns) == 1 {
		columns, key = k.Columns[0], "column"
	}
	if k.Table == nil {
		return json.Marshal(columns)
	}
	return json.Marshal(map[string]any{"table": k.Table, key: columns})
}

// ManualConfiguration joins without a foreign key. ColumnMapping leads from
// the table's own columns to the remote ones.
type ManualConfiguration struct {
	RemoteTable    TableName         `json:"remote_table"`
	ColumnMapping  map[string]string `json:"column_mapping"`
	InsertionOrder *string           `json:"insertion_order"`
	Source         string            `json:"source,omitempty"`
}
