package catalog

import (
	"fmt"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/pgtype"
)

// parseTable reads a CREATE TABLE statement.
func parseTable(sqlName, ddl string) (*Table, error) {
	schema, name := splitName(sqlName)
	p := &parser{ddl: ddl, declared: map[string]string{}, table: &Table{Schema: schema, Name: name, SQLName: sqlName, byName: map[string]*Column{}}}
	tokens := tokenize(ddl)
	for len(tokens) > 0 && !tokens[0].is("(") {
		tokens = tokens[1:]
	}
	inside, options := group(tokens)
	for _, t := range options {
		if t.is("WITHOUT") {
			return nil, fmt.Errorf("WITHOUT ROWID is not supported by the local Hasura: declare table %q without it", sqlName)
		}
	}
	for _, item := range splitCommas(inside) {
		if err := p.item(item); err != nil {
			return nil, err
		}
	}
	p.finish()
	return p.table, p.refusal()
}

// refusal says what of the table would make answers wrong.
func (p *parser) refusal() error {
	for _, c := range p.table.Columns {
		if strings.EqualFold(c.Name, "rowid") {
			return fmt.Errorf("a column named %q is not supported by the local Hasura: it hides SQLite's own (table %q)", c.Name, p.table.FullName())
		}
	}
	if p.sqliteTime != "" {
		return fmt.Errorf("the default of column %q of table %q is SQLite's own form of time: write DEFAULT (now())", p.sqliteTime, p.table.FullName())
	}
	return nil
}

type parser struct {
	ddl    string
	table  *Table
	column *Column // the column whose constraints are read; nil at table level
	// sqliteTime is a column whose default is CURRENT_TIMESTAMP, which SQLite
	// writes in another form than Postgres.
	sqliteTime string
	declared   map[string]string // column → its type as written
}

func (p *parser) item(tokens []token) error {
	if len(tokens) == 0 {
		return nil
	}
	p.column = nil
	if slices.ContainsFunc([]string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}, tokens[0].is) {
		p.constraints(tokens)
		return nil
	}
	return p.columnDef(tokens)
}

var columnConstraint = []string{"CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS"}

func startsConstraint(t token) bool {
	return slices.ContainsFunc(columnConstraint, t.is)
}

func (p *parser) columnDef(tokens []token) error {
	name, rest := tokens[0].text, tokens[1:]
	end := 0
	for end < len(rest) && !startsConstraint(rest[end]) {
		end++
	}
	declared := ""
	if end > 0 {
		declared = p.ddl[rest[0].at:rest[end-1].end]
	}
	typ, ok := pgtype.Parse(declared)
	if !ok {
		return unknownType(declared, name, p.table)
	}
	p.declared[name] = declared
	p.column = &Column{Name: name, Type: typ}
	p.table.Columns = append(p.table.Columns, p.column)
	p.table.byName[name] = p.column
	p.constraints(rest[end:])
	return nil
}

// constraints reads one constraint after the other, each with its own name.
func (p *parser) constraints(tokens []token) {
	name := ""
	for len(tokens) > 0 {
		switch t := tokens[0]; {
		case t.is("CONSTRAINT") && len(tokens) > 1:
			name, tokens = tokens[1].text, tokens[2:]
			continue
		case t.is("PRIMARY"):
			tokens = p.primaryKey(name, tokens[1:])
		case t.is("UNIQUE"):
			tokens = p.unique(name, tokens[1:])
		case t.is("CHECK"):
			tokens = p.check(name, tokens[1:])
		case t.is("FOREIGN"):
			tokens = p.foreignKey(name, tokens[1:])
		case t.is("REFERENCES"):
			tokens = p.references(name, []string{p.column.Name}, tokens)
		default:
			tokens = p.other(tokens)
		}
		name = ""
	}
}

// other reads what has no name in messages: NOT NULL, DEFAULT, COLLATE, …
func (p *parser) other(tokens []token) []token {
	switch t := tokens[0]; {
	case t.is("NOT") && len(tokens) > 1 && tokens[1].is("NULL"):
		if p.column != nil {
			p.column.NotNull = true
		}
		return tokens[2:]
	case t.is("DEFAULT") && p.column != nil:
		return p.defaultValue(tokens[1:])
	case t.is("AS"):
		p.column.Generated = true
	case t.is("("):
		_, rest := group(tokens)
		return rest
	}
	return tokens[1:]
}

func (p *parser) defaultValue(tokens []token) []token {
	if len(tokens) == 0 {
		return nil
	}
	p.column.Default = !tokens[0].is("NULL")
	inside, rest := []token{tokens[0]}, tokens[1:]
	if tokens[0].is("(") {
		inside, rest = group(tokens)
	}
	if len(inside) == 1 && strings.HasPrefix(strings.ToUpper(inside[0].text), "CURRENT_") && !inside[0].quoted {
		p.sqliteTime = p.column.Name
	}
	return rest
}

