// Package project tells a running Hasura, through its metadata API, what the
// Hasura project of the service says: Apply adds what is missing, Diff only
// looks.
//
// Hasura's metadata belongs to the user's project. So nothing is replaced
// that is there already: a table that is tracked keeps its permissions and its
// names, and where those are not the ones that the service asks for, the
// caller is told.
package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	metadata "hasura-storage/hasura-metadata"
)

const (
	folder    = "metadata/"
	tablesDir = folder + "databases/default/tables/"
)

// wanted is the project, in the forms of the metadata API.
type wanted struct {
	source  string // of the tables
	tables  []document
	actions []document // complete, with what the SDL says of them
	types   types
	crons   []document
}

// load reads the project for the source of that name, with the starter's
// permissions if they are asked for. It fails only if the project was put
// together wrongly.
func load(source string, starter bool) (*wanted, error) {
	files := metadata.Project()
	if starter {
		var err error
		if files, err = metadata.WithStarter(); err != nil {
			return nil, err
		}
	}
	w := &wanted{source: source}
	err := errors.Join(w.loadTables(files), w.loadActions(files), w.loadCrons(files))
	if err != nil {
		err = fmt.Errorf("the Hasura project of this program: %w", err)
	}
	return w, err
}

// readYAML reads a file into the types that decode makes.
func readYAML(files fs.FS, name string, into any) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	var loose any
	if err := yaml.Unmarshal(text, &loose); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	raw, err := json.Marshal(loose)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return decode(raw, into)
}

func (w *wanted) loadTables(files fs.FS) error {
	var includes []string
	if err := readYAML(files, tablesDir+"tables.yaml", &includes); err != nil {
		return err
	}
	for _, include := range includes {
		var table document
		if err := readYAML(files, path.Join(tablesDir, strings.TrimPrefix(include, "!include ")), &table); err != nil {
			return err
		}
		w.tables = append(w.tables, table)
	}
	return nil
}

func (w *wanted) loadActions(files fs.FS) error {
	sdl, err := fs.ReadFile(files, folder+"actions.graphql")
	if err != nil {
		return err
	}
	found, shapes, err := parseSDL(string(sdl))
	if err != nil {
		return err
	}
	var more document
	if err := readYAML(files, folder+"actions.yaml", &more); err != nil {
		return err
	}
	for _, action := range more.list("actions") {
		shape, ok := shapes[action.text("name")]
		if !ok {
			return fmt.Errorf("actions.graphql lacks %s", action.text("name"))
		}
		whole, err := plain(action.with(document{"definition": action.sub("definition").with(shape)}))
		if err != nil {
			return err
		}
		w.actions = append(w.actions, whole)
	}
	return w.addTypes(found, more.sub("custom_types"))
}

// addTypes joins the types of the SDL with their relationships, which only
// YAML can say.
func (w *wanted) addTypes(found types, more document) error {
	w.types = types{}
	for kind, list := range found {
		for _, t := range list {
			said, _ := named(more.list(kind), t.text("name"))
			for _, relationship := range said.list("relationships") {
				relationship["source"] = w.source
			}
			whole, err := plain(t.with(said))
			if err != nil {
				return err
			}
			w.types[kind] = append(w.types[kind], whole)
		}
	}
	return nil
}

func (w *wanted) loadCrons(files fs.FS) error {
	return readYAML(files, folder+"cron_triggers.yaml", &w.crons)
}

// tableName is a table as people write it: schema.name.
func tableName(table any) string {
	if name, ok := table.(string); ok {
		return "public." + name
	}
	d := document{"it": table}.sub("it")
	return d.text("schema") + "." + d.text("name")
}
