package metadata

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

const migrationsDir = "migrations/default"

// Migration is one step of the database schema, for the database "default".
type Migration struct {
	// Version orders migrations and is what the Hasura CLI records: Unix milliseconds.
	Version int64
	// Name says what the step is for.
	Name string
	// Number counts from 1. The step writes it into storage.hasura_storage_version, whose highest
	// row is the version of the schema.
	Number int
	// Up is the step for Postgres: several statements, to be run in one transaction.
	Up string
	// Down takes the step back, or refuses where rows would be lost.
	Down string
	// UpSQLite is the step for the local Hasura.
	UpSQLite string
}

// Migrations lists the steps in the order in which they run. It fails only if the project was put
// together wrongly.
func Migrations() ([]Migration, error) {
	dirs, err := fs.ReadDir(FS, migrationsDir)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	var list []Migration
	for _, dir := range dirs {
		m, err := readMigration(dir.Name())
		if err != nil {
			return nil, fmt.Errorf("metadata: migration %s: %w", dir.Name(), err)
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Migration) int { return int(a.Version - b.Version) })
	for i := range list {
		list[i].Number = i + 1
	}
	return list, nil
}

func readMigration(dir string) (Migration, error) {
	version, name, ok := strings.Cut(dir, "_")
	number, err := strconv.ParseInt(version, 10, 64)
	if !ok || err != nil {
		return Migration{}, errors.New("the folder is not named <unix milliseconds>_<name>")
	}
	m := Migration{Version: number, Name: name}
	for file, text := range map[string]*string{"up.sql": &m.Up, "down.sql": &m.Down, "up.sqlite.sql": &m.UpSQLite} {
		b, err := fs.ReadFile(FS, migrationsDir+"/"+dir+"/"+file)
		if err != nil {
			return Migration{}, err
		}
		*text = string(b)
	}
	return m, nil
}
