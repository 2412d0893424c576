package schema

import (
	"fmt"
	"sort"

	"hasura-storage/graphql/localhasura/metadata"
)

// Schema is the GraphQL schema of one role.
type Schema struct {
	Role         string
	Query        *Type
	Mutation     *Type // nil if the role has no mutation at all
	Subscription *Type // nil if the role may read nothing
	types        map[string]*Type
	views        map[*Tracked]*View
	introspects  bool
}

// View is a table as a role sees it; a nil permission forbids.
type View struct {
	*Tracked
	Select *Select
	Insert *Insert
	Update *Update
	Delete *Delete
}

// schemaKey names a schema: backend-only fields make a second one of a role.
type schemaKey struct {
	role    string
	backend bool
}

// For returns the schema of a role. backend says whether the request may use
// permissions that are for back ends only.
func (m *Model) For(role string, backend bool) *Schema {
	key := schemaKey{role, backend}
	if !m.roles[role] {
		key = schemaKey{} // roles that nothing mentions see the same, nothing
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.schemas[key] == nil {
		m.schemas[key] = newBuilder(m, key).build()
	}
	return m.schemas[key]
}

// Type finds a type by name; nil if the role has none of that name.
func (s *Schema) Type(name string) *Type { return s.types[name] }

// Types lists all types by name.
func (s *Schema) Types() []*Type {
	all := make([]*Type, 0, len(s.types))
	for _, t := range s.types {
		all = append(all, t)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Introspects reports whether the role may ask for __schema and __type.
func (s *Schema) Introspects() bool { return s.introspects }

// View is the role's view of a table; never nil.
func (s *Schema) View(t *Tracked) *View { return s.views[t] }

// Visible lists the columns that the role may read in some row.
func (v *View) Visible() []*Column {
	if v.Select == nil {
		return nil
	}
	var all []*Column
	for _, c := range v.Columns {
		if v.Select.Sees(c.DB.Name) {
			all = append(all, c)
		}
	}
	return all
}

// readable reports whether the table has an object type for the role.
func (v *View) readable() bool { return v.Select != nil && len(v.Visible()) > 0 }

// keyColumns are the primary key's columns if the role sees all of them.
func (v *View) keyColumns() []*Column {
	if v.DB.PrimaryKey == nil || v.Select == nil {
		return nil
	}
	var key []*Column
	for _, name := range v.DB.PrimaryKey.Columns {
		c := v.ColumnOf(name)
		if c == nil || !v.Select.Sees(name) {
			return nil
		}
		key = append(key, c)
	}
	return key
}

// insertable lists the columns that an insert may name: presets may not.
func (v *View) insertable() []*Column {
	return v.given(v.Insert.Columns, v.Insert.Presets)
}

// updatable lists the columns that an update may name.
func (v *View) updatable() []*Column {
	if v.Update == nil {
		return nil
	}
	return v.given(v.Update.Columns, v.Update.Presets)
}

func (v *View) given(allowed map[string]bool, presets []Preset) []*Column {
	preset := map[string]bool{}
	for _, p := range presets {
		preset[p.Column.Name] = true
	}
	var all []*Column
	for _, c := range v.Columns {
		if (allowed == nil || allowed[c.DB.Name]) && !preset[c.DB.Name] && !c.DB.Generated {
			all = append(all, c)
		}
	}
	return all
}

type builder struct {
	model  *Model
	schema *Schema
	key    schemaKey
}

func newBuilder(m *Model, key schemaKey) *builder {
	s := &Schema{Role: key.role, types: map[string]*Type{}, views: map[*Tracked]*View{}, introspects: true}
	for _, t := range m.Tables() {
		v := &View{Tracked: t, Select: m.selectFor(t, key.role)}
		v.Insert, _ = m.insertFor(t, key.role)
		v.Update, _ = m.updateFor(t, key.role)
		v.Delete, _ = m.deleteFor(t, key.role)
		s.views[t] = v
	}
	if i := m.Metadata.Introspection; i != nil && listed(&i.DisabledForRoles, key.role) {
		s.introspects = false
	}
	return &builder{model: m, schema: s, key: key}
}

func (b *builder) build() *Schema {
	b.schema.Query = &Type{Kind: Object, Name: "query_root"}
	mutation := &Type{Kind: Object, Name: "mutation_root"}
	subscription := &Type{Kind: Object, Name: "subscription_root"}
	for _, t := range b.model.Tables() {
		v := b.schema.View(t)
		b.queryRoots(v, b.schema.Query, subscription)
		b.mutationRoots(v, mutation)
	}
	b.actions(b.schema.Query, mutation)
	if len(b.schema.Query.Fields) == 0 {
		b.schema.Query.Fields = []*Field{{Name: "no_queries_available", Type: Required(Named("String")),
			Description: "There are no queries available to the current role. Either there are no sources or remote schemas configured, or the current role doesn't have the required permissions."}}
		b.scalar("String")
	}
	b.schema.types["query_root"] = b.schema.Query
	if len(mutation.Fields) > 0 {
		b.schema.Mutation, b.schema.types["mutation_root"] = mutation, mutation
	}
	if len(subscription.Fields) > 0 {
		b.schema.Subscription, b.schema.types["subscription_root"] = subscription, subscription
	}
	for _, name := range []string{"String", "Boolean", "Int", "Float"} {
		b.scalar(name)
	}
	b.introspectionTypes()
	for _, t := range b.schema.types {
		t.finish()
	}
	return b.schema
}

// scalar makes sure that a scalar's type exists and returns a use of it.
func (b *builder) scalar(name string) *Ref {
	b.once(name, func() *Type { return &Type{Kind: Scalar, Name: name} })
	return Named(name)
}

// once makes a type the first time that it is asked for. The type is entered
// before its members are made, as types refer to each other in circles.
func (b *builder) once(name string, build func() *Type) *Ref {
	if b.schema.types[name] == nil {
		t := &Type{Name: name}
		b.schema.types[name] = t
		*t = *build()
		t.Name = name
	}
	return Named(name)
}

// allowsBackend reports whether a permission is usable by this request.
func (b *builder) allowsBackend(only bool) bool { return !only || b.key.backend }

// rootName is a custom root field's name, or the default one.
func rootName(custom metadata.RootField, format, base string) string {
	if custom.Name != "" {
		return custom.Name
	}
	return fmt.Sprintf(format, base)
}

func (v *View) customRoots() metadata.RootFields {
	if v.Meta.Configuration == nil {
		return metadata.RootFields{}
	}
	return v.Meta.Configuration.CustomRootFields
}
