package localhasura

import (
	"context"
	"slices"

	"hasura-storage/graphql/localhasura/api"
	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/schema"
	"hasura-storage/graphql/localhasura/webhook"
)

// state is what the metadata and the database make together. It is replaced as
// a whole; requests under way keep the one that they began with.
type state struct {
	model        *schema.Model
	types        *webhook.Types
	allowed      allowList // nil if every query is allowed
	inconsistent []metadata.InconsistentObject
	version      int // the metadata's resource version
}

// apply makes metadata the one in force. What does not work is left out and
// reported.
func (s *Server) apply(ctx context.Context, md *metadata.Metadata) error {
	s.applying.Lock()
	defer s.applying.Unlock()
	next, err := s.build(ctx, md, s.db)
	if err != nil {
		return err
	}
	bad, err := s.triggers.Apply(ctx, md, next.model.Catalog)
	if err != nil {
		return err
	}
	next.inconsistent = append(next.inconsistent, bad...)
	next.version = 1
	if old := s.state.Load(); old != nil {
		next.version = old.version + 1
	}
	s.db.Forget()
	s.state.Store(next)
	return nil
}

// build joins metadata with the schema of the database as q sees it.
func (s *Server) build(ctx context.Context, md *metadata.Metadata, q catalog.Queryer) (*state, error) {
	if err := md.Unsupported(); err != nil {
		return nil, err
	}
	tables, err := catalog.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	model := schema.NewModel(md, tables, s.config.Env)
	next := &state{model: model, types: webhook.NewTypes(md.CustomTypes), inconsistent: model.Inconsistent}
	if s.config.Env("HASURA_GRAPHQL_ENABLE_ALLOWLIST") == "true" {
		next.allowed = newAllowList(md)
	}
	return next, nil
}

// backend lets package api change the metadata in force.
type backend struct{ *Server }

// Current is the metadata in force.
func (b backend) Current() api.State {
	now := b.state.Load()
	return api.State{Metadata: now.model.Metadata, Version: now.version, Inconsistent: now.inconsistent}
}

// Check tells what of the metadata does not fit the schema that q sees.
func (b backend) Check(ctx context.Context, md *metadata.Metadata, q catalog.Queryer) ([]metadata.InconsistentObject, error) {
	next, err := b.build(ctx, md, q)
	if err != nil {
		return nil, err
	}
	return append(next.inconsistent, b.triggers.Check(md, next.model.Catalog)...), nil
}

// Put makes metadata the one in force.
func (b backend) Put(ctx context.Context, md *metadata.Metadata) error { return b.apply(ctx, md) }

// allowList holds the queries that roles may send, as normal texts.
type allowList map[string]*metadata.AllowScope

func newAllowList(md *metadata.Metadata) allowList {
	list := allowList{}
	for _, entry := range md.AllowList {
		for _, c := range md.QueryCollections {
			if c.Name != entry.Collection {
				continue
			}
			for _, q := range c.Definition.Queries {
				if text, err := document.Normal(q.Query); err == nil {
					list[text] = entry.Scope
				}
			}
		}
	}
	return list
}

// allows reports whether a role may send a query.
func (l allowList) allows(role, query string) bool {
	if l == nil || role == schema.Admin {
		return true
	}
	text, err := document.Normal(query)
	if err != nil {
		return true // the parser will refuse it
	}
	scope, listed := l[text]
	if !listed || scope == nil || scope.Global {
		return listed
	}
	return slices.Contains(scope.Roles, role)
}

// SDL prints a role's schema in GraphQL's definition language.
func (s *Server) SDL(role string) string {
	return schema.SDL(s.state.Load().model.For(role, true))
}
