package localhasura

import (
	"context"
	"encoding/json"
	"strings"

	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/plan"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
	"hasura-storage/graphql/localhasura/webhook"
)

// action calls an action's webhook and answers what was selected of it.
func (e *execution) action(ctx context.Context, node schema.ActionRoot, s *document.Selection) (string, *qerr.Error) {
	input := map[string]any{}
	for _, a := range s.Args {
		input[a.Input.Name] = a.Value.JSON()
	}
	answer, err := e.server.caller.Call(ctx, webhook.Request{
		Action: node.Action, Input: encode(input), Vars: e.session.Vars,
		Query: e.request.Query, Headers: e.headers, Host: e.host,
	}, e.state.types)
	if err != nil {
		return "", err
	}
	e.cookies = append(e.cookies, answer.SetCookie...)
	body, fault := decodeJSON(answer.Body)
	if fault != nil {
		return "", qerr.New(qerr.Unexpected, "not a valid json response from webhook")
	}
	out, err := e.project(ctx, body, s)
	if err != nil {
		return "", err
	}
	return string(encode(out)), nil
}

// encode writes JSON that was decoded before, which cannot fail.
func encode(v any) json.RawMessage {
	raw, _ := jsontext.Encode(v)
	return raw
}

// project reduces a value of the answer to what was selected.
func (e *execution) project(ctx context.Context, v any, s *document.Selection) (any, *qerr.Error) {
	if len(s.Sub) == 0 {
		return v, nil
	}
	switch v := v.(type) {
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			p, err := e.project(ctx, item, s)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		return list, nil
	case map[string]any:
		return e.projectObject(ctx, v, s)
	}
	return nil, nil
}

func (e *execution) projectObject(ctx context.Context, o map[string]any, s *document.Selection) (any, *qerr.Error) {
	text, err := e.fields(kept(o, s.Sub), func(f *document.Selection) (string, *qerr.Error) {
		if f.Field == nil {
			return string(encode(f.Parent.Name)), nil
		}
		if relation, ok := f.Field.Node.(schema.ActionRelation); ok {
			return e.actionRelation(ctx, relation, f, o)
		}
		v, err := e.project(ctx, o[f.Name], f)
		return string(encode(v)), err
	})
	return json.RawMessage(text), err
}

// kept leaves out the fields whose value is a scalar where an object is
// declared: Hasura drops them.
func kept(o map[string]any, sub []*document.Selection) []*document.Selection {
	var all []*document.Selection
	for _, f := range sub {
		if len(f.Sub) > 0 {
			if _, isRelation := f.Field.Node.(schema.ActionRelation); !isRelation && bare(o[f.Name]) {
				continue
			}
		}
		all = append(all, f)
	}
	return all
}

func bare(v any) bool {
	switch v.(type) {
	case string, bool, json.Number:
		return true
	}
	return false
}

// actionRelation reads the rows that an answer points to, as the caller.
func (e *execution) actionRelation(ctx context.Context, node schema.ActionRelation, s *document.Selection, o map[string]any) (string, *qerr.Error) {
	values := make([]any, len(node.Members))
	for i, name := range node.Members {
		if values[i] = o[name]; values[i] == nil && !node.Array {
			return "null", nil
		}
	}
	text, err := e.read(ctx, plan.Matching(e.as(), node, s, values))
	return strings.TrimSpace(text), err
}
