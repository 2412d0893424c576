package localhasura

import (
	"context"

	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
	"hasura-storage/graphql/localhasura/webhook"
)

// validate asks the validate_input webhooks of the role's permissions about
// everything that a mutation is to write, before any of it is written.
func (e *execution) validate(ctx context.Context, selections []*document.Selection) *qerr.Error {
	for _, s := range selections {
		if s.Field == nil {
			continue
		}
		for _, in := range inputs(s) {
			in.Role, in.Vars, in.Headers, in.Host = e.session.Role, e.session.Vars, e.headers, e.host
			if err := e.server.caller.Validate(ctx, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// inputs are what one root field has to be asked about.
func inputs(s *document.Selection) []webhook.Input {
	switch node := s.Field.Node.(type) {
	case schema.InsertRoot:
		rows := &tableRows{}
		for _, name := range []string{"objects", "object"} {
			if v := s.Arg(name); v != nil {
				rows.gather(node.View, v)
			}
		}
		return rows.asked
	case schema.UpdateRoot:
		return one(node.View.Update.Validation, updateItems(node, s))
	case schema.DeleteRoot:
		item := arguments(s)
		if node.ByPK {
			item = map[string]any{"pk_columns": item}
		}
		return one(node.View.Delete.Validation, []any{item})
	}
	return nil
}

func one(v *metadata.InputValidation, items []any) []webhook.Input {
	if v == nil {
		return nil
	}
	return []webhook.Input{{Validation: v, Items: items}}
}

func arguments(s *document.Selection) map[string]any {
	all := map[string]any{}
	for _, a := range s.Args {
		all[a.Input.Name] = a.Value.JSON()
	}
	return all
}

func updateItems(node schema.UpdateRoot, s *document.Selection) []any {
	if !node.Batch {
		return []any{arguments(s)}
	}
	items := []any{}
	for _, v := range s.Arg("updates").List() {
		items = append(items, v.JSON())
	}
	return items
}

// tableRows gathers the rows of an insert by table, nested ones included.
type tableRows struct{ asked []webhook.Input }

// gather notes the rows of a list or of one object, and returns them with
// database names.
func (t *tableRows) gather(v *schema.View, value *document.Value) []any {
	objects := value.List()
	if value.Object() != nil {
		objects = []*document.Value{value}
	}
	rows := make([]any, 0, len(objects))
	for _, o := range objects {
		rows = append(rows, t.row(o))
	}
	if v.Insert != nil && v.Insert.Validation != nil {
		t.add(v.Insert.Validation, rows)
	}
	return rows
}

func (t *tableRows) add(v *metadata.InputValidation, rows []any) {
	for i := range t.asked {
		if t.asked[i].Validation == v {
			t.asked[i].Items = append(t.asked[i].Items, rows...)
			return
		}
	}
	t.asked = append(t.asked, webhook.Input{Validation: v, Items: rows})
}

func (t *tableRows) row(o *document.Value) map[string]any {
	row := map[string]any{}
	for _, m := range o.Object().Members {
		switch node := m.Input.Node.(type) {
		case *schema.Column:
			row[node.DB.Name] = m.Value.JSON()
		case schema.RelatedInput:
			if nested := m.Value.Object(); nested != nil {
				row[node.Relation.Name] = map[string]any{"data": t.nested(node, nested.Get("data"))}
			}
		}
	}
	return row
}

// nested are the rows of a relationship: a list, or one object.
func (t *tableRows) nested(node schema.RelatedInput, data *document.Value) any {
	if data == nil {
		return nil
	}
	rows := t.gather(node.View, data)
	if data.Object() != nil && len(rows) == 1 {
		return rows[0]
	}
	return rows
}
