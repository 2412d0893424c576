package schema

import "hasura-storage/graphql/localhasura/catalog"

// Expr is a boolean expression over the rows of a table: a permission's filter
// or check, or a client's where. A nil Expr is always true.
type Expr interface{ isExpr() }

// always is the expression without a condition.
var always Expr

// And holds if all do; an empty one is true.
type And []Expr

// Or holds if one does; an empty one is false.
type Or []Expr

// Not negates.
type Not struct{ Expr Expr }

// Compare applies an operator, named with an underscore, to a column.
type Compare struct {
	Column  *catalog.Column
	Op      string
	Operand Operand
	Path    string // where a refused operand is reported; empty = "$"
	Guard   Expr   // if set, the column is null in rows that do not meet it
}

// Related holds for rows that have a related row for which Where holds.
type Related struct {
	Join  Join
	Where Expr
}

// Exists holds if any row of an unrelated table meets Where.
type Exists struct {
	Table *catalog.Table
	Where Expr
}

// Counted compares an aggregate of the related rows that meet Where.
type Counted struct {
	Join     Join
	Where    Expr
	Function string // count, bool_and or bool_or
	Columns  []*catalog.Column
	Distinct bool
	Compare  []Compare // their Column is nil
}

// Casted compares a jsonb column's text.
type Casted struct {
	Column  *catalog.Column
	Compare []Compare
}

func (And) isExpr()     {}
func (Or) isExpr()      {}
func (Not) isExpr()     {}
func (Compare) isExpr() {}
func (Related) isExpr() {}
func (Exists) isExpr()  {}
func (Counted) isExpr() {}
func (Casted) isExpr()  {}

// Operand is what a column is compared with; exactly one of Session, Column
// and the rest is meant.
type Operand struct {
	Value   any       // decoded JSON, numbers as json.Number
	Session string    // the lower-case name of a session variable
	Column  string    // another column of the same row
	Root    bool      // Column belongs to the table that the expression starts at
	Items   []Operand // a list
	IsList  bool
}

// Join leads from a table to another.
type Join struct {
	Target *catalog.Table
	Pairs  []Pair
}

// Pair equates a column here with one there.
type Pair struct{ Local, Remote *catalog.Column }

// Conjunction joins expressions and drops those that are always true.
func Conjunction(parts ...Expr) Expr {
	var all And
	for _, p := range parts {
		if !alwaysTrue(p) {
			all = append(all, p)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

func alwaysTrue(e Expr) bool {
	and, ok := e.(And)
	return e == nil || ok && len(and) == 0
}
