package schema

import (
	"fmt"

	"hasura-storage/graphql/localhasura/metadata"
)

var everything = &Select{Parts: []Part{{}}, Aggregations: true}

// selectFor is the role's own permission, or the union of its parents'.
func (m *Model) selectFor(t *Tracked, role string) *Select {
	if role == Admin {
		return everything
	}
	if own := t.selects[role]; own != nil {
		return own
	}
	var union *Select
	for _, parent := range m.ancestors(role) {
		if p := t.selects[parent]; p != nil {
			union = union.join(p)
		}
	}
	return union
}

// ancestors are the ordinary roles that an inherited role is made of.
func (m *Model) ancestors(role string) []string {
	var all []string
	seen := map[string]bool{}
	var visit func(string)
	visit = func(r string) {
		for _, parent := range m.inherited[r] {
			if !seen[parent] {
				seen[parent] = true
				all = append(all, parent)
				visit(parent)
			}
		}
	}
	visit(role)
	return all
}

func (s *Select) join(p *Select) *Select {
	if s == nil {
		return p
	}
	union := &Select{Parts: append(append([]Part{}, s.Parts...), p.Parts...), Aggregations: s.Aggregations || p.Aggregations}
	if s.Limit != nil && p.Limit != nil {
		most := max(*s.Limit, *p.Limit)
		union.Limit = &most
	}
	union.roots, union.streams = joinRoots(s.roots, p.roots), joinRoots(s.streams, p.streams)
	return union
}

func joinRoots(a, b *[]string) *[]string {
	if a == nil || b == nil {
		return nil
	}
	both := append(append([]string{}, *a...), *b...)
	return &both
}

// inherit finds a mutation permission: the role's own, or the parents' where
// they do not contradict each other.
func inherit[P any](m *Model, role string, own map[string]*P, meta func(role string) any) (p *P, conflict bool) {
	if own[role] != nil {
		return own[role], false
	}
	var from string
	for _, parent := range m.ancestors(role) {
		if own[parent] == nil {
			continue
		}
		if p != nil && !sameJSON(meta(from), meta(parent)) {
			return nil, true
		}
		p, from = own[parent], parent
	}
	return p, false
}

func (m *Model) insertFor(t *Tracked, role string) (*Insert, bool) {
	if role == Admin {
		return &Insert{}, false
	}
	return inherit(m, role, t.inserts, func(r string) any {
		for _, p := range t.Meta.InsertPermissions {
			if p.Role == r {
				return p.Permission
			}
		}
		return nil
	})
}

func (m *Model) updateFor(t *Tracked, role string) (*Update, bool) {
	if role == Admin {
		return &Update{}, false
	}
	return inherit(m, role, t.updates, func(r string) any {
		for _, p := range t.Meta.UpdatePermissions {
			if p.Role == r {
				return p.Permission
			}
		}
		return nil
	})
}

func (m *Model) deleteFor(t *Tracked, role string) (*Delete, bool) {
	if role == Admin {
		return &Delete{}, false
	}
	return inherit(m, role, t.deletes, func(r string) any {
		for _, p := range t.Meta.DeletePermissions {
			if p.Role == r {
				return p.Permission
			}
		}
		return nil
	})
}

// checkInherited reports mutation permissions that parents contradict.
func (m *Model) checkInherited() {
	for _, role := range m.Metadata.InheritedRoles {
		for _, t := range m.order {
			_, insert := m.insertFor(t, role.RoleName)
			_, update := m.updateFor(t, role.RoleName)
			_, del := m.deleteFor(t, role.RoleName)
			for kind, conflict := range map[string]bool{"insert": insert, "update": update, "delete": del} {
				if conflict {
					m.cannotInherit(role.RoleName, kind, t)
				}
			}
		}
	}
}

func (m *Model) cannotInherit(role, kind string, t *Tracked) {
	entity := fmt.Sprintf("%s permission, table: %s, source: 'default'", kind, t.Meta.Table)
	m.Inconsistent = append(m.Inconsistent, metadata.InconsistentObject{
		Name: "inherited role " + role, Type: "inherited_role_permission_inconsistency",
		Reason:     fmt.Sprintf("Could not inherit permission for the role '%s' for the entity: '%s'", role, entity),
		Definition: map[string]any{"role_name": role, "permission_type": kind, "table": t.Meta.Table},
	})
}