// columnList reads "(a, b)" if it stands here.
func columnList(tokens []token) (names []string, rest []token) {
	if len(tokens) == 0 || !tokens[0].is("(") {
		return nil, tokens
	}
	inside, rest := group(tokens)
	for _, part := range splitCommas(inside) {
		if len(part) > 0 {
			names = append(names, part[0].text)
		}
	}
	return names, rest
}

func (p *parser) own(names []string) []string {
	if len(names) == 0 && p.column != nil {
		return []string{p.column.Name}
	}
	return names
}

func (p *parser) primaryKey(name string, tokens []token) []token {
	if len(tokens) > 0 && tokens[0].is("KEY") {
		tokens = tokens[1:]
	}
	columns, rest := columnList(tokens)
	if name == "" {
		name = p.table.Name + "_pkey"
	}
	p.table.PrimaryKey = &Constraint{Name: name, Columns: p.own(columns)}
	return rest
}

func (p *parser) unique(name string, tokens []token) []token {
	columns, rest := columnList(tokens)
	columns = p.own(columns)
	p.table.Unique = append(p.table.Unique, &Constraint{Name: p.implicit(name, columns, "key"), Columns: columns})
	return rest
}

// implicit is the name that Postgres makes up for a constraint without one.
func (p *parser) implicit(name string, columns []string, suffix string) string {
	if name != "" {
		return name
	}
	return strings.Join(append(append([]string{p.table.Name}, columns...), suffix), "_")
}

func (p *parser) check(name string, tokens []token) []token {
	inside, rest := group(tokens)
	text := ""
	if len(inside) > 0 {
		text = p.ddl[inside[0].at:inside[len(inside)-1].end]
	}
	reported := text
	if name != "" {
		reported = name
	}
	var columns []string
	if p.column != nil {
		columns = []string{p.column.Name}
	}
	p.table.Checks = append(p.table.Checks, Check{Name: p.freshCheck(p.implicit(name, columns, "check")), Text: reported})
	return rest
}

// freshCheck numbers a second check of the same column, as Postgres does.
func (p *parser) freshCheck(name string) string {
	taken := func(n string) bool {
		for _, c := range p.table.Checks {
			if c.Name == n {
				return true
			}
		}
		return false
	}
	free := name
	for i := 1; taken(free); i++ {
		free = fmt.Sprintf("%s%d", name, i)
	}
	return free
}

func (p *parser) foreignKey(name string, tokens []token) []token {
	if len(tokens) > 0 && tokens[0].is("KEY") {
		tokens = tokens[1:]
	}
	columns, rest := columnList(tokens)
	return p.references(name, columns, rest)
}

func (p *parser) references(name string, columns []string, tokens []token) []token {
	if len(tokens) < 2 {
		return nil
	}
	fk := &ForeignKey{Name: p.implicit(name, columns, "fkey"), Columns: columns, refName: tokens[1].text}
	fk.RefColumns, tokens = columnList(tokens[2:])
	for len(tokens) > 2 && tokens[0].is("ON") {
		fk.Restrict = fk.Restrict || tokens[1].is("DELETE") && tokens[2].is("RESTRICT")
		skip := 3
		if tokens[2].is("SET") || tokens[2].is("NO") {
			skip = 4
		}
		tokens = tokens[min(skip, len(tokens)):]
	}
	p.table.ForeignKeys = append(p.table.ForeignKeys, fk)
	return tokens
}

// finish marks the columns of the primary key as not null, which in Postgres
// they always are. The one column "integer PRIMARY KEY" counts by itself, as a
// serial column does in Postgres.
func (p *parser) finish() {
	if p.table.PrimaryKey == nil {
		return
	}
	key := p.table.PrimaryKey.Columns
	for _, name := range key {
		if c := p.table.byName[name]; c != nil {
			c.NotNull = true
			c.Default = c.Default || len(key) == 1 && strings.EqualFold(p.declared[name], "integer")
		}
	}
}

// addIndex notes a unique index over plain columns.
func (t *Table) addIndex(name, ddl string) {
	tokens := tokenize(ddl)
	if len(tokens) < 2 || !tokens[1].is("UNIQUE") {
		return
	}
	for len(tokens) > 0 && !tokens[0].is("(") {
		tokens = tokens[1:]
	}
	columns, _ := columnList(tokens)
	t.Indexes = append(t.Indexes, &Constraint{Name: name, Columns: columns})
}
