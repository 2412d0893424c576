package localhasura

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"

	"hasura-storage/graphql/localhasura/auth"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/introspect"
	"hasura-storage/graphql/localhasura/mutate"
	"hasura-storage/graphql/localhasura/pgerror"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
	"hasura-storage/graphql/localhasura/store"
)

// execution is one GraphQL request under way.
type execution struct {
	server  *Server
	state   *state
	session auth.Session
	request *document.Request
	headers http.Header
	host    string
	schema  *schema.Schema
	cookies []string // that actions set
}

// run answers a request's "data".
func (e *execution) run(ctx context.Context) (string, *qerr.Error) {
	if !e.state.allowed.allows(e.session.Role, e.request.Query) {
		return "", qerr.New(qerr.ValidationFailed, "query is not allowed")
	}
	doc, err := e.server.docs.parse(e.request.Query)
	if err != nil {
		return "", err
	}
	e.schema = e.state.model.For(e.session.Role, e.session.BackendOnly)
	op, err := doc.Resolve(e.request, e.schema)
	if err != nil {
		return "", err
	}
	if op.Kind == ast.Mutation {
		if err := e.validate(ctx, op.Selections); err != nil {
			return "", err
		}
	}
	if op.Kind == ast.Mutation && tablesOnly(op.Selections) {
		return e.transaction(ctx, op.Selections)
	}
	return e.fields(op.Selections, func(s *document.Selection) (string, *qerr.Error) { return e.field(ctx, s) })
}

// fields answers an object with one member per selection.
func (e *execution) fields(selections []*document.Selection, answer func(*document.Selection) (string, *qerr.Error)) (string, *qerr.Error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, s := range selections {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := answer(s)
		if err != nil {
			return "", err
		}
		b.WriteString(strconv.Quote(s.Key) + ":" + text)
	}
	b.WriteByte('}')
	return b.String(), nil
}

// field answers one root field; one that writes has its own transaction.
func (e *execution) field(ctx context.Context, s *document.Selection) (string, *qerr.Error) {
	if s.Field == nil {
		return strconv.Quote(s.Parent.Name), nil
	}
	switch node := s.Field.Node.(type) {
	case schema.SelectRoot, schema.AggregateRoot:
		return e.read(ctx, plan.Read(e.as(), s))
	case schema.ActionRoot:
		return e.action(ctx, node, s)
	case schema.IntrospectionRoot:
		return string(encode(introspect.Answer(e.schema, s))), nil
	case schema.InsertRoot, schema.UpdateRoot, schema.DeleteRoot:
		return e.write(ctx, func(r *mutate.Runner) (string, *qerr.Error) { return r.Run(ctx, s) })
	}
	return `"There are no queries available to the current role."`, nil
}

func (e *execution) read(ctx context.Context, q *plan.Query) (string, *qerr.Error) {
	sql, args, refused := q.SQL()
	if refused != nil {
		return "", refused
	}
	text, err := e.server.db.Text(ctx, sql, args)
	if err != nil {
		return "", pgerror.Read(err, e.state.model.Catalog, nil).Error("$")
	}
	return text, nil
}

// as is the session for which SQL is written.
func (e *execution) as() plan.Session {
	return plan.Session{Vars: e.session.Vars, Stringify: e.server.stringify, Now: e.server.config.Now}
}

// tablesOnly reports whether all root fields write tables, which makes them one
// transaction.
func tablesOnly(selections []*document.Selection) bool {
	for _, s := range selections {
		if s.Field == nil {
			continue
		}
		if _, isAction := s.Field.Node.(schema.ActionRoot); isAction {
			return false
		}
	}
	return true
}

func (e *execution) transaction(ctx context.Context, selections []*document.Selection) (string, *qerr.Error) {
	return e.write(ctx, func(r *mutate.Runner) (string, *qerr.Error) {
		return e.fields(selections, func(s *document.Selection) (string, *qerr.Error) {
			if s.Field == nil {
				return strconv.Quote(s.Parent.Name), nil
			}
			text, err := r.Run(ctx, s)
			if err != nil {
				return "", err
			}
			if fault := e.server.triggers.Flush(ctx, r.Tx); fault != nil {
				return "", qerr.Internalf(fault, "database query error")
			}
			return text, nil
		})
	})
}

// write runs fn in a transaction that carries the session's variables.
func (e *execution) write(ctx context.Context, fn func(*mutate.Runner) (string, *qerr.Error)) (string, *qerr.Error) {
	var text string
	err := e.server.db.Write(ctx, string(encode(e.session.Vars)), func(tx *store.Tx) error {
		var refused *qerr.Error
		if text, refused = fn(&mutate.Runner{Tx: tx, Session: e.as(), Catalog: e.state.model.Catalog, Flush: e.server.triggers.Flush}); refused != nil {
			return refused
		}
		return e.server.triggers.Flush(ctx, tx)
	})
	if err == nil {
		e.server.triggers.Wake()
		return text, nil
	}
	if refused, ok := errors.AsType[*qerr.Error](err); ok {
		return "", refused
	}
	return "", pgerror.Read(err, e.state.model.Catalog, nil).Error("$")
}

// maxDocuments bounds the cache of parsed query texts.
const maxDocuments = 1000

// documents caches parsed query texts.
type documents struct {
	mu    sync.RWMutex
	known map[string]*document.Document
}

func (c *documents) parse(query string) (*document.Document, *qerr.Error) {
	c.mu.RLock()
	doc := c.known[query]
	c.mu.RUnlock()
	if doc != nil {
		return doc, nil
	}
	doc, err := document.Parse(query)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxDocuments {
		c.known = map[string]*document.Document{}
	}
	c.known[query] = doc
	return doc, nil
}

// decodeJSON keeps numbers as they are written.
func decodeJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}
