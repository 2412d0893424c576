package api

import (
	"context"
	"fmt"
	"slices"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

// Kinds of relationships and permissions as inconsistent objects name them.
const (
	object = "object_relation"
	array  = "array_relation"
)

// dependent is a part of the metadata by the name that it has as an
// inconsistent object, and as reports of dependencies print it.
type dependent struct{ name, shown string }

// nameIn is the name of a part of a table.
func nameIn(kind, name string, table metadata.TableName, source string) string {
	return fmt.Sprintf("%s %s in table %s in source %s", kind, name, table, source)
}

func namesOf(bad []metadata.InconsistentObject) map[string]bool {
	names := map[string]bool{}
	for _, o := range bad {
		names[o.Name] = true
	}
	return names
}

// prune removes what became inconsistent, and then what depended on that. It
// returns what it removed and what is inconsistent at the end; known was so
// before.
func (a *API) prune(ctx context.Context, m *metadata.Metadata, q catalog.Queryer, known, fresh []metadata.InconsistentObject) ([]dependent, []metadata.InconsistentObject, *qerr.Error) {
	var gone []dependent
	for {
		more := purge(m, namesOf(fresh))
		if len(more) == 0 {
			return nil, nil, inconsistency("", fresh)
		}
		gone = append(gone, more...)
		bad, err := a.backend.Check(ctx, m, q)
		if err != nil {
			return nil, nil, qerr.Internalf(err, "internal error")
		}
		if fresh = newOnes(known, bad); len(fresh) == 0 {
			return gone, bad, nil
		}
	}
}

// purge removes the named parts and returns what it removed.
func purge(m *metadata.Metadata, names map[string]bool) []dependent {
	var gone []dependent
	for i := range m.Sources {
		s := &m.Sources[i]
		s.Tables = slices.DeleteFunc(s.Tables, func(t metadata.Table) bool {
			return take(&gone, names, fmt.Sprintf("table %s in source %s", t.Table, s.Name), fmt.Sprintf("table %s in source %q", t.Table, s.Name))
		})
		for j := range s.Tables {
			purgeTable(&gone, &s.Tables[j], s.Name, names)
		}
	}
	m.Actions = slices.DeleteFunc(m.Actions, func(a metadata.Action) bool {
		return take(&gone, names, "action "+a.Name, "action "+a.Name)
	})
	m.CronTriggers = slices.DeleteFunc(m.CronTriggers, func(t metadata.CronTrigger) bool {
		return take(&gone, names, "cron_trigger "+t.Name, "cron_trigger "+t.Name)
	})
	m.InheritedRoles = slices.DeleteFunc(m.InheritedRoles, func(r metadata.InheritedRole) bool {
		return take(&gone, names, "inherited role "+r.RoleName, "inherited role "+r.RoleName)
	})
	if names["custom_types"] {
		m.CustomTypes = nil
	}
	return gone
}

func take(gone *[]dependent, names map[string]bool, name, shown string) bool {
	if names[name] {
		*gone = append(*gone, dependent{name, shown})
	}
	return names[name]
}

func purgeTable(gone *[]dependent, t *metadata.Table, source string, names map[string]bool) {
	relation := func(kind string) func(metadata.Relationship) bool {
		return func(r metadata.Relationship) bool {
			return take(gone, names, nameIn(kind, r.Name, t.Table, source), fmt.Sprintf("relationship %s.%s in source %q", t.Table, r.Name, source))
		}
	}
	t.ObjectRelationships = slices.DeleteFunc(t.ObjectRelationships, relation(object))
	t.ArrayRelationships = slices.DeleteFunc(t.ArrayRelationships, relation(array))
	t.InsertPermissions = purgePermissions(gone, t.InsertPermissions, "insert", t.Table, source, names)
	t.SelectPermissions = purgePermissions(gone, t.SelectPermissions, "select", t.Table, source, names)
	t.UpdatePermissions = purgePermissions(gone, t.UpdatePermissions, "update", t.Table, source, names)
	t.DeletePermissions = purgePermissions(gone, t.DeletePermissions, "delete", t.Table, source, names)
	t.EventTriggers = slices.DeleteFunc(t.EventTriggers, func(e metadata.EventTrigger) bool {
		return take(gone, names, nameIn("event_trigger", e.Name, t.Table, source), fmt.Sprintf("event-trigger %s.%s in source %q", t.Table, e.Name, source))
	})
}

func purgePermissions[T any](gone *[]dependent, list []metadata.Permission[T], kind string, table metadata.TableName, source string, names map[string]bool) []metadata.Permission[T] {
	return slices.DeleteFunc(list, func(p metadata.Permission[T]) bool {
		return take(gone, names, nameIn(kind+"_permission", p.Role, table, source),
			fmt.Sprintf("permission %s.%s.%s in source %q", table, p.Role, kind, source))
	})
}
