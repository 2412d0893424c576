package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/schema"
)

// Read writes the statement of a root field that reads a table. It answers one
// row of one text: the field's JSON, NULL for null.
func Read(as Session, s *document.Selection) *Query {
	q := NewQuery(as)
	q.Write("SELECT ")
	switch node := s.Field.Node.(type) {
	case schema.SelectRoot:
		if node.ByPK {
			q.one(q.byKey(node.View, s), s.Sub)
			break
		}
		q.list(q.newListing(node.View, s).capped(), s.Sub)
	case schema.AggregateRoot:
		q.aggregate(q.newListing(node.View, s), s.Sub)
	}
	return q
}

func (q *Query) byKey(v *schema.View, s *document.Selection) listing {
	return listing{view: v, filter: v.Select.Filter(), join: func(q *Query, row string) { q.Key(row, s.Args) }}
}

// Key writes the condition that columns have the values of arguments.
func (q *Query) Key(alias string, values []document.Member) {
	for i, a := range values {
		if i > 0 {
			q.Write(" AND ")
		}
		column, ok := a.Input.Node.(*schema.Column)
		if !ok {
			continue
		}
		q.Column(alias, column.DB)
		q.Write(" = ")
		q.Bind(q.Store(column.DB.Type.Unlimited(), a.Value.V, "$"))
	}
}

// Returning writes a statement that answers the rows with the given rowids, in
// that order, as a JSON array. The role's columns apply, its row filter does
// not: that is Hasura's rule for the rows that a mutation answers.
func Returning(as Session, v *schema.View, sub []*document.Selection, rowids []int64) *Query {
	q := NewQuery(as)
	row := q.Alias()
	q.Write("SELECT json_group_array(json(j)) FROM (SELECT ")
	q.object(v, sub, row)
	q.Write(" AS j FROM json_each(")
	q.Bind(JSONList(rowids))
	q.Write(") AS ids JOIN ", catalog.Quote(v.DB.SQLName), " AS ", row, " ON ", row, ".rowid = ids.value ORDER BY ids.key LIMIT -1)")
	return q
}

// Snapshot writes a statement that answers the stored columns of rows as a JSON
// array of arrays, for Remembered.
func Snapshot(as Session, v *schema.View, rowids []int64) *Query {
	q := NewQuery(as)
	q.Write("SELECT json_group_array(json_array(")
	for i, c := range v.DB.Columns {
		if i > 0 {
			q.Write(", ")
		}
		q.Column("t", c)
	}
	q.Write(") ORDER BY ids.key) FROM json_each(")
	q.Bind(JSONList(rowids))
	q.Write(") AS ids JOIN ", catalog.Quote(v.DB.SQLName), " AS t ON t.rowid = ids.value")
	return q
}

// Remembered writes a statement that answers rows that are gone, from their
// Snapshot. What is selected of related rows is read as it is now: Hasura reads
// it by a second statement as well.
func Remembered(as Session, v *schema.View, sub []*document.Selection, snapshot string) *Query {
	q := NewQuery(as)
	row := q.Alias()
	q.Write("SELECT json_group_array(json(j)) FROM (SELECT ")
	q.object(v, sub, row)
	q.Write(" AS j FROM (SELECT key AS hdb_place")
	for i, c := range v.DB.Columns {
		q.Write(", value ->> ", strconv.Itoa(i), " AS ", catalog.Quote(c.Name))
	}
	q.Write(" FROM json_each(")
	q.Bind(snapshot)
	q.Write(")) AS ", row, " ORDER BY ", row, ".hdb_place LIMIT -1)")
	return q
}

// JSONList writes numbers as a JSON array, the form in which lists are bound.
func JSONList(numbers []int64) string {
	list := []byte{'['}
	for i, n := range numbers {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, n, 10)
	}
	return string(append(list, ']'))
}

// Matching writes a read of the related rows of an action's answer: those whose
// columns have the given values.
func Matching(as Session, node schema.ActionRelation, s *document.Selection, values []any) *Query {
	q := NewQuery(as)
	q.Write("SELECT ")
	join := func(q *Query, row string) {
		for i, c := range node.Columns {
			if i > 0 {
				q.Write(" AND ")
			}
			q.Column(row, c.DB)
			q.Write(" = ")
			q.Bind(q.Store(c.DB.Type.Unlimited(), values[i], "$"))
		}
	}
	switch {
	case node.Aggregate:
		l := q.newListing(node.View, s)
		l.join = join
		q.aggregate(l, s.Sub)
	case node.Array:
		l := q.newListing(node.View, s).capped()
		l.join = join
		q.list(l, s.Sub)
	default:
		q.one(listing{view: node.View, filter: node.View.Select.Filter(), join: join}, s.Sub)
	}
	return q
}

// parseJSONPath reads Hasura's JSON paths ($.a[0], a.b, ["x y"]) to a JSON
// array of their steps.
func parseJSONPath(path string) (string, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	steps := []string{}
	for rest != "" {
		step, after, err := jsonStep(rest)
		if err != nil {
			return "", fmt.Errorf("parse json path error: invalid path %s", strconv.Quote(path))
		}
		steps = append(steps, step)
		rest = after
	}
	raw, err := json.Marshal(steps)
	return string(raw), err
}

func jsonStep(s string) (step, rest string, err error) {
	if s[0] != '[' {
		end := strings.IndexAny(s, ".[")
		switch {
		case end == 0:
			return "", "", errors.New("empty step")
		case end < 0:
			return s, "", nil
		}
		return s[:end], dropDot(s[end:]), nil
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return "", "", errors.New("no closing bracket")
	}
	step = s[1:end]
	if len(step) > 1 && (step[0] == '"' || step[0] == '\'') && step[len(step)-1] == step[0] {
		return step[1 : len(step)-1], dropDot(s[end+1:]), nil
	}
	_, err = strconv.Atoi(step)
	return step, dropDot(s[end+1:]), err
}

func dropDot(s string) string {
	if len(s) > 1 && s[0] == '.' {
		return s[1:]
	}
	return s
}
