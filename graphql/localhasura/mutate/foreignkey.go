package mutate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/pgerror"
)

// foreignKey finds out which foreign key a statement violated, which SQLite
// does not say. It runs the statement again with the keys deferred and looks
// for rows without a parent. The transaction must be rolled back afterwards.
func (r *Runner) foreignKey(ctx context.Context, t *catalog.Table, stmt string, args []any) pgerror.Violation {
	if _, err := r.Tx.ExecContext(ctx, "PRAGMA defer_foreign_keys = ON"); err != nil {
		return pgerror.Violation{State: pgerror.ForeignKey, Text: err.Error()}
	}
	if _, err := r.Tx.Ints(ctx, stmt, args); err != nil {
		return r.restricted(ctx, t)
	}
	child, fk := r.orphan(ctx)
	if fk == nil {
		return pgerror.Violation{State: pgerror.ForeignKey, Text: "FOREIGN KEY constraint failed"}
	}
	if child == t && !strings.HasPrefix(stmt, "DELETE") {
		return pgerror.Violation{State: pgerror.ForeignKey,
			Text: fmt.Sprintf("insert or update on table %q violates foreign key constraint %q", child.Name, fk.Name)}
	}
	return referred(fk, child)
}

func referred(fk *catalog.ForeignKey, child *catalog.Table) pgerror.Violation {
	return pgerror.Violation{State: pgerror.ForeignKey,
		Text: fmt.Sprintf("update or delete on table %q violates foreign key constraint %q on table %q", fk.RefTable.Name, fk.Name, child.Name)}
}

// orphan finds a row whose parent is missing, by its table and key; nil if the
// database does not tell.
func (r *Runner) orphan(ctx context.Context) (*catalog.Table, *catalog.ForeignKey) {
	text, err := r.Tx.Text(ctx, `SELECT json_array(c."table", k."from") FROM pragma_foreign_key_check AS c
		JOIN pragma_foreign_key_list(c."table") AS k ON k.id = c.fkid LIMIT 1`, nil)
	var names []string
	if err != nil || json.Unmarshal([]byte(text), &names) != nil || len(names) < 2 {
		return nil, nil
	}
	child := r.Catalog.BySQLName(names[0])
	if child == nil {
		return nil, nil
	}
	return child, keyWith(child, names[1])
}

func keyWith(t *catalog.Table, column string) *catalog.ForeignKey {
	for _, fk := range t.ForeignKeys {
		if slices.Contains(fk.Columns, column) {
			return fk
		}
	}
	return nil
}

// restricted finds the ON DELETE RESTRICT key that even a deferred check obeys.
// Which rows the statement meant is unknown here, so a key that some row uses
// is taken before one that none uses.
func (r *Runner) restricted(ctx context.Context, t *catalog.Table) pgerror.Violation {
	found := pgerror.Violation{State: pgerror.ForeignKey, Text: "FOREIGN KEY constraint failed"}
	for _, child := range r.Catalog.Tables() {
		for _, fk := range child.ForeignKeys {
			if !fk.Restrict || fk.RefTable != t {
				continue
			}
			found = referred(fk, child)
			if r.used(ctx, child, fk) {
				return found
			}
		}
	}
	return found
}

func (r *Runner) used(ctx context.Context, child *catalog.Table, fk *catalog.ForeignKey) bool {
	text, err := r.Tx.Text(ctx, "SELECT 'yes' FROM "+catalog.Quote(child.SQLName)+" WHERE "+catalog.Quote(fk.Columns[0])+" IS NOT NULL LIMIT 1", nil)
	return err == nil && text == "yes"
}
