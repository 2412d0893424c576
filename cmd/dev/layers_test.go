package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "hasura-storage/"

// layers says, for each folder and what is below it, which of our packages it
// may import. The longest name that fits counts; a folder may always import
// what lies below itself. Arrows go down: cmd, handlers, actions, leaves.
var layers = map[string][]string{
	"cmd/dev":                    {"cmd/hasura-storage/service", "graphql/localhasura", "hasura-metadata", "s3", "s3/devserver", "graphql"},
	"cmd/testreport":             nil,
	"cmd/bench":                  {"graphql/localhasura", "hasura-metadata", "s3", "s3/devserver"},
	"cmd/hasura-storage":         {"handlers", "actions", "actions/images", "graphql", "s3", "hasura-metadata"},
	"handlers":                   {"actions", "actions/images", "graphql"},
	"actions":                    {"actions/images", "graphql", "s3"},
	"actions/images":             nil,
	"graphql":                    nil,
	"graphql/internal/schemagen": {"graphql/localhasura", "hasura-metadata"},
	"graphql/localhasura":        nil,
	"s3":                         nil,
	"s3/devserver":               nil,
	"s3/s3test":                  {"s3", "s3/devserver"},
	"hasura-metadata":            nil,
}

// development parts are for tests, benchmarks and cmd/dev: nothing that ships
// imports them.
var development = []string{
	"graphql/localhasura", "s3/devserver", "s3/s3test", "s3/devs3",
	"actions/internal/faults", "actions/images/bench", "cmd/testreport", "cmd/bench",
	"graphql/internal/schemagen", "cmd/hasura-storage/migrate/pgtest",
}

// forbidden are imports that would mix a layer's job with another's.
var forbidden = map[string][]string{
	"actions":        {"net/http", "database/sql", "github.com/go-chi/chi/v5", "github.com/minio/minio-go/v7"},
	"actions/images": {"net", "net/http", "database/sql", "os/exec"},
	"handlers":       {"database/sql", "github.com/minio/minio-go/v7"},
	"graphql":        {"github.com/minio/minio-go/v7"},
}

func TestLayers(t *testing.T) {
	for dir, imports := range packages(t) {
		layer := longest(dir, layers)
		if layer == "" {
			t.Errorf("%s belongs to no layer: name it in this test", dir)
			continue
		}
		for _, imported := range imports {
			if !isDevelopment(dir) && slices.Contains(forbidden[longest(dir, forbidden)], imported) {
				t.Errorf("%s imports %s", dir, imported)
			}
			to, ours := strings.CutPrefix(imported, module)
			if ours && !within(to, dir) && !within(to, layer) && !slices.Contains(layers[layer], to) {
				t.Errorf("%s imports %s: the arrow turns", dir, to)
			}
			if ours && isDevelopment(to) && !isDevelopment(dir) && dir != "cmd/dev" {
				t.Errorf("%s ships and imports %s, which is for development", dir, to)
			}
		}
	}
}

// packages maps each folder with Go code to what its files, tests aside,
// import. Folders with their own go.mod are other modules.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	root := filepath.Join("..", "..")
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipForeign(root, name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, _ := filepath.Rel(root, filepath.Dir(name))
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			found[filepath.ToSlash(dir)] = append(found[filepath.ToSlash(dir)], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func skipForeign(root, dir string) error {
	base := filepath.Base(dir)
	hidden := strings.HasPrefix(base, ".") && base != ".."
	if hidden || base == "testdata" || base == "node_modules" {
		return filepath.SkipDir
	}
	modules, err := filepath.Glob(filepath.Join(dir, "go.mod"))
	if err == nil && len(modules) > 0 && dir != root {
		return filepath.SkipDir
	}
	return err
}

func longest[V any](dir string, names map[string]V) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := names[dir]; ok {
			return dir
		}
	}
	return ""
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

func isDevelopment(dir string) bool {
	return slices.ContainsFunc(development, func(part string) bool { return within(dir, part) })
}
