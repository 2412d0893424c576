package project

import (
	"maps"
	"path"
	"slices"
	"strings"
)

func (p *planner) service(says, object string, command, undo document) {
	p.plan.Services = append(p.plan.Services, Change{Says: says, object: object, command: command, undo: undo})
}

// types plans one command, since Hasura replaces all types at once: the
// project's own are sent along. known says that Hasura has actions of ours, so
// that types of our names are ours as well, of an older release perhaps. It
// returns the name of a type that is the project's, "" if there is none.
func (p *planner) types(have document, known bool) (taken string) {
	merged, changed := document{}, false
	for _, kind := range kinds {
		list := have.list(kind)
		for _, want := range p.want.types[kind] {
			i := slices.IndexFunc(list, func(d document) bool { return d.text("name") == want.text("name") })
			switch {
			case i < 0:
				list, changed = append(list, want), true
			case !sameType(list[i], want) && !known:
				return want.text("name")
			case !sameType(list[i], want):
				list[i], changed = withTheirs(want, list[i]), true
			}
		}
		merged[kind] = list
	}
	if changed {
		before := document{}
		for _, kind := range kinds {
			before[kind] = have.list(kind)
		}
		p.service("define the types of the actions", "", document{"type": "set_custom_types", "args": merged},
			document{"type": "set_custom_types", "args": before})
	}
	return ""
}

// ourAction tells an action of ours from one that happens to have its name.
func ourAction(action document) bool {
	return strings.HasSuffix(action.sub("definition").text("handler"), "/actions/"+action.text("name"))
}

// ourTrigger does so for event triggers.
func ourTrigger(have, want document) bool {
	return path.Base(have.text("webhook")) == path.Base(want.text("webhook"))
}

func sameType(have, want document) bool {
	for _, relationship := range want.list("relationships") {
		existing, _ := named(have.list("relationships"), relationship.text("name"))
		if !covers(existing, relationship) {
			return false
		}
	}
	want = maps.Clone(want)
	delete(want, "relationships")
	return covers(have, want)
}

// withTheirs is our type with the relationships that the project added to it.
func withTheirs(want, have document) document {
	all := want.list("relationships")
	for _, relationship := range have.list("relationships") {
		if _, ok := named(all, relationship.text("name")); !ok {
			all = append(all, relationship)
		}
	}
	if len(all) == 0 {
		return want
	}
	return want.with(document{"relationships": all})
}

// shape is the part of an action's definition that the service answers for.
// How Hasura reaches it is the project's business once it is there.
var shape = []string{"type", "output_type", "arguments"}

func (p *planner) action(want document, existing []document) {
	name := want.text("name")
	have, ok := named(existing, name)
	if !ok {
		p.service("add the action "+name, name, document{"type": "create_action", "args": want.only("name", "definition", "comment")},
			document{"type": "drop_action", "args": document{"name": name, "clear_data": true}})
		p.actionPermissions(want)
		return
	}
	definition := want.sub("definition").only(shape...)
	if covers(have.sub("definition"), definition) {
		return
	}
	if !ourAction(have) {
		p.remarkf("the action %s is not the service's: it was left as it is", name)
		return
	}
	args := have.only("name", "comment").with(document{"definition": have.sub("definition").with(definition)})
	p.service("give the action "+name+" its new form", name, document{"type": "update_action", "args": args},
		document{"type": "update_action", "args": have.only("name", "definition", "comment")})
}

func (p *planner) actionPermissions(action document) {
	if !p.starter {
		return
	}
	for _, permission := range action.list("permissions") {
		role := permission.text("role")
		p.service("let the role "+role+" call "+action.text("name"), "",
			document{"type": "create_action_permission", "args": document{"action": action.text("name"), "role": role}}, nil)
	}
}

// cron adds a trigger. When one runs is the project's business once it is there.
func (p *planner) cron(want document, existing []document) {
	name := want.text("name")
	if _, ok := named(existing, name); ok {
		return
	}
	p.service("add the cron trigger "+name, name, document{"type": "create_cron_trigger", "args": want},
		document{"type": "delete_cron_trigger", "args": document{"name": name}})
}

// event adds an event trigger, or gives one that is there what it listens to.
func (p *planner) event(table, want, source document) {
	name, on := want.text("name"), tableName(table["table"])
	have, found := document(nil), false
	for _, other := range source.list("tables") {
		trigger, ok := named(other.list("event_triggers"), name)
		if ok && tableName(other["table"]) != on {
			p.remarkf("the event trigger %s is on %s, not on %s: it has another meaning", name, tableName(other["table"]), on)
			return
		}
		if ok {
			have, found = trigger, true
		}
	}
	args := want.only("name", "webhook", "headers", "retry_conf").with(want.sub("definition"))
	if !found {
		p.service("add the event trigger "+name, name, p.pg("create_event_trigger", table, args), document{
			"type": "pg_delete_event_trigger", "args": document{"source": p.want.source, "name": name},
		})
		return
	}
	if covers(have.sub("definition"), want.sub("definition")) {
		return
	}
	if !ourTrigger(have, want) {
		p.remarkf("the event trigger %s does not call the service: it was left as it is", name)
		return
	}
	args = have.with(want.sub("definition")).with(document{"replace": true})
	delete(args, "definition")
	p.service("give the event trigger "+name+" its new form", name, p.pg("create_event_trigger", table, args), nil)
}
