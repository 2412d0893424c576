// Package document turns a GraphQL request into selections that are valid for
// a role's schema: operations, variables, directives, fragments, and arguments
// coerced to what they mean. Its errors are worded as Hasura words them; the
// first one ends the request.
package document

import (
	"strconv"
	"strings"

	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/schema"
)

// Path leads to a part of the request. It is a list of steps from the end, so
// that extending it costs nothing until an error prints it. nil is "$".
type Path struct {
	parent *Path
	name   string
	index  int // used when name is empty
}

// Key extends the path by a member.
func (p *Path) Key(name string) *Path { return &Path{parent: p, name: name} }

// Index extends the path by a list element.
func (p *Path) Index(i int) *Path { return &Path{parent: p, index: i} }

// String writes the path as Hasura does: $.selectionSet.t.args.objects[0].x
func (p *Path) String() string {
	if p == nil {
		return "$"
	}
	switch {
	case p.name == "":
		return p.parent.String() + "[" + strconv.Itoa(p.index) + "]"
	case schema.ValidName(p.name):
		return p.parent.String() + "." + p.name
	}
	return p.parent.String() + `["` + strings.ReplaceAll(p.name, `"`, `\"`) + `"]`
}

func invalid(p *Path, format string, args ...any) *qerr.Error {
	return qerr.Newf(qerr.ValidationFailed, format, args...).At(p.String())
}
