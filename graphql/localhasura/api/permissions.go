package api

import (
	"encoding/json"
	"slices"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

type permissionArgs[T any] struct {
	onTable
	metadata.Permission[T]
}

// create adds a permission to the list that of picks.
func create[T any](w *work, raw json.RawMessage, kind string, of func(*metadata.Table) *[]metadata.Permission[T]) (any, *qerr.Error) {
	var a permissionArgs[T]
	if err := args(raw, &a, "table", "role", "permission"); err != nil {
		return nil, err
	}
	t, err := a.find(w.draft)
	if err != nil {
		return nil, err
	}
	// The admin has every permission already.
	taken := func(p metadata.Permission[T]) bool { return p.Role == a.Role }
	if a.Role == "admin" || slices.ContainsFunc(*of(t), taken) {
		return nil, failf(qerr.AlreadyExists, "%s permission already defined on table %q with role %q", kind, a.Table.String(), a.Role)
	}
	return success, w.change(kind+"_permission", func(m *metadata.Metadata) {
		list := of(a.tableIn(m))
		*list = append(*list, a.Permission)
	})
}

func inserts(t *metadata.Table) *[]metadata.Permission[metadata.InsertPermission] {
	return &t.InsertPermissions
}

func selects(t *metadata.Table) *[]metadata.Permission[metadata.SelectPermission] {
	return &t.SelectPermissions
}

func updates(t *metadata.Table) *[]metadata.Permission[metadata.UpdatePermission] {
	return &t.UpdatePermissions
}

func deletes(t *metadata.Table) *[]metadata.Permission[metadata.DeletePermission] {
	return &t.DeletePermissions
}

func createInsert(w *work, raw json.RawMessage) (any, *qerr.Error) {
	return create(w, raw, "insert", inserts)
}

func createSelect(w *work, raw json.RawMessage) (any, *qerr.Error) {
	return create(w, raw, "select", selects)
}

func createUpdate(w *work, raw json.RawMessage) (any, *qerr.Error) {
	return create(w, raw, "update", updates)
}

func createDelete(w *work, raw json.RawMessage) (any, *qerr.Error) {
	return create(w, raw, "delete", deletes)
}

type roleArgs struct {
	onTable
	Role    string  `json:"role"`
	Type    string  `json:"type"`
	Comment *string `json:"comment"`
}

// named calls the list of a kind of permission; false if it lacks the role.
func (a roleArgs) edit(t *metadata.Table, kind string, drop bool) bool {
	switch kind {
	case "insert":
		return edit(inserts(t), a, drop)
	case "select":
		return edit(selects(t), a, drop)
	case "update":
		return edit(updates(t), a, drop)
	}
	return edit(deletes(t), a, drop)
}

func edit[T any](list *[]metadata.Permission[T], a roleArgs, drop bool) bool {
	at := slices.IndexFunc(*list, func(p metadata.Permission[T]) bool { return p.Role == a.Role })
	switch {
	case at < 0:
		return false
	case drop:
		*list = slices.Delete(*list, at, at+1)
	case a.Comment != nil:
		(*list)[at].Comment = *a.Comment
	}
	return true
}

func dropPermission(kind string) command {
	return func(w *work, raw json.RawMessage) (any, *qerr.Error) {
		return changePermission(w, raw, kind, true)
	}
}

func setPermissionComment(w *work, raw json.RawMessage) (any, *qerr.Error) {
	return changePermission(w, raw, "", false)
}

func changePermission(w *work, raw json.RawMessage, kind string, drop bool) (any, *qerr.Error) {
	var a roleArgs
	if err := args(raw, &a, "table", "role"); err != nil {
		return nil, err
	}
	if kind == "" {
		kind = a.Type
	}
	if !slices.Contains([]string{"insert", "select", "update", "delete"}, kind) {
		return nil, qerr.Newf(qerr.ParseFailed, "permission type %q is none of insert, select, update, delete", kind).At("$.args.type")
	}
	if _, err := a.find(w.draft); err != nil {
		return nil, err
	}
	found := false
	err := w.change(kind+"_permission", func(m *metadata.Metadata) { found = a.edit(a.tableIn(m), kind, drop) })
	if err == nil && !found {
		err = failf(qerr.PermissionDenied, "%s permission on %q for role %q does not exist", kind, a.Table.String(), a.Role)
	}
	return success, err
}
