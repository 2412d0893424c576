package metadata

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// members of the metadata object and the file of the CLI that holds each.
// Actions and databases have rules of their own.
var members = map[string]string{
	"allowlist":                    "allow_list.yaml",
	"api_limits":                   "api_limits.yaml",
	"backend_configs":              "backend_configs.yaml",
	"cron_triggers":                "cron_triggers.yaml",
	"graphql_schema_introspection": "graphql_schema_introspection.yaml",
	"inherited_roles":              "inherited_roles.yaml",
	"metrics_config":               "metrics_config.yaml",
	"network":                      "network.yaml",
	"opentelemetry":                "opentelemetry.yaml",
	"query_collections":            "query_collections.yaml",
	"remote_schemas":               "remote_schemas.yaml",
	"rest_endpoints":               "rest_endpoints.yaml",
	"sources":                      "databases/databases.yaml",
}

// Load reads a metadata folder of CLI config version 3: files is that folder
// itself (the one with version.yaml). A missing file is an absent member; a
// file that is named by an !include must exist. The error names the file.
func Load(files fs.FS) (*Metadata, error) {
	r := reader{files: files}
	object := map[string]json.RawMessage{"version": json.RawMessage("3")}
	for member, file := range members {
		raw, err := r.file(file, 0)
		if err != nil {
			return nil, err
		}
		if raw != nil {
			object[member] = raw
		}
	}
	if err := checkVersion(r); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	m, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	return m, loadActions(r, m)
}

func checkVersion(r reader) error {
	raw, err := r.file("version.yaml", 0)
	if err != nil || raw == nil {
		return err
	}
	var v struct{ Version int }
	if err := json.Unmarshal(raw, &v); err != nil || v.Version != 3 {
		return fmt.Errorf("metadata: version.yaml: only version 3 is supported, found %s", raw)
	}
	return nil
}

// loadActions joins actions.yaml (where an action is answered and who may
// call it) with actions.graphql (what it looks like).
func loadActions(r reader, m *Metadata) error {
	raw, err := r.file("actions.yaml", 0)
	if err != nil {
		return err
	}
	var file struct {
		Actions     []Action    `json:"actions"`
		CustomTypes CustomTypes `json:"custom_types"`
	}
	if raw != nil {
		if err := decode(raw, &file); err != nil {
			return fmt.Errorf("metadata: actions.yaml: %w", err)
		}
	}
	sdl, err := fs.ReadFile(r.files, "actions.graphql")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("metadata: %w", err)
	}
	types, fields, err := parseSDL(string(sdl))
	if err != nil {
		return fmt.Errorf("metadata: actions.graphql: %w", err)
	}
	types.addRelationships(file.CustomTypes)
	for i := range file.Actions {
		if err := fields.complete(&file.Actions[i]); err != nil {
			return fmt.Errorf("metadata: actions.yaml: %w", err)
		}
	}
	m.Actions = file.Actions
	if !types.Empty() {
		m.CustomTypes = &types
	}
	return nil
}
