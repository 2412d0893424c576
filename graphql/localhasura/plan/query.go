// Package plan writes the SQL of a validated selection: one statement per root
// field, whose answer is the field's JSON. Everything that comes from a request
// is a bound parameter; only names out of the catalog stand in the text.
package plan

import (
	"strconv"
	"strings"
	"time"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// Session is for whom a statement is written.
type Session struct {
	Vars map[string]string // session variables by lower-case name
	// Stringify writes bigint, numeric and double precision as JSON strings.
	Stringify bool
	Now       func() time.Time // nil = the real clock
}

// Query is a SQL statement being written. Parts are written in the order of
// the text, so that parameters line up.
type Query struct {
	session Session
	text    strings.Builder
	args    []any
	aliases int
	err     *qerr.Error
}

// NewQuery starts a statement for a session.
func NewQuery(s Session) *Query { return &Query{session: s} }

// SQL returns the statement and its parameters, or the first reason why the
// database would have refused it.
func (q *Query) SQL() (string, []any, *qerr.Error) { return q.text.String(), q.args, q.err }

// Write appends SQL text; never text that came with a request.
func (q *Query) Write(parts ...string) {
	for _, p := range parts {
		q.text.WriteString(p)
	}
}

// Bind appends a parameter.
func (q *Query) Bind(v any) {
	q.text.WriteByte('?')
	q.args = append(q.args, v)
}

// Alias makes up a table alias.
func (q *Query) Alias() string {
	q.aliases++
	return "t" + strconv.Itoa(q.aliases)
}

// Fail keeps the first error; the statement is not run then.
func (q *Query) Fail(err *qerr.Error) {
	if q.err == nil {
		q.err = err
	}
}

// Column writes alias."name".
func (q *Query) Column(alias string, c *catalog.Column) {
	q.Write(alias, ".", catalog.Quote(c.Name))
}

// from writes the table under an alias.
func (q *Query) from(t *catalog.Table, alias string) {
	q.Write(" FROM ", catalog.Quote(t.SQLName), " AS ", alias)
}

// Store casts a value for a column, as Postgres would; a refusal is reported at
// the path.
func (q *Query) Store(t pgtype.Type, v any, path string) any {
	if text, ok := v.(string); ok && q.session.Now != nil {
		if moment, ok := t.Moment(text, q.session.Now()); ok {
			return moment
		}
	}
	stored, err := t.Store(v)
	if err != nil {
		q.Fail(DataException(err, path))
	}
	return stored
}

// DataException is Hasura's error for a value that Postgres refuses.
func DataException(err error, path string) *qerr.Error {
	if path == "" {
		path = "$"
	}
	return qerr.New(qerr.DataException, err.Error()).At(path)
}

// variable reads a session variable; a missing one fails the statement.
func (q *Query) variable(name string) (string, bool) {
	v, ok := q.session.Vars[name]
	if !ok {
		q.Fail(qerr.Newf(qerr.NotFound, "missing session variable: %q", name))
	}
	return v, ok
}

// Operand resolves an operand to a stored value of the type.
func (q *Query) Operand(o schema.Operand, t pgtype.Type, path string) any {
	if o.Session == "" {
		return q.Store(t, o.Value, path)
	}
	text, ok := q.variable(o.Session)
	if !ok {
		return nil
	}
	v, err := t.Cast(text)
	if err != nil {
		q.Fail(DataException(err, path))
	}
	return v
}
