package metadata

import (
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

const (
	tablesDir   = "metadata/databases/default/tables/"
	actionsFile = "metadata/actions.yaml"
)

// WithStarter returns the project with the permissions of the folder starter for the roles user and
// public, laid out as Project is. It is for development and for projects that have no permissions
// yet. It fails only if the project was put together wrongly.
func WithStarter() (fs.FS, error) {
	merged := overlay{base: FS, files: map[string][]byte{}}
	tables, err := fs.ReadDir(FS, "starter/"+tablesDir[:len(tablesDir)-1])
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	for _, table := range tables {
		if err := merged.add(tablesDir+table.Name(), addMembers); err != nil {
			return nil, err
		}
	}
	if err := merged.add(actionsFile, addActionPermissions); err != nil {
		return nil, err
	}
	return merged, nil
}

// document is a YAML mapping.
type document = map[string]any

// add puts name, merged from the project and the starter, in front of the project's own file.
func (o overlay) add(name string, merge func(into, starter document) error) error {
	into, err := readYAML(name)
	if err != nil {
		return err
	}
	starter, err := readYAML("starter/" + name)
	if err != nil {
		return err
	}
	if err := merge(into, starter); err != nil {
		return fmt.Errorf("metadata: starter/%s: %w", name, err)
	}
	o.files[name], err = yaml.Marshal(into)
	return err
}

func readYAML(name string) (document, error) {
	b, err := fs.ReadFile(FS, name)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	var d document
	if err := yaml.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("metadata: %s: %w", name, err)
	}
	return d, nil
}

// addMembers adds what a table file lacks, and never replaces what it says.
func addMembers(into, starter document) error {
	for key, value := range starter {
		if _, taken := into[key]; taken {
			return fmt.Errorf("%s is in the table file already", key)
		}
		into[key] = value
	}
	return nil
}

// addActionPermissions gives each action the permissions that the starter lists under its name.
func addActionPermissions(into, starter document) error {
	byName := map[any]any{}
	for _, action := range mappings(starter["actions"]) {
		byName[action["name"]] = action["permissions"]
	}
	for _, action := range mappings(into["actions"]) {
		if permissions, ok := byName[action["name"]]; ok {
			action["permissions"] = permissions
			delete(byName, action["name"])
		}
	}
	for name := range byName {
		return fmt.Errorf("there is no action %v", name)
	}
	return nil
}

// mappings returns the items of a YAML list that are mappings.
func mappings(list any) []document {
	var found []document
	items, _ := list.([]any)
	for _, item := range items {
		if d, ok := item.(document); ok {
			found = append(found, d)
		}
	}
	return found
}
