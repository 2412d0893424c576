package api

import (
	"encoding/json"
	"fmt"
	"slices"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

func actionArgs(raw json.RawMessage) (metadata.Action, *qerr.Error) {
	var a metadata.Action
	if err := args(raw, &a, "name", "definition"); err != nil {
		return a, err
	}
	return a, metadata.CheckHeaders(a.Definition.Headers, "$.definition.headers")
}

func createAction(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := actionArgs(raw)
	if err != nil {
		return nil, err
	}
	if w.draft.Action(a.Name) != nil {
		return nil, failf(qerr.AlreadyExists, "action with name %q already exists", a.Name)
	}
	a.Permissions = nil // they have a command of their own
	return success, w.change("action", func(m *metadata.Metadata) { m.Actions = append(m.Actions, a) })
}

// knownAction is the error for an action that does not exist, or nil.
func (w *work) knownAction(name string) *qerr.Error {
	if w.draft.Action(name) == nil {
		return failf(qerr.NotExists, "action with name %q does not exist", name)
	}
	return nil
}

func updateAction(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := actionArgs(raw)
	if err != nil {
		return nil, err
	}
	if err := w.knownAction(a.Name); err != nil {
		return nil, err
	}
	return success, w.change("action", func(m *metadata.Metadata) {
		old := m.Action(a.Name)
		old.Definition, old.Comment = a.Definition, a.Comment
	})
}

func dropAction(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		Name string `json:"name"`
	}
	if err := args(raw, &a, "name"); err != nil {
		return nil, err
	}
	if err := w.knownAction(a.Name); err != nil {
		return nil, err
	}
	return success, w.change("", func(m *metadata.Metadata) {
		m.Actions = slices.DeleteFunc(m.Actions, func(x metadata.Action) bool { return x.Name == a.Name })
	})
}

type actionRole struct {
	Action  string `json:"action"`
	Role    string `json:"role"`
	Comment string `json:"comment"`
}

// permitted reads the arguments and tells whether the role has the action.
func permitted(w *work, raw json.RawMessage) (a actionRole, has bool, err *qerr.Error) {
	if err := args(raw, &a, "action", "role"); err != nil {
		return a, false, err
	}
	if err := w.knownAction(a.Action); err != nil {
		return a, false, err
	}
	for _, p := range w.draft.Action(a.Action).Permissions {
		has = has || p.Role == a.Role
	}
	return a, has, nil
}

func createActionPermission(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, has, err := permitted(w, raw)
	if err != nil {
		return nil, err
	}
	if has {
		return nil, failf(qerr.AlreadyExists, "permission for role %q is already defined on %q", a.Role, a.Action)
	}
	return success, w.change("action_permission", func(m *metadata.Metadata) {
		action := m.Action(a.Action)
		action.Permissions = append(action.Permissions, metadata.ActionPermission{Role: a.Role, Comment: a.Comment})
	})
}

func dropActionPermission(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, has, err := permitted(w, raw)
	if err != nil {
		return nil, err
	}
	if !has {
		return nil, failf(qerr.NotExists, "permission for role %q is not defined on %q", a.Role, a.Action)
	}
	return success, w.change("action_permission", func(m *metadata.Metadata) {
		action := m.Action(a.Action)
		action.Permissions = slices.DeleteFunc(action.Permissions, func(p metadata.ActionPermission) bool { return p.Role == a.Role })
	})
}

// setCustomTypes replaces all of them.
func setCustomTypes(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var types metadata.CustomTypes
	if err := args(raw, &types); err != nil {
		return nil, err
	}
	return success, w.change("custom_types", func(m *metadata.Metadata) { m.CustomTypes = &types })
}

func addInheritedRole(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var r metadata.InheritedRole
	if err := args(raw, &r, "role_name", "role_set"); err != nil {
		return nil, err
	}
	return success, w.change("inherited_role", func(m *metadata.Metadata) {
		m.InheritedRoles = append(slices.DeleteFunc(m.InheritedRoles, named(r.RoleName)), r)
	})
}

func named(role string) func(metadata.InheritedRole) bool {
	return func(r metadata.InheritedRole) bool { return r.RoleName == role }
}

func dropInheritedRole(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		Name string `json:"role_name"`
	}
	if err := args(raw, &a, "role_name"); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(w.draft.InheritedRoles, named(a.Name)) {
		return nil, failf(qerr.NotExists, "%q inherited role doesn't exist", a.Name)
	}
	return success, w.change("", func(m *metadata.Metadata) {
		m.InheritedRoles = slices.DeleteFunc(m.InheritedRoles, named(a.Name))
	})
}

func setIntrospection(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var i metadata.Introspection
	if err := args(raw, &i, "disabled_for_roles"); err != nil {
		return nil, err
	}
	return success, w.change("", func(m *metadata.Metadata) { m.Introspection = &i })
}

// already and missing word the two usual faults of a named object.
func already(kind, name string) *qerr.Error {
	return failf(qerr.AlreadyExists, "%s", fmt.Sprintf("%s with name %q already exists", kind, name))
}

func missing(kind, name string) *qerr.Error {
	return failf(qerr.NotExists, "%s", fmt.Sprintf("%s with name %q does not exist", kind, name))
}
