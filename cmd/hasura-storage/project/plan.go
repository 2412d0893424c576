package project

import (
	"fmt"
	"slices"
	"strings"
)

// Plan is what Hasura has to be told, and what is left as it is.
type Plan struct {
	// Tables are the changes that the service cannot do without: tables, their
	// names and relationships.
	Tables []Change
	// Services are the changes that make Hasura call the service: custom types,
	// actions and triggers.
	Services []Change
	// Remarks are what the project has named otherwise than the service expects.
	Remarks []string
	// Unusable are parts of the project that Hasura has and cannot use, with its
	// reasons.
	Unusable []string
}

// Change is one command of the metadata API.
type Change struct {
	Says string // what it does, for people: "track storage.uploads"

	command document
	undo    document // nil if it cannot be taken back
	object  string   // name of what it makes, as Hasura's complaints have it
}

// Empty reports whether there is nothing to do.
func (p Plan) Empty() bool { return len(p.Tables)+len(p.Services) == 0 }

// String is the plan for people, one line each; "" if Hasura says all of it.
func (p Plan) String() string {
	var b strings.Builder
	for _, change := range slices.Concat(p.Tables, p.Services) {
		fmt.Fprintf(&b, "+ %s\n", change.Says)
	}
	for _, remark := range slices.Concat(p.Remarks, p.Unusable) {
		fmt.Fprintf(&b, "! %s\n", remark)
	}
	return b.String()
}

// planner compares.
type planner struct {
	want    *wanted
	starter bool
	plan    Plan
}

// compare plans the way from have, a whole exported metadata, to the project.
// It fails where have has no source of the name.
func (w *wanted) compare(have document, starter bool) (Plan, error) {
	p := &planner{want: w, starter: starter}
	source, ok := named(have.list("sources"), w.source)
	if !ok {
		return Plan{}, fmt.Errorf("there is no database named %s in Hasura, only: %s; HASURA_DB_NAME says which to use", w.source, strings.Join(names(have.list("sources")), ", "))
	}
	p.source(source)
	p.services(have, source)
	return p.plan, nil
}

// services plans actions and what belongs to them, all or nothing.
func (p *planner) services(have, source document) {
	actions := have.list("actions")
	known := slices.ContainsFunc(p.want.actions, func(want document) bool {
		action, ok := named(actions, want.text("name"))
		return ok && ourAction(action)
	})
	if taken := p.types(have.sub("custom_types"), known); taken != "" {
		p.remarkf("the project has a type %s of its own: as long as it has that name, no action and no trigger is added", taken)
		return
	}
	for _, action := range p.want.actions {
		p.action(action, actions)
	}
	for _, cron := range p.want.crons {
		p.cron(cron, have.list("cron_triggers"))
	}
	// Last, since they alone reach into the database.
	for _, table := range p.want.tables {
		for _, trigger := range table.list("event_triggers") {
			p.event(table, trigger, source)
		}
	}
}

func names(list []document) []string {
	found := make([]string, 0, len(list))
	for _, d := range list {
		found = append(found, d.text("name"))
	}
	return found
}

// pg is a command about a table of the source.
func (p *planner) pg(command string, table document, args document) document {
	return document{"type": "pg_" + command, "args": args.with(document{"source": p.want.source, "table": table["table"]})}
}

func (p *planner) remarkf(format string, args ...any) {
	p.plan.Remarks = append(p.plan.Remarks, fmt.Sprintf(format, args...))
}

func (p *planner) addTable(says string, command document) {
	p.plan.Tables = append(p.plan.Tables, Change{Says: says, command: command})
}
