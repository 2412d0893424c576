package api_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	trackAuthor  = `{"type":"pg_track_table","args":{"source":"default","table":"author"}}`
	trackArticle = `{"type":"pg_track_table","args":{"table":{"schema":"public","name":"article"}}}`
)

func TestWhoMay(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		status     int
		want       string
	}{
		"a wrong secret": {"/v1/metadata", `{"type":"export_metadata","args":{}}`, []string{"X-Hasura-Admin-Secret", "x"}, 401,
			`{"path":"$","error":"invalid \"x-hasura-admin-secret\"/\"x-hasura-access-key\"","code":"access-denied"}`},
		"another role": {"/v1/metadata", `{"type":"export_metadata","args":{}}`, []string{"X-Hasura-Role", "user"}, 400,
			`{"path":"$.args","error":"restricted access : admin only","code":"access-denied"}`},
		"another role and SQL": {"/v2/query", cmd("run_sql", `{"sql":"select 1"}`), []string{"X-Hasura-Role", "user"}, 400,
			`{"path":"$.args","error":"restricted access : admin only","code":"access-denied"}`},
		"no body":         {"/v1/metadata", ``, nil, 400, `{"path":"$","error":"Unexpected end-of-input, expecting JSON value","code":"invalid-json"}`},
		"no JSON":         {"/v1/metadata", `not json`, nil, 400, `{"path":"$","error":"Unexpected \"not json\", expecting JSON value","code":"invalid-json"}`},
		"no type":         {"/v1/metadata", `{}`, nil, 400, `{"path":"$","error":"key \"type\" not found","code":"parse-failed"}`},
		"an unknown word": {"/v1/metadata", cmd("foo_bar", `{}`), nil, 400, `{"path":"$","error":"unknown metadata command \"foo_bar\"; \"foo\" was not recognized as a valid backend name","code":"parse-failed"}`},
		"an unknown one":  {"/v1/metadata", cmd("pg_bar", `{}`), nil, 400, `{"path":"$","error":"unknown metadata command \"bar\" for backend postgres","code":"parse-failed"}`},
		"a refused one":   {"/v1/metadata", cmd("create_scheduled_event", `{}`), nil, 400, `{"path":"$","error":"not supported by the local Hasura: one-off scheduled events; use a real one","code":"not-supported"}`},
		"another path":    {"/v1/other", `{}`, nil, 404, `{"path":"$","error":"resource does not exist","code":"not-found"}`},
		"an old version":  {"/v1/metadata", `{"type":"export_metadata","args":{},"resource_version":99}`, nil, 409, `{"path":"$","error":"metadata resource version referenced (99) did not match current version","code":"conflict"}`},
		"the right version": {"/v1/metadata", `{"type":"export_metadata","version":2,"args":{},"resource_version":1}`, nil, 200,
			`{"resource_version":1,"metadata":{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[]}]}}`},
		"the legacy path": {"/v1/query", `{"type":"export_metadata","args":{}}`, nil, 200, `{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := w.post(c.path, c.body, c.headers...)
			if status != c.status || got != c.want {
				t.Errorf("answer = %d %s\nwant     %d %s", status, got, c.status, c.want)
			}
		})
	}
}

func TestTables(t *testing.T) {
	newWorld(t).steps("/v1/metadata",
		ok(trackAuthor), ok(trackArticle),
		ok(cmd("pg_track_table", `{"table":{"schema":"blog","name":"post"},"configuration":{"custom_name":"posts"}}`)),
		fails(trackAuthor, "already-tracked", `view/table already tracked: "author"`, "$.args"),
		fails(cmd("pg_track_table", `{"table":{"schema":"blog","name":"post"}}`), "already-tracked", `view/table already tracked: "blog.post"`, "$.args"),
		fails(cmd("pg_track_table", `{"table":"gone"}`), "not-exists", `no such table/view exists in source: "gone"`, "$.args"),
		fails(cmd("pg_track_table", `{"source":"pg1","table":"author"}`), "not-exists", `source with name "pg1" does not exist`, "$.args"),
		fails(cmd("pg_track_table", `{"source":"default"}`), "parse-failed", `key "table" not found`, "$.args"),
		fails(cmd("pg_track_table", `{"table":5}`), "parse-failed", `parsing Object failed, expected Object, but encountered Number`, "$.args.table"),
		ok(cmd("pg_create_array_relationship", `{"table":"author","name":"articles","using":{"foreign_key_constraint_on":{"table":"article","column":"author_id"}}}`)),
		fails(cmd("pg_create_array_relationship", `{"table":"author","name":"articles","using":{}}`), "already-exists", `field with name "articles" already exists in table "author"`, "$.args"),
		fails(cmd("pg_untrack_table", `{"table":"article"}`), "dependency-error", `cannot drop due to the following dependent objects: relationship author.articles in source "default"`, "$.args"),
		ok(cmd("pg_untrack_table", `{"table":"article","cascade":true}`)),
		fails(cmd("pg_untrack_table", `{"table":"article"}`), "already-untracked", `view/table already untracked: "article"`, "$.args"),
		fails(cmd("pg_drop_relationship", `{"table":"author","relationship":"articles"}`), "not-exists", `relationship "articles" does not exist in table "author"`, "$.args"),
		ok(cmd("pg_set_table_customization", `{"table":"author","configuration":{"custom_name":"writers"}}`)),
		step{`{"type":"export_metadata","args":{}}`, `{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[{"table":{"schema":"blog","name":"post"},"configuration":{"custom_name":"posts"}},{"table":{"schema":"public","name":"author"},"configuration":{"custom_name":"writers"}}]}]}`},
	)
}

func TestPermissions(t *testing.T) {
	const create = `{"table":"author","role":"user","permission":{"columns":["id"],"filter":{}}}`
	newWorld(t).steps("/v1/metadata",
		ok(trackAuthor),
		ok(cmd("pg_create_select_permission", create)),
		fails(cmd("pg_create_select_permission", create), "already-exists", `select permission already defined on table "author" with role "user"`, "$.args"),
		fails(cmd("pg_create_select_permission", strings.Replace(create, "user", "admin", 1)), "already-exists", `select permission already defined on table "author" with role "admin"`, "$.args"),
		fails(cmd("pg_create_select_permission", `{"table":"author","role":"b","permission":{"columns":["nope"],"filter":{}}}`), "invalid-configuration", `Inconsistent object: column "nope" does not exist`, "$.args"),
		fails(cmd("pg_create_select_permission", `{"table":"article","role":"b","permission":{"columns":["id"],"filter":{}}}`), "not-exists", `table "article" does not exist in source: default`, "$.args"),
		ok(cmd("pg_create_insert_permission", `{"table":"author","role":"user","permission":{"check":{},"columns":"*"}}`)),
		ok(cmd("pg_create_update_permission", `{"table":"author","role":"user","permission":{"columns":[],"filter":{}}}`)),
		ok(cmd("pg_create_delete_permission", `{"table":"author","role":"user","permission":{"filter":{}}}`)),
		ok(cmd("pg_set_permission_comment", `{"table":"author","role":"user","type":"select","comment":"why"}`)),
		step{`{"type":"export_metadata","args":{}}`, `…"select_permissions":[{"role":"user","permission":{"columns":["id"],"filter":{}},"comment":"why"}],"update_permissions":[{"role":"user","permission":{"columns":[],"filter":{},"check":null}}],"delete_permissions":[{"role":"user","permission":{"filter":{}}}]}]}]}`},
		ok(cmd("pg_drop_select_permission", `{"table":"author","role":"user"}`)),
		fails(cmd("pg_drop_select_permission", `{"table":"author","role":"user"}`), "permission-denied", `select permission on "author" for role "user" does not exist`, "$.args"),
	)
}

func TestActions(t *testing.T) {
	const create = `{"name":"act","definition":{"handler":"{{BASE}}/x","output_type":"T","headers":[{"name":"a","value_from_env":"X"}],"arguments":[{"name":"a","type":"Int!"}]},"comment":"c"}`
	newWorld(t).steps("/v1/metadata",
		ok(cmd("set_custom_types", `{"objects":[{"name":"T","fields":[{"name":"id","type":"Int!"}]}]}`)),
		ok(cmd("create_action", create)),
		fails(cmd("create_action", create), "already-exists", `action with name "act" already exists`, "$.args"),
		fails(cmd("update_action", strings.Replace(create, "act", "other", 1)), "not-exists", `action with name "other" does not exist`, "$.args"),
		ok(cmd("update_action", create)),
		ok(cmd("create_action_permission", `{"action":"act","role":"user"}`)),
		fails(cmd("create_action_permission", `{"action":"act","role":"user"}`), "already-exists", `permission for role "user" is already defined on "act"`, "$.args"),
		fails(cmd("create_action", `{"name":"bad","definition":{"handler":"x","output_type":"T","headers":[{"name":"a","value_from_env":"HASURA_GRAPHQL_ADMIN_SECRET"}]}}`), "parse-failed",
			`env variables starting with "HASURA_GRAPHQL_" are not allowed in value_from_env: HASURA_GRAPHQL_ADMIN_SECRET`, "$.definition.headers[0]"),
		fails(cmd("create_action", `{"name":"slow","definition":{"kind":"asynchronous","handler":"x","output_type":"T"}}`), "not-supported",
			`not supported by the local Hasura: asynchronous actions (action "slow"); use a real one`, "$.args"),
		step{`{"type":"export_metadata","args":{}}`, `…"actions":[{"name":"act","definition":{"handler":"{{BASE}}/x","output_type":"T","arguments":[{"name":"a","type":"Int!"}],"type":"mutation","kind":"synchronous","headers":[{"name":"a","value_from_env":"X"}],"ignored_client_headers":["Content-Length","Content-MD5","User-Agent","Host","Origin","Referer","Accept","Accept-Encoding","Accept-Language","Accept-Datetime","Cache-Control","Connection","DNT","Content-Type"]},"comment":"c","permissions":[{"role":"user"}]}],"custom_types":{"objects":[{"name":"T","fields":[{"name":"id","type":"Int!"}]}]}}`},
		ok(cmd("drop_action_permission", `{"action":"act","role":"user"}`)),
		ok(cmd("drop_action", `{"name":"act"}`)),
		fails(cmd("drop_action", `{"name":"act"}`), "not-exists", `action with name "act" does not exist`, "$.args"),
	)
}

func TestTriggers(t *testing.T) {
	const create = `{"name":"made","table":"author","webhook":"{{BASE}}/x","insert":{"columns":"*"},"enable_manual":true`
	newWorld(t).steps("/v1/metadata",
		ok(trackAuthor),
		ok(cmd("pg_create_event_trigger", create+`}`)),
		fails(cmd("pg_create_event_trigger", create+`}`), "already-exists", `event trigger with name "made" already exists`, "$.args"),
		ok(cmd("pg_create_event_trigger", create+`,"replace":true,"retry_conf":{"num_retries":2,"interval_sec":5}}`)),
		fails(cmd("pg_create_event_trigger", `{"name":"none","table":"author","webhook":"x"}`), "parse-failed", "atleast one amongst insert/update/delete/enable_manual spec must be provided", "$.args"),
		fails(cmd("pg_create_event_trigger", `{"name":"none","table":"author","insert":{"columns":"*"}}`), "parse-failed", "must provide webhook or webhook_from_env", "$.args"),
		step{cmd("pg_invoke_event_trigger", `{"name":"made","payload":{"a":1}}`), `{"event_id":"…"}`},
		fails(cmd("pg_invoke_event_trigger", `{"name":"gone","payload":{}}`), "not-exists", `event trigger with name "gone" does not exist`, "$.args"),
		step{`{"type":"export_metadata","args":{}}`, `…"event_triggers":[{"name":"made","definition":{"enable_manual":true,"insert":{"columns":"*"}},"retry_conf":{"num_retries":2,"interval_sec":5,"timeout_sec":60},"webhook":"{{BASE}}/x"}]}]}]}`},
		ok(cmd("pg_delete_event_trigger", `{"name":"made"}`)),
		ok(cmd("create_cron_trigger", `{"name":"tick","webhook":"{{BASE}}/t","schedule":"* * * * *","include_in_metadata":true}`)),
		fails(cmd("create_cron_trigger", `{"name":"tick","webhook":"{{BASE}}/t","schedule":"* * * * *","include_in_metadata":true}`), "already-exists", "cron trigger with name: tick already exists", "$.args"),
		fails(cmd("create_cron_trigger", `{"name":"tock","webhook":"{{GONE}}","schedule":"* * * * *","include_in_metadata":true}`), "invalid-configuration", "Inconsistent object: value for environment variables not found: GONE", "$.args"),
		ok(cmd("delete_cron_trigger", `{"name":"tick"}`)),
	)
}

func TestCollectionsAndRoles(t *testing.T) {
	newWorld(t).steps("/v1/metadata",
		ok(cmd("create_query_collection", `{"name":"c","definition":{"queries":[{"name":"q","query":"query { a }"}]}}`)),
		fails(cmd("create_query_collection", `{"name":"c","definition":{"queries":[]}}`), "already-exists", `query collection with name "c" already exists`, "$.args"),
		ok(cmd("add_query_to_collection", `{"collection_name":"c","query_name":"r","query":"query { b }"}`)),
		ok(cmd("add_collection_to_allowlist", `{"collection":"c"}`)),
		ok(cmd("drop_query_from_collection", `{"collection_name":"c","query_name":"q"}`)),
		ok(cmd("add_inherited_role", `{"role_name":"e","role_set":["a","b"]}`)),
		ok(cmd("set_graphql_schema_introspection_options", `{"disabled_for_roles":["a"]}`)),
		step{`{"type":"export_metadata","args":{}}`, `{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[]}],"query_collections":[{"name":"c","definition":{"queries":[{"name":"r","query":"query { b }"}]}}],"allowlist":[{"collection":"c"}],"inherited_roles":[{"role_name":"e","role_set":["a","b"]}],"graphql_schema_introspection":{"disabled_for_roles":["a"]}}`},
		step{cmd("drop_query_collection", `{"collection":"c"}`), `{"path":"$.args",…"code":"dependency-error"}`},
		ok(cmd("drop_collection_from_allowlist", `{"collection":"c"}`)),
		ok(cmd("drop_query_collection", `{"collection":"c","cascade":false}`)),
		ok(cmd("drop_inherited_role", `{"role_name":"e"}`)),
	)
}

func TestBulkIsAllOrNothing(t *testing.T) {
	newWorld(t).steps("/v1/metadata",
		fails(cmd("bulk", `[`+trackAuthor+`,`+trackAuthor+`]`), "already-tracked", `view/table already tracked: "author"`, "$.args[1].args"),
		step{cmd("bulk", `[`+trackAuthor+`,{"type":"export_metadata","args":{}}]`), `[{"message":"success"},{"version":3,"sources":[…}]`},
		step{cmd("bulk_keep_going", `[`+trackAuthor+`,`+trackArticle+`]`), `[{"path":"$.args[0].args","error":"view/table already tracked: \"author\"","code":"already-tracked"},{"message":"success"}]`},
	)
}

func TestReplace(t *testing.T) {
	const bad = `{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[{"table":"foobar"},{"table":"author"}]}]}`
	const broken = `{"definition":{"schema":"public","name":"foobar"},"name":"table foobar in source default","reason":"Inconsistent object: no such table/view exists in source: \"foobar\"","type":"table"}`
	newWorld(t).steps("/v1/metadata",
		step{cmd("replace_metadata", bad), `{"path":"$.args","error":"cannot continue due to inconsistent metadata","code":"unexpected","internal":[` + broken + `]}`},
		step{cmd("replace_metadata", `{"allow_inconsistent_metadata":true,"metadata":`+bad+`}`), `{"is_consistent":false,"inconsistent_objects":[` + broken + `]}`},
		step{cmd("get_inconsistent_metadata", `{}`), `{"is_consistent":false,"inconsistent_objects":[` + broken + `]}`},
		step{cmd("reload_metadata", `{}`), `{"inconsistent_objects":[` + broken + `],"is_consistent":false,"message":"success"}`},
		ok(cmd("drop_inconsistent_metadata", `{}`)),
		step{cmd("get_inconsistent_metadata", `{}`), `{"is_consistent":true,"inconsistent_objects":[]}`},
		step{`{"type":"export_metadata","args":{}}`, `{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[{"table":{"schema":"public","name":"author"}}]}]}`},
		ok(cmd("replace_metadata", `{"version":2,"tables":[{"table":"article"}]}`)),
		fails(cmd("replace_metadata", `{"version":3,"sources":[],"remote_schemas":[{"name":"r"}]}`), "not-supported", "not supported by the local Hasura: remote schemas; use a real one", "$.args"),
		fails(cmd("replace_metadata", `{"version":7}`), "parse-failed", "unexpected metadata version: 7; expected 2 or 3", "$.args"),
		ok(cmd("clear_metadata", `{}`)),
		step{`{"type":"export_metadata","args":{}}`, `{"version":3,"sources":[]}`},
	)
}

func TestHealthAndVersion(t *testing.T) {
	w := newWorld(t)
	get := func(path string) string {
		answer, err := http.Get(w.server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		raw, _ := io.ReadAll(answer.Body)
		return answer.Status[:3] + " " + string(raw)
	}
	expect := func(path, want string) {
		t.Helper()
		if got := get(path); got != want {
			t.Errorf("GET %s = %s, want %s", path, got, want)
		}
	}
	expect("/healthz", "200 OK")
	expect("/v1/version", `200 {"server_type":"ce","version":"v2.43.0","local":true}`)
	expect("/v1/metadata", `404 {"path":"$","error":"resource does not exist","code":"not-found"}`)
	w.post("/v1/metadata", cmd("replace_metadata", `{"allow_inconsistent_metadata":true,"metadata":{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[{"table":"gone"}]}]}}`))
	expect("/hasura/healthz", "200 WARN: inconsistent objects in schema")
	expect("/healthz?strict=true", "500 ERROR: inconsistent objects in schema")
}

func TestSQLFiresTriggers(t *testing.T) {
	w := newWorld(t)
	w.steps("/v1/metadata", ok(trackAuthor), ok(cmd("pg_create_event_trigger", `{"name":"made","table":"author","webhook":"{{BASE}}/x","insert":{"columns":"*"},"update":{"columns":"*"}}`)))
	w.engine.Pause("made")
	w.steps("/v2/query", step{cmd("run_sql", `{"sql":"insert into author(id, name) values (1, 'a;b'); update author set name = 'c'"}`), `{"result_type":"CommandOk","result":null}`})
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	events, err := w.engine.Events(ctx, "made")
	if err != nil || len(events) != 2 || !strings.Contains(string(events[0].Payload), `"session_variables":null`) {
		t.Errorf("events = %+v, error = %v", events, err)
	}
}
