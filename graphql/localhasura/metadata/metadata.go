// Package metadata holds Hasura's metadata as Go values. Load reads a CLI v3
// project folder, Parse the JSON of replace_metadata; both end in the same
// Metadata. Export writes it back as export_metadata does. Boolean
// expressions stay JSON with their keys in the order they were written; the
// schema builder gives them their meaning.
package metadata

import "encoding/json"

// Metadata is the whole of it, as replace_metadata (version 3) takes it.
type Metadata struct {
	Version          int               `json:"version"`
	Sources          []Source          `json:"sources"`
	RemoteSchemas    []json.RawMessage `json:"remote_schemas,omitempty"`
	QueryCollections []QueryCollection `json:"query_collections,omitempty"`
	AllowList        []AllowEntry      `json:"allowlist,omitempty"`
	Actions          []Action          `json:"actions,omitempty"`
	CustomTypes      *CustomTypes      `json:"custom_types,omitempty"`
	CronTriggers     []CronTrigger     `json:"cron_triggers,omitempty"`
	APILimits        json.RawMessage   `json:"api_limits,omitempty"`
	RestEndpoints    []json.RawMessage `json:"rest_endpoints,omitempty"`
	InheritedRoles   []InheritedRole   `json:"inherited_roles,omitempty"`
	Introspection    *Introspection    `json:"graphql_schema_introspection,omitempty"`
	Network          json.RawMessage   `json:"network,omitempty"`
	Metrics          json.RawMessage   `json:"metrics_config,omitempty"`
	OpenTelemetry    json.RawMessage   `json:"opentelemetry,omitempty"`
	BackendConfigs   json.RawMessage   `json:"backend_configs,omitempty"`
}

// Source is one database. The local Hasura keeps all of them in SQLite and
// ignores Configuration.
type Source struct {
	Name          string            `json:"name"`
	Kind          string            `json:"kind"`
	Tables        []Table           `json:"tables"`
	Functions     []json.RawMessage `json:"functions,omitempty"`
	Configuration json.RawMessage   `json:"configuration,omitempty"`
	Customization json.RawMessage   `json:"customization,omitempty"`
}

// InheritedRole combines the permissions of the roles in its set.
type InheritedRole struct {
	RoleName string   `json:"role_name"`
	RoleSet  []string `json:"role_set"`
}

// QueryCollection is a named list of stored queries.
type QueryCollection struct {
	Name       string               `json:"name"`
	Definition CollectionDefinition `json:"definition"`
	Comment    string               `json:"comment,omitempty"`
}

// CollectionDefinition holds the queries of a collection.
type CollectionDefinition struct {
	Queries []StoredQuery `json:"queries"`
}

// StoredQuery is one query of a collection; Query is GraphQL text.
type StoredQuery struct {
	Name  string `json:"name"`
	Query string `json:"query"`
}

// AllowEntry puts a collection on the allow list.
type AllowEntry struct {
	Collection string      `json:"collection"`
	Scope      *AllowScope `json:"scope,omitempty"`
}

// AllowScope limits an AllowEntry to roles unless Global.
type AllowScope struct {
	Global bool     `json:"global"`
	Roles  []string `json:"roles,omitempty"`
}

// Introspection lists the roles that may not ask for __schema or __type.
type Introspection struct {
	DisabledForRoles []string `json:"disabled_for_roles"`
}

// Source returns the source of a name, nil if there is none.
func (m *Metadata) Source(name string) *Source {
	for i := range m.Sources {
		if m.Sources[i].Name == name {
			return &m.Sources[i]
		}
	}
	return nil
}

// Table returns the tracked table of a name, nil if it is not tracked.
func (s *Source) Table(name TableName) *Table {
	for i := range s.Tables {
		if s.Tables[i].Table == name {
			return &s.Tables[i]
		}
	}
	return nil
}

// Action returns the action of a name, nil if there is none.
func (m *Metadata) Action(name string) *Action {
	for i := range m.Actions {
		if m.Actions[i].Name == name {
			return &m.Actions[i]
		}
	}
	return nil
}
