package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

// command is one kind of request. It works on the draft and answers what the
// client gets.
type command func(*work, json.RawMessage) (any, *qerr.Error)

// refused are commands that Hasura has and the local one does not, by the
// feature that they belong to; a prefix counts.
var refused = map[string]string{
	"add_remote_schema": "remote schemas", "update_remote_schema": "remote schemas", "remove_remote_schema": "remote schemas",
	"reload_remote_schema": "remote schemas", "introspect_remote_schema": "remote schemas",
	"create_remote_schema": "remote schemas", "delete_remote_schema": "remote schemas",
	"create_scheduled_event": "one-off scheduled events", "delete_scheduled_event": "one-off scheduled events",
	"get_scheduled_event": "logs of scheduled events", "create_rest_endpoint": "REST endpoints", "drop_rest_endpoint": "REST endpoints",
	"test_webhook_transform": "request and response transforms", "dump_internal_state": "dump_internal_state",
	"get_catalog_state": "the console's state", "set_catalog_state": "the console's state",
	"add_host_to_tls_allowlist": "the TLS allow list", "set_api_limits": "API limits", "remove_api_limits": "API limits",
	"set_opentelemetry": "OpenTelemetry", "set_query_tags": "query tags",
	"pg_track_function": "functions", "pg_untrack_function": "functions", "pg_create_function_permission": "functions",
	"pg_drop_function_permission": "functions", "pg_set_function_customization": "functions",
	"pg_add_computed_field": "computed fields", "pg_drop_computed_field": "computed fields",
	"pg_create_remote_relationship": "remote relationships", "pg_update_remote_relationship": "remote relationships",
	"pg_delete_remote_relationship": "remote relationships", "pg_set_table_is_enum": "enum tables",
	"pg_suggest_relationships": "suggestions of relationships", "pg_get_event": "logs of events over the API",
	"pg_update_source": "changes of a source's connection", "pg_add_source": "more than the sources of the metadata",
	"pg_rename_source": "renaming sources", "pg_set_table_custom_fields": "set_table_custom_fields (use pg_set_table_customization)",
}

// general are the commands without a prefix.
func general() map[string]command {
	return map[string]command{
		"export_metadata": exportMetadata, "replace_metadata": replaceMetadata, "clear_metadata": clearMetadata,
		"reload_metadata": reloadMetadata, "get_inconsistent_metadata": getInconsistent, "drop_inconsistent_metadata": dropInconsistent,
		"bulk": bulk, "bulk_atomic": bulk, "bulk_keep_going": bulkKeepGoing,
		"create_action": createAction, "update_action": updateAction, "drop_action": dropAction,
		"create_action_permission": createActionPermission, "drop_action_permission": dropActionPermission,
		"set_custom_types":    setCustomTypes,
		"create_cron_trigger": createCron, "delete_cron_trigger": deleteCron, "get_cron_triggers": getCrons,
		"add_inherited_role": addInheritedRole, "drop_inherited_role": dropInheritedRole,
		"create_query_collection": createCollection, "drop_query_collection": dropCollection,
		"add_query_to_collection": addQuery, "drop_query_from_collection": dropQuery,
		"add_collection_to_allowlist": allowCollection, "drop_collection_from_allowlist": disallowCollection,
		"set_graphql_schema_introspection_options": setIntrospection,
	}
}

// postgres are the commands that start with pg_.
func postgres() map[string]command {
	return map[string]command{
		"track_table": trackTable, "track_tables": trackTables, "untrack_table": untrackTable, "untrack_tables": untrackTables,
		"set_table_customization":    setTableCustomization,
		"create_object_relationship": createRelationship(object), "create_array_relationship": createRelationship(array),
		"drop_relationship": dropRelationship, "rename_relationship": renameRelationship,
		"create_insert_permission": createInsert, "create_select_permission": createSelect,
		"create_update_permission": createUpdate, "create_delete_permission": createDelete,
		"drop_insert_permission": dropPermission("insert"), "drop_select_permission": dropPermission("select"),
		"drop_update_permission": dropPermission("update"), "drop_delete_permission": dropPermission("delete"),
		"set_permission_comment": setPermissionComment,
		"create_event_trigger":   createEvent, "delete_event_trigger": deleteEvent,
		"invoke_event_trigger": invokeEvent, "redeliver_event": redeliverEvent,
		"drop_source": dropSource,
	}
}

// find looks a command up and words what is unknown as Hasura does.
func find(name string) (command, *qerr.Error) {
	if c, ok := general()[name]; ok {
		return c, nil
	}
	for known, feature := range refused {
		if strings.HasPrefix(name, known) {
			return nil, qerr.Unsupported(feature)
		}
	}
	backend, rest, _ := strings.Cut(name, "_")
	if backend != "pg" && backend != "postgres" {
		return nil, qerr.Newf(qerr.ParseFailed, "unknown metadata command %q; %q was not recognized as a valid backend name", name, backend)
	}
	if c, ok := postgres()[rest]; ok {
		return c, nil
	}
	return nil, qerr.Newf(qerr.ParseFailed, "unknown metadata command %q for backend postgres", rest)
}

