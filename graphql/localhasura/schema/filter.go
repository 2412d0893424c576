package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
)

// filterParser reads a boolean expression of metadata. Its names are database
// names; relationships follow no role's permission.
type filterParser struct {
	model *Model
}

// parse reads an expression over a table; absent, null and {} are always true.
func (p filterParser) parse(table *Tracked, raw json.RawMessage) (Expr, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return always, nil
	}
	members, err := orderedObject(raw)
	if err != nil {
		return nil, err
	}
	var all And
	for _, m := range members {
		e, err := p.member(table, m)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return Conjunction(all...), nil
}

type member struct {
	name string
	raw  json.RawMessage
}

// orderedObject decodes an object and keeps the order of its members.
func orderedObject(raw json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("expected an object in a boolean expression, but found %s", raw)
	}
	var all []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(key)}
		if err := dec.Decode(&m.raw); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (p filterParser) member(table *Tracked, m member) (Expr, error) {
	switch operatorName(m.name) {
	case "_and":
		list, err := p.list(table, m.raw)
		return And(list), err
	case "_or":
		list, err := p.list(table, m.raw)
		return Or(list), err
	case "_not":
		inner, err := p.parse(table, m.raw)
		return Not{inner}, err
	case "_exists":
		return p.exists(m.raw)
	}
	if column := table.DB.Column(m.name); column != nil {
		return p.column(table, column, m.raw)
	}
	if rel := table.Relation(m.name); rel != nil {
		where, err := p.parse(rel.Target, m.raw)
		return Related{Join: rel.Join, Where: where}, err
	}
	return nil, fmt.Errorf("%q does not exist", m.name)
}

// operatorName allows $eq for _eq.
func operatorName(name string) string {
	if strings.HasPrefix(name, "$") {
		return "_" + name[1:]
	}
	return name
}

func (p filterParser) list(table *Tracked, raw json.RawMessage) ([]Expr, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("expected a list in a boolean expression, but found %s", raw)
	}
	var all []Expr
	for _, item := range items {
		e, err := p.parse(table, item)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func (p filterParser) exists(raw json.RawMessage) (Expr, error) {
	var parts struct {
		Table *metadata.TableName `json:"_table"`
		Where json.RawMessage     `json:"_where"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil || parts.Table == nil {
		return nil, errors.New("_exists needs _table and _where")
	}
	table := p.model.Tracked(*parts.Table)
	if table == nil {
		return nil, fmt.Errorf("table %q does not exist", parts.Table)
	}
	where, err := p.parse(table, parts.Where)
	return Exists{Table: table.DB, Where: where}, err
}

func (p filterParser) column(table *Tracked, column *catalog.Column, raw json.RawMessage) (Expr, error) {
	if raw[0] != '{' {
		return p.compare(table, column, member{"_eq", raw})
	}
	members, err := orderedObject(raw)
	if err != nil {
		return nil, err
	}
	var all And
	for _, m := range members {
		e, err := p.compare(table, column, m)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return Conjunction(all...), nil
}

func (p filterParser) compare(table *Tracked, column *catalog.Column, m member) (Expr, error) {
	op := operatorName(m.name)
	if op == "_cast" {
		return p.cast(table, column, m.raw)
	}
	if !operatorsOf(column.Type)[op] && !columnOperators[op] {
		return nil, fmt.Errorf("the operator %q of column %q is not supported by the local Hasura: use a real one", m.name, column.Name)
	}
	v, err := decode(m.raw)
	if err != nil {
		return nil, err
	}
	if columnOperators[op] {
		return p.columns(table, column, op, v)
	}
	return Compare{Column: column, Op: op, Operand: operandOf(v)}, nil
}

func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// columns reads the right side of _ceq and its like: a column of the same row,
// or ["$", column] for one of the table where the expression starts.
func (p filterParser) columns(table *Tracked, column *catalog.Column, op string, v any) (Expr, error) {
	operand := Operand{}
	switch v := v.(type) {
	case string:
		operand.Column = v
		if table.DB.Column(v) == nil {
			return nil, fmt.Errorf("column %q does not exist", v)
		}
	case []any:
		if len(v) == 0 || len(v) > 2 || len(v) == 2 && v[0] != "$" {
			return nil, fmt.Errorf("%s takes a column or [\"$\", column]", op)
		}
		operand.Column, operand.Root = fmt.Sprint(v[len(v)-1]), len(v) == 2
	default:
		return nil, fmt.Errorf("%s takes a column or [\"$\", column]", op)
	}
	return Compare{Column: column, Op: op, Operand: operand}, nil
}

func (p filterParser) cast(table *Tracked, column *catalog.Column, raw json.RawMessage) (Expr, error) {
	members, err := orderedObject(raw)
	if err != nil || len(members) != 1 || members[0].name != "String" || !column.Type.Binary() {
		return nil, fmt.Errorf("_cast of column %q is supported from jsonb to String only", column.Name)
	}
	e, err := p.column(table, &catalog.Column{Name: column.Name, Type: stringType}, members[0].raw)
	if err != nil {
		return nil, err
	}
	casted := Casted{Column: column}
	for _, part := range flatten(e) {
		if compare, ok := part.(Compare); ok {
			casted.Compare = append(casted.Compare, compare)
		}
	}
	return casted, nil
}

func flatten(e Expr) []Expr {
	if and, ok := e.(And); ok {
		return and
	}
	if e == nil {
		return nil
	}
	return []Expr{e}
}

// operandOf recognises session variables, alone and as elements of lists.
func operandOf(v any) Operand {
	switch v := v.(type) {
	case string:
		if name := strings.ToLower(v); strings.HasPrefix(name, "x-hasura-") {
			return Operand{Session: name}
		}
	case []any:
		list := Operand{Value: v, IsList: true}
		for _, item := range v {
			list.Items = append(list.Items, operandOf(item))
		}
		return list
	}
	return Operand{Value: v}
}
