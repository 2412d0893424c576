package api

import (
	"context"
	"regexp"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/pgerror"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/store"
)

// worded are SQLite's errors about a statement itself, with Postgres's state
// and words for them; $1 is the name that SQLite mentions.
var worded = []struct {
	sqlite      *regexp.Regexp
	state, text string
}{
	{regexp.MustCompile(`no such table: (.+?)(?: \(\d+\))?$`), "42P01", `relation "$1" does not exist`},
	{regexp.MustCompile(`no such column: (.+?)(?: \(\d+\))?$`), "42703", `column "$1" does not exist`},
	{regexp.MustCompile(`has no column named (.+?)(?: \(\d+\))?$`), "42703", `column "$1" does not exist`},
	{regexp.MustCompile(`no such function: (.+?)(?: \(\d+\))?$`), "42883", `function $1 does not exist`},
	{regexp.MustCompile(`near "(.*)": syntax error`), "42601", `syntax error at or near "$1"`},
	{regexp.MustCompile(`incomplete input`), "42601", `syntax error at end of input`},
	{regexp.MustCompile(`table "?(.+?)"? already exists`), "42P07", `relation "$1" already exists`},
	{regexp.MustCompile(`index "?(.+?)"? already exists`), "42P07", `relation "$1" already exists`},
	{regexp.MustCompile(`duplicate column name: (.+?)(?: \(\d+\))?$`), "42701", `column "$1" already exists`},
	{regexp.MustCompile(`readonly database`), "25006", `cannot write in a read-only transaction`},
}

// failed is a SQL error as Hasura reports it.
func (r *sqlRun) failed(ctx context.Context, tx *store.Tx, err error) *qerr.Error {
	e := failf(qerr.PostgresError, "query execution failed")
	v := violation(ctx, tx, err)
	e.Internal = map[string]any{
		"statement": r.args.SQL, "prepared": false, "arguments": []any{},
		"error": map[string]any{"exec_status": "FatalError", "hint": nil, "message": v.Text, "status_code": v.State, "description": nil},
	}
	return e
}

func violation(ctx context.Context, tx *store.Tx, err error) pgerror.Violation {
	text := err.Error()
	for _, w := range worded {
		if m := w.sqlite.FindStringSubmatchIndex(text); m != nil {
			return pgerror.Violation{State: w.state, Text: string(w.sqlite.ExpandString(nil, w.text, text, m))}
		}
	}
	tables, fault := catalog.Read(ctx, tx)
	if fault != nil {
		return pgerror.Violation{State: "XX000", Text: text}
	}
	v := pgerror.Read(err, tables, nil)
	if v.Text == "" { // SQLite does not say which foreign key it was
		v.Text = "a foreign key constraint is violated"
	}
	return v
}
