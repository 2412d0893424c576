package metadata

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Export is the metadata as export_metadata writes it: tables, relationships,
// permissions and triggers sorted, default members left out. The value itself
// is not changed.
func (m *Metadata) Export() (json.RawMessage, error) {
	c, err := m.Clone()
	if err != nil {
		return nil, err
	}
	if c.Sources == nil {
		c.Sources = []Source{}
	}
	for i := range c.Sources {
		c.Sources[i].normalise()
	}
	for i := range c.Actions {
		c.Actions[i].normalise()
	}
	if c.CustomTypes.Empty() {
		c.CustomTypes = nil
	}
	return json.Marshal(c)
}

func (s *Source) normalise() {
	slices.SortFunc(s.Tables, func(a, b Table) int {
		return cmp.Or(cmp.Compare(a.Table.Schema, b.Table.Schema), cmp.Compare(a.Table.Name, b.Table.Name))
	})
	if s.Tables == nil {
		s.Tables = []Table{}
	}
	for i := range s.Tables {
		s.Tables[i].sort()
	}
}

func (t *Table) sort() {
	byName := func(a, b Relationship) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(t.ObjectRelationships, byName)
	slices.SortFunc(t.ArrayRelationships, byName)
	slices.SortFunc(t.InsertPermissions, byRole)
	slices.SortFunc(t.SelectPermissions, byRole)
	slices.SortFunc(t.UpdatePermissions, byRole)
	slices.SortFunc(t.DeletePermissions, byRole)
	slices.SortFunc(t.EventTriggers, func(a, b EventTrigger) int { return cmp.Compare(a.Name, b.Name) })
}

func byRole[T any](a, b Permission[T]) int { return cmp.Compare(a.Role, b.Role) }

// normalise drops what is default; the list of ignored headers is written
// always, as Hasura does.
func (a *Action) normalise() {
	d := &a.Definition
	if d.Timeout == int(DefaultActionTimeout.Seconds()) {
		d.Timeout = 0
	}
	if d.Type == "" {
		d.Type = Mutation
	}
	if d.Kind == "" && !d.IsQuery() {
		d.Kind = Synchronous
	}
	if d.IgnoredClientHeaders == nil {
		ignored := slices.Clone(IgnoredClientHeaders)
		d.IgnoredClientHeaders = &ignored
	}
	slices.SortFunc(a.Permissions, func(x, y ActionPermission) int { return cmp.Compare(x.Role, y.Role) })
}

// IgnoredClientHeaders are the client's headers that an action does not
// forward unless its definition has a list of its own.
var IgnoredClientHeaders = []string{
	"Content-Length", "Content-MD5", "User-Agent", "Host", "Origin", "Referer",
	"Accept", "Accept-Encoding", "Accept-Language", "Accept-Datetime",
	"Cache-Control", "Connection", "DNT", "Content-Type",
}