// work is one request on its way. Commands change the draft only if the
// result is consistent; it is put in force at the end.
type work struct {
	*API
	ctx     context.Context //nolint:containedctx // a work is one request and ends with it
	request *request
	draft   *metadata.Metadata
	bad     []metadata.InconsistentObject // of the draft
	changed bool
	after   []func() // once the draft is in force
}

func (a *API) metadataRequest(ctx context.Context, r *request) (any, *qerr.Error) {
	state := a.backend.Current()
	if r.ResourceVersion != nil && *r.ResourceVersion != state.Version {
		return nil, qerr.Newf(qerr.Conflict, "metadata resource version referenced (%d) did not match current version", *r.ResourceVersion).
			WithStatus(http.StatusConflict)
	}
	w := &work{API: a, ctx: ctx, request: r, draft: state.Metadata, bad: state.Inconsistent}
	answer, err := w.run(r)
	if err != nil {
		return nil, err
	}
	return answer, w.commit()
}

func (w *work) run(r *request) (any, *qerr.Error) {
	c, err := find(r.Type)
	if err != nil {
		return nil, err
	}
	outer := w.request
	w.request = r
	defer func() { w.request = outer }()
	return c(w, r.Args)
}

func (w *work) commit() *qerr.Error {
	if w.changed {
		if err := w.backend.Put(w.ctx, w.draft); err != nil {
			return qerr.Internalf(err, "internal error")
		}
	}
	for _, f := range w.after {
		f()
	}
	return nil
}

// change applies modify to a copy of the draft and keeps the copy if nothing
// new became inconsistent. kind is the type of the object that the command is
// about: if that is the inconsistent one, the error says why.
func (w *work) change(kind string, modify func(*metadata.Metadata)) *qerr.Error {
	m, bad, err := w.try(modify)
	if err != nil {
		return err
	}
	if fresh := newOnes(w.bad, bad); len(fresh) > 0 {
		return inconsistency(kind, fresh)
	}
	w.draft, w.bad, w.changed = m, bad, true
	return nil
}

// try is change without the decision.
func (w *work) try(modify func(*metadata.Metadata)) (*metadata.Metadata, []metadata.InconsistentObject, *qerr.Error) {
	m, fault := w.draft.Clone()
	if fault != nil {
		return nil, nil, qerr.Internalf(fault, "internal error")
	}
	modify(m)
	if err := m.Unsupported(); err != nil {
		return nil, nil, err.At("$.args")
	}
	bad, fault := w.backend.Check(w.ctx, m, w.db)
	if fault != nil {
		return nil, nil, qerr.Internalf(fault, "internal error")
	}
	return m, bad, nil
}

func newOnes(before, after []metadata.InconsistentObject) []metadata.InconsistentObject {
	known := map[string]bool{}
	for _, o := range before {
		known[o.Type+" "+o.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(after), func(o metadata.InconsistentObject) bool { return known[o.Type+" "+o.Name] })
}

func inconsistency(kind string, fresh []metadata.InconsistentObject) *qerr.Error {
	var reasons []string
	var own []metadata.InconsistentObject
	for _, o := range fresh {
		if o.Type == kind {
			reasons, own = append(reasons, o.Reason), append(own, o)
		}
	}
	e := failf(qerr.Unexpected, "cannot continue due to new inconsistent metadata")
	e.Internal = fresh
	if own != nil {
		e = failf(qerr.InvalidConfig, "%s", strings.Join(reasons, ", "))
		e.Internal = own
	}
	return e
}

// bulk runs commands one after another; the first error ends it and nothing
// is kept.
func bulk(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var list []json.RawMessage
	if err := decodeAt(raw, &list, "$.args"); err != nil {
		return nil, err
	}
	answers := make([]any, 0, len(list))
	for i, item := range list {
		answer, err := w.member(item)
		if err != nil {
			return nil, err.At(fmt.Sprintf("$.args[%d]%s", i, strings.TrimPrefix(err.Path, "$")))
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

func bulkKeepGoing(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var list []json.RawMessage
	if err := decodeAt(raw, &list, "$.args"); err != nil {
		return nil, err
	}
	answers := make([]any, 0, len(list))
	for i, item := range list {
		answer, err := w.member(item)
		if err != nil {
			at := err.At(fmt.Sprintf("$.args[%d]%s", i, strings.TrimPrefix(err.Path, "$")))
			answer = json.RawMessage(at.Plain(true))
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

func (w *work) member(raw json.RawMessage) (any, *qerr.Error) {
	r, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	r.session = w.request.session
	return w.run(r)
}
