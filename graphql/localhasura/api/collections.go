package api

import (
	"encoding/json"
	"slices"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

func collectionOf(m *metadata.Metadata, name string) *metadata.QueryCollection {
	for i := range m.QueryCollections {
		if m.QueryCollections[i].Name == name {
			return &m.QueryCollections[i]
		}
	}
	return nil
}

func createCollection(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var c metadata.QueryCollection
	if err := args(raw, &c, "name", "definition"); err != nil {
		return nil, err
	}
	if collectionOf(w.draft, c.Name) != nil {
		return nil, already("query collection", c.Name)
	}
	return success, w.change("", func(m *metadata.Metadata) { m.QueryCollections = append(m.QueryCollections, c) })
}

type collectionArgs struct {
	Collection string               `json:"collection"`
	Name       string               `json:"collection_name"`
	Query      string               `json:"query"`
	QueryName  string               `json:"query_name"`
	Scope      *metadata.AllowScope `json:"scope"`
	Cascade    bool                 `json:"cascade"`
}

// collection reads arguments that name a collection, which must exist.
func (w *work) collection(raw json.RawMessage, key string) (collectionArgs, *qerr.Error) {
	var a collectionArgs
	if err := args(raw, &a, key); err != nil {
		return a, err
	}
	if key == "collection" {
		a.Name = a.Collection
	}
	if collectionOf(w.draft, a.Name) == nil {
		return a, missing("query collection", a.Name)
	}
	return a, nil
}

func allowed(m *metadata.Metadata, name string) bool {
	return slices.ContainsFunc(m.AllowList, func(e metadata.AllowEntry) bool { return e.Collection == name })
}

func disallow(m *metadata.Metadata, name string) {
	m.AllowList = slices.DeleteFunc(m.AllowList, func(e metadata.AllowEntry) bool { return e.Collection == name })
}

func dropCollection(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := w.collection(raw, "collection")
	if err != nil {
		return nil, err
	}
	if allowed(w.draft, a.Name) && !a.Cascade {
		return nil, failf(qerr.DependencyError, "query collection with name %q is present in the allowlist; cannot proceed to drop. please use cascade to confirm drop", a.Name)
	}
	return success, w.change("", func(m *metadata.Metadata) {
		disallow(m, a.Name)
		m.QueryCollections = slices.DeleteFunc(m.QueryCollections, func(c metadata.QueryCollection) bool { return c.Name == a.Name })
	})
}

func addQuery(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := w.collection(raw, "collection_name")
	if err != nil {
		return nil, err
	}
	if queryOf(collectionOf(w.draft, a.Name), a.QueryName) >= 0 {
		return nil, failf(qerr.AlreadyExists, "query with name %q already exists in collection %q", a.QueryName, a.Name)
	}
	return success, w.change("", func(m *metadata.Metadata) {
		d := &collectionOf(m, a.Name).Definition
		d.Queries = append(d.Queries, metadata.StoredQuery{Name: a.QueryName, Query: a.Query})
	})
}

func queryOf(c *metadata.QueryCollection, name string) int {
	return slices.IndexFunc(c.Definition.Queries, func(q metadata.StoredQuery) bool { return q.Name == name })
}

func dropQuery(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := w.collection(raw, "collection_name")
	if err != nil {
		return nil, err
	}
	at := queryOf(collectionOf(w.draft, a.Name), a.QueryName)
	if at < 0 {
		return nil, failf(qerr.NotFound, "query with name %q not found in collection %q", a.QueryName, a.Name)
	}
	return success, w.change("", func(m *metadata.Metadata) {
		d := &collectionOf(m, a.Name).Definition
		d.Queries = slices.Delete(d.Queries, at, at+1)
	})
}

func allowCollection(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := w.collection(raw, "collection")
	if err != nil {
		return nil, err
	}
	return success, w.change("", func(m *metadata.Metadata) {
		disallow(m, a.Name)
		m.AllowList = append(m.AllowList, metadata.AllowEntry{Collection: a.Name, Scope: a.Scope})
	})
}

func disallowCollection(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := w.collection(raw, "collection")
	if err != nil {
		return nil, err
	}
	if !allowed(w.draft, a.Name) {
		return nil, failf(qerr.NotFound, "collection %q doesn't exist in the allowlist", a.Name)
	}
	return success, w.change("", func(m *metadata.Metadata) { disallow(m, a.Name) })
}
