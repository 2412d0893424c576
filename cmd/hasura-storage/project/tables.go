package project

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ours are the columns that the former service did not have. A tracked table
// gets their names; the names of all others are the project's business.
var ours = map[string][]string{
	"storage.buckets": {"allowed_mime_types", "upload_expiration", "quota_bytes", "used_bytes", "image_presets", "strip_metadata"},
	"storage.files":   {"object_key", "sha256", "width", "height", "placeholder", "expires_at"},
}

// source plans the tables first, then their relationships, which may lead to
// any of them, and permissions at last.
func (p *planner) source(have document) {
	if renaming := have.sub("customization"); len(renaming.sub("root_fields")) > 0 || len(renaming.sub("type_names")) > 0 {
		p.remarkf("the database %s renames all its fields: the service asks for files, not for a field with a prefix", p.want.source)
	}
	tracked := map[string]document{}
	for _, table := range have.list("tables") {
		tracked[tableName(table["table"])] = table
	}
	for _, table := range p.want.tables {
		p.table(table, tracked)
	}
	for _, table := range p.want.tables {
		p.relationships(table, tracked[tableName(table["table"])])
	}
	if p.starter {
		for _, table := range p.want.tables {
			p.permissions(table, tracked)
		}
	}
}

func (p *planner) table(want document, tracked map[string]document) {
	name := tableName(want["table"])
	have, ok := tracked[name]
	if !ok {
		p.addTable("track "+name, p.pg("track_table", want, want.only("configuration")))
		return
	}
	config := have.sub("configuration")
	p.compareNames(want, config)
	if added := p.newColumns(name, want.sub("configuration"), config); added != nil {
		p.addTable("name the new columns of "+name, p.pg("set_table_customization", want, document{"configuration": added}))
	}
}

// newColumns is the configuration with names for the columns that are new, nil
// if it has them all.
func (p *planner) newColumns(table string, want, have document) document {
	columns, short := maps.Clone(have.sub("column_config")), maps.Clone(have.sub("custom_column_names"))
	if columns == nil {
		columns = document{} // an older project has the short form alone, which the long one would hide
		for column, name := range short {
			columns[column] = document{"custom_name": name}
		}
	}
	if short == nil {
		short = document{}
	}
	changed := false
	for _, column := range ours[table] {
		if columnName(have, column) != "" {
			continue
		}
		changed = true
		columns[column] = want.sub("column_config").sub(column).with(columns.sub(column))
		columns.sub(column)["custom_name"] = columnName(want, column)
		short[column] = columnName(want, column)
	}
	if !changed {
		return nil
	}
	return have.with(document{"column_config": columns, "custom_column_names": short})
}

// columnName is the name that a configuration gives to a column, "" if none.
func columnName(config document, column string) string {
	if name := config.sub("column_config").sub(column).text("custom_name"); name != "" {
		return name
	}
	return config.sub("custom_column_names").text(column)
}

// compareNames remarks on names that the service would not find.
func (p *planner) compareNames(want, have document) {
	table, config := tableName(want["table"]), want.sub("configuration")
	if config == nil {
		if len(have.sub("custom_root_fields")) > 0 || have.text("custom_name") != "" {
			p.remarkf("%s has names of its own; the service asks for Hasura's default names", table)
		}
		return
	}
	var differ []string
	differs := func(what, theirs, expected string) {
		if theirs != expected {
			differ = append(differ, fmt.Sprintf("%s is %s, not %s", what, theirs, expected))
		}
	}
	roots, theirs := rootFields(want), rootFields(want.with(document{"configuration": have}))
	for _, field := range slices.Sorted(maps.Keys(roots)) {
		differs(field, theirs[field], roots[field])
	}
	for _, column := range slices.Sorted(maps.Keys(config.sub("column_config"))) {
		name := columnName(have, column)
		if name == "" && slices.Contains(ours[table], column) {
			continue // it is about to get one
		}
		differs("the column "+column, cmp.Or(name, column), columnName(config, column))
	}
	if differ != nil {
		p.remarkf("%s has other names than the service asks for: %s", table, strings.Join(differ, "; "))
	}
}

// rootFields are the names of a table's root fields, custom or Hasura's own.
func rootFields(table document) map[string]string {
	config := table.sub("configuration")
	base := config.text("custom_name")
	if base == "" {
		base = table.sub("table").text("schema") + "_" + table.sub("table").text("name")
	}
	fields := map[string]string{
		"select": base, "select_by_pk": base + "_by_pk", "select_aggregate": base + "_aggregate",
		"insert": "insert_" + base, "insert_one": "insert_" + base + "_one", "update": "update_" + base,
		"update_by_pk": "update_" + base + "_by_pk", "delete": "delete_" + base, "delete_by_pk": "delete_" + base + "_by_pk",
	}
	custom := config.sub("custom_root_fields")
	for field := range fields {
		if name := custom.text(field); name != "" {
			fields[field] = name
		} else if name := custom.sub(field).text("name"); name != "" {
			fields[field] = name
		}
	}
	return fields
}

func (p *planner) relationships(want, have document) {
	for _, kind := range []string{"object", "array"} {
		for _, relationship := range want.list(kind + "_relationships") {
			p.relationship(kind, want, have, relationship)
		}
	}
}

func (p *planner) relationship(kind string, table, have, want document) {
	name := tableName(table["table"]) + "." + want.text("name")
	existing, ok := named(slices.Concat(have.list("object_relationships"), have.list("array_relationships")), want.text("name"))
	switch {
	case !ok:
		p.addTable("add the relationship "+name, p.pg("create_"+kind+"_relationship", table, want.only("name", "using")))
	case want.sub("using").sub("manual_configuration") != nil && !covers(existing["using"], want["using"]):
		p.remarkf("the relationship %s leads elsewhere than the service expects: rename it, then start again", name)
	}
}

// permissions gives the starter's permissions to tables that are new here.
func (p *planner) permissions(table document, tracked map[string]document) {
	name := tableName(table["table"])
	for _, kind := range []string{"insert", "select", "update", "delete"} {
		for _, permission := range table.list(kind + "_permissions") {
			if tracked[name] != nil {
				p.remarkf("%s was tracked already: it gets no permission to begin with", name)
				return
			}
			says := fmt.Sprintf("let the role %s %s %s", permission.text("role"), kind, name)
			p.addTable(says, p.pg("create_"+kind+"_permission", table, permission))
		}
	}
}
