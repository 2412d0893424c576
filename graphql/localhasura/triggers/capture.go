package triggers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/store"
)

// prefix starts the names of the engine's SQLite triggers, as in Hasura.
const prefix = "notify_hasura_"

// install makes the SQLite triggers of the watched tables and drops all
// others of ours. What is there already in the same words stays.
func (e *Engine) install(ctx context.Context, watched []*catalog.Table) error {
	want := map[string]string{}
	for _, t := range watched {
		for _, op := range []string{"INSERT", "UPDATE", "DELETE"} {
			want[prefix+t.SQLName+"_"+op] = e.captureSQL(t, op)
		}
	}
	err := e.db.Write(ctx, "", func(tx *store.Tx) error {
		have, err := installed(ctx, tx)
		if err != nil {
			return err
		}
		if script := replacement(have, want); script != "" {
			if err := tx.Script(ctx, script); err != nil {
				return err
			}
		}
		return dropNotes(ctx, tx, watched)
	})
	if err != nil {
		return fmt.Errorf("triggers: install SQLite triggers: %w", err)
	}
	return nil
}

// replacement is the SQL that leads from the triggers there are to those that
// shall be.
func replacement(have, want map[string]string) string {
	var script strings.Builder
	for name, sql := range have {
		if want[name] != sql {
			script.WriteString("DROP TRIGGER " + catalog.Quote(name) + ";\n")
		}
	}
	for name, sql := range want {
		if have[name] != sql {
			script.WriteString(sql + ";\n")
		}
	}
	return script.String()
}

// dropNotes forgets changes of tables that nobody watches any more.
func dropNotes(ctx context.Context, tx *store.Tx, watched []*catalog.Table) error {
	names := make([]string, len(watched))
	for i, t := range watched {
		names[i] = t.SQLName
	}
	_, err := tx.Exec(ctx, `DELETE FROM "hdb_catalog.event_capture"
		WHERE table_name NOT IN (SELECT value FROM json_each(?))`, jsonText(names))
	return err
}

// Detach drops the SQLite triggers of all tables until the next Apply: they
// name every column, so SQLite would refuse to drop one. Changes made
// meanwhile fire nothing.
func (e *Engine) Detach(ctx context.Context, tx *store.Tx) error {
	have, err := installed(ctx, tx)
	if err != nil || len(have) == 0 {
		return err
	}
	return tx.Script(ctx, replacement(have, nil))
}

func installed(ctx context.Context, tx *store.Tx) (map[string]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) = ?`, len(prefix), prefix)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // only read
	have := map[string]string{}
	for rows.Next() {
		var name, sql string
		if err := rows.Scan(&name, &sql); err != nil {
			return nil, err
		}
		have[name] = sql
	}
	return have, rows.Err()
}

// captureSQL notes a change of one row with both images and who made it.
// Every update is noted, whatever columns are listened to: a table's own
// triggers may go on changing the row within the same statement.
func (e *Engine) captureSQL(t *catalog.Table, op string) string {
	oldKey, oldRow, newKey, newRow := "NULL", "NULL", "NULL", "NULL"
	if op != "INSERT" {
		oldKey, oldRow = keySQL(t, "OLD"), e.rowSQL(t, "OLD")
	}
	if op != "DELETE" {
		newKey, newRow = keySQL(t, "NEW"), e.rowSQL(t, "NEW")
	}
	return fmt.Sprintf(`CREATE TRIGGER %s AFTER %s ON %s BEGIN INSERT INTO "hdb_catalog.event_capture"(table_name, op, old_key, new_key, old, new, session) VALUES (%s, '%s', %s, %s, %s, %s, (SELECT session FROM "hdb_catalog.hasura_user" LIMIT 1)); END`,
		catalog.Quote(prefix+t.SQLName+"_"+op), op, catalog.Quote(t.SQLName), literal(t.SQLName), op, oldKey, newKey, oldRow, newRow)
}

// keySQL identifies a row within its table.
func keySQL(t *catalog.Table, image string) string {
	if t.PrimaryKey == nil {
		return image + ".rowid"
	}
	columns := make([]string, len(t.PrimaryKey.Columns))
	for i, name := range t.PrimaryKey.Columns {
		columns[i] = image + "." + catalog.Quote(name)
	}
	return "json_array(" + strings.Join(columns, ", ") + ")"
}

// chunk is how many columns go into one json_object: SQLite allows a function
// 127 arguments.
const chunk = 60

// rowSQL is the row as JSON, as Postgres's row_to_json writes it.
func (e *Engine) rowSQL(t *catalog.Table, image string) string {
	var objects []string
	for start := 0; start < len(t.Columns); start += chunk {
		var pairs []string
		for _, c := range t.Columns[start:min(start+chunk, len(t.Columns))] {
			pairs = append(pairs, literal(c.Name), e.valueSQL(c.Type, image+"."+catalog.Quote(c.Name)))
		}
		objects = append(objects, "json_object("+strings.Join(pairs, ", ")+")")
	}
	if len(objects) == 1 {
		return objects[0]
	}
	for i, object := range objects { // without the braces
		objects[i] = "substr(" + object + ", 2, length(" + object + ") - 2)"
	}
	return "'{' || " + strings.Join(objects, " || ',' || ") + " || '}'"
}

// valueSQL gives a stored value its JSON type.
func (e *Engine) valueSQL(t pgtype.Type, column string) string {
	switch t.Class {
	case pgtype.Integer, pgtype.Float, pgtype.Numeric:
		if e.stringify && slices.Contains([]string{"bigint", "numeric", "float8"}, t.GraphQL) {
			return "CAST(" + column + " AS TEXT)"
		}
		return column
	case pgtype.Boolean:
		return "json(CASE " + column + " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
	case pgtype.JSON:
		return "json(" + column + ")"
	default:
		return "CAST(" + column + " AS TEXT)"
	}
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
