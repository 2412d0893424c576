// Package pgerror reads SQLite's errors as those that Postgres would have
// raised, and words them as Hasura does.
package pgerror

import (
	"regexp"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/qerr"
)

// Violation is a Postgres error: its SQLSTATE and its text.
type Violation struct{ State, Text string }

// ForeignKey is the state of a violated foreign key. SQLite does not say which
// one it was, so Read leaves the text empty.
const ForeignKey = "23503"

// raised is what triggers and our functions report: "23514: some text".
var raised = regexp.MustCompile(`(?s)(?:^|: )([0-9][0-9A-Z]{4}): (.*?)(?: \(\d+\))?$`)

// Read finds out what went wrong. t is the table that the statement named.
func Read(err error, c *catalog.Catalog, t *catalog.Table) Violation {
	text := err.Error()
	if rest, ok := after(text, "UNIQUE constraint failed: "); ok {
		return unique(rest, c)
	}
	if rest, ok := after(text, "NOT NULL constraint failed: "); ok {
		return notNull(rest, c)
	}
	if rest, ok := after(text, "CHECK constraint failed: "); ok {
		return check(rest, c, t)
	}
	if strings.Contains(text, "FOREIGN KEY constraint failed") {
		return Violation{State: ForeignKey}
	}
	if m := raised.FindStringSubmatch(text); m != nil {
		return Violation{State: m[1], Text: m[2]}
	}
	return Violation{State: "XX000", Text: text}
}

var code = regexp.MustCompile(` \(\d+\)$`)

func after(text, mark string) (string, bool) {
	_, rest, ok := strings.Cut(text, mark)
	return code.ReplaceAllString(rest, ""), ok
}

// unique finds the constraint or unique index over the columns that SQLite
// names, written "table.a, table.b", or the index that it names.
func unique(list string, c *catalog.Catalog) Violation {
	violated := func(name string) Violation {
		return Violation{"23505", `duplicate key value violates unique constraint "` + name + `"`}
	}
	if name, ok := strings.CutPrefix(list, "index '"); ok {
		return violated(strings.TrimSuffix(name, "'"))
	}
	for _, t := range c.Tables() {
		for _, key := range append(t.Keys(), t.Indexes...) {
			if qualified(t, key.Columns) == list {
				return violated(key.Name)
			}
		}
	}
	return violated(list)
}

func qualified(t *catalog.Table, columns []string) string {
	all := make([]string, 0, len(columns))
	for _, name := range columns {
		all = append(all, t.SQLName+"."+name)
	}
	return strings.Join(all, ", ")
}

// TwiceInUpsert is the error of an upsert whose rows collide with each other.
func TwiceInUpsert() Violation {
	return Violation{"21000", "ON CONFLICT DO UPDATE command cannot affect row a second time"}
}

// NotNull is the error of a null in a column that takes none.
func NotNull(t *catalog.Table, column string) Violation {
	return Violation{"23502", `null value in column "` + column + `" of relation "` + t.Name + `" violates not-null constraint`}
}

func notNull(name string, c *catalog.Catalog) Violation {
	for _, t := range c.Tables() {
		column, ok := strings.CutPrefix(name, t.SQLName+".")
		if ok && t.Column(column) != nil {
			return NotNull(t, column)
		}
	}
	return Violation{"23502", `null value in column "` + name + `" violates not-null constraint`}
}

// check looks into the statement's own table first: SQLite names a constraint,
// or gives its text, without the table.
func check(reported string, c *catalog.Catalog, first *catalog.Table) Violation {
	tables := c.Tables()
	if first != nil {
		tables = append([]*catalog.Table{first}, tables...)
	}
	for _, t := range tables {
		for _, k := range t.Checks {
			if k.Text == reported || k.Name == reported {
				return checkViolation(t.Name, k.Name)
			}
		}
	}
	return checkViolation("", reported)
}

func checkViolation(table, name string) Violation {
	return Violation{"23514", `new row for relation "` + table + `" violates check constraint "` + name + `"`}
}

var named = map[string]struct{ code, prefix string }{
	"23505": {qerr.ConstraintViolation, "Uniqueness violation. "},
	"23503": {qerr.ConstraintViolation, "Foreign key violation. "},
	"23502": {qerr.ConstraintViolation, "Not-NULL violation. "},
	"23514": {qerr.PermissionError, "Check constraint violation. "},
	"23P01": {qerr.ConstraintViolation, "Exclusion violation. "},
	"23001": {qerr.ConstraintViolation, "Can not delete or update due to data being referred. "},
	"22025": {qerr.BadRequest, ""},
	"42P10": {qerr.ConstraintError, ""},
}

// Error words the violation as Hasura's DML error handler does.
func (v Violation) Error(path string) *qerr.Error {
	if n, ok := named[v.State]; ok {
		return qerr.New(n.code, n.prefix+v.Text).At(path)
	}
	if strings.HasPrefix(v.State, "22") {
		return qerr.New(qerr.DataException, v.Text).At(path)
	}
	e := qerr.New(qerr.Unexpected, "database query error").WithStatus(500)
	e.Internal = map[string]any{"error": map[string]any{"exec_status": "FatalError", "status_code": v.State, "message": v.Text, "hint": nil, "description": nil}}
	return e
}
