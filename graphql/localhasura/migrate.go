package localhasura

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"

	"hasura-storage/graphql/localhasura/store"
)

// catalogTables are Hasura's own. hasura_user is what Postgres's setting
// hasura.user is: the session variables of the mutation that is running.
const catalogTables = `
CREATE TABLE IF NOT EXISTS "hdb_catalog.hasura_user"(session TEXT);
INSERT INTO "hdb_catalog.hasura_user" SELECT NULL WHERE NOT EXISTS (SELECT 1 FROM "hdb_catalog.hasura_user");
UPDATE "hdb_catalog.hasura_user" SET session = NULL;
CREATE TABLE IF NOT EXISTS "hdb_catalog.schema_migrations"(version TEXT PRIMARY KEY, applied_at TEXT NOT NULL);
`

// schemaVersion marks Config.Schema among the versions that have run.
const schemaVersion = "schema"

// migrate runs the schema and the migrations that have not run yet, each in a
// transaction with the note that it has run.
func (s *Server) migrate(ctx context.Context) error {
	if err := s.db.Write(ctx, "", func(tx *store.Tx) error { return tx.Script(ctx, catalogTables) }); err != nil {
		return fmt.Errorf("create hdb_catalog: %w", err)
	}
	if s.config.Schema != "" {
		if err := s.once(ctx, schemaVersion, s.config.Schema); err != nil {
			return err
		}
	}
	if s.config.Migrations == nil {
		return nil
	}
	all, err := migrations(s.config.Migrations)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := s.once(ctx, m.version, m.script); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) once(ctx context.Context, version, script string) error {
	err := s.db.Write(ctx, "", func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `INSERT INTO "hdb_catalog.schema_migrations" VALUES (?, now()) ON CONFLICT DO NOTHING`, version)
		if err != nil || n == 0 {
			return err
		}
		return tx.Script(ctx, script)
	})
	if err != nil {
		return fmt.Errorf("run migration %s: %w", version, err)
	}
	return nil
}

type migration struct {
	version string
	number  int64
	script  string
}

// migrations finds the SQLite twins of a project's migrations.
func migrations(project fs.FS) ([]migration, error) {
	files, err := fs.Glob(project, "migrations/*/*/up.sqlite.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	var all []migration
	for _, file := range files {
		script, err := fs.ReadFile(project, file)
		if err != nil {
			return nil, fmt.Errorf("read a migration: %w", err)
		}
		dir := path.Base(path.Dir(file))
		version, _, _ := strings.Cut(dir, "_")
		number, err := strconv.ParseInt(version, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration folder %s: its name must start with a number", dir)
		}
		all = append(all, migration{version: dir, number: number, script: string(script)})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].number < all[j].number })
	return all, nil
}
