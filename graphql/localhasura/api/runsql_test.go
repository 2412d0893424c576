package api_test

import (
	"encoding/json"
	"testing"
)

func sql(text, more string) string {
	raw, _ := json.Marshal(text)
	return cmd("run_sql", `{"sql":`+string(raw)+more+`}`)
}

func TestSQL(t *testing.T) {
	const done = `{"result_type":"CommandOk","result":null}`
	newWorld(t).steps("/v2/query",
		step{sql("insert into author values (1, 'Author 1', true), (2, 'x', null)", ""), done},
		step{sql("select id, name, active from author", ""), `{"result_type":"TuplesOk","result":[["id","name","active"],["1","Author 1","t"],["2","x","NULL"]]}`},
		step{sql("select 1; select 2 as two, 1.5 as f -- the last one counts", ""), `{"result_type":"TuplesOk","result":[["two","f"],["2","1.5"]]}`},
		step{sql("select id from author where id > 5", ""), `{"result_type":"TuplesOk","result":[["id"]]}`},
		step{sql("delete from author where id = 2 returning id", ""), `{"result_type":"TuplesOk","result":[["id"],["2"]]}`},
		step{sql("delete from author where id = 2", `,"read_only":true`), `{"path":"$.args","error":"query execution failed","code":"postgres-error",…"status_code":"25006"}…`},
		step{sql("delete from author where id = 2", ""), done},
		step{sql("insert into author values (1, 'again', true)", ""), `…"message":"duplicate key value violates unique constraint \"author_pkey\"","status_code":"23505"}…`},
		step{sql("insert into author(id) values (3)", ""), `…"message":"null value in column \"name\" of relation \"author\" violates not-null constraint","status_code":"23502"}…`},
		step{sql("insert into article(id, author_id) values (3, 99)", ""), `…"status_code":"23503"}…`},
		step{sql("selekt 1", ""), `…"message":"syntax error at or near \"selekt\"","status_code":"42601"}…`},
		step{sql("select nope from author", ""), `…"message":"column \"nope\" does not exist","status_code":"42703"}…`},
		step{sql("create table author(id integer)", ""), `…"message":"relation \"author\" already exists","status_code":"42P07"}…`},
		step{sql("select id from gone", ""), `{"path":"$.args","error":"query execution failed","code":"postgres-error","internal":{"arguments":[],"error":{…"status_code":"42P01"},"prepared":false,"statement":"select id from gone"}}`},
		step{sql("insert into author values (7, 'y', true); select id from gone", ""), `{"path":"$.args",…`},
		step{sql("select count(*) as n from author", ""), `{"result_type":"TuplesOk","result":[["n"],["1"]]}`},
		fails(cmd("run_sql", `{"source":"pg1","sql":"select 1"}`), "not-exists", `source with name "pg1" does not exist`, "$.args"),
		fails(cmd("run_sql", `{}`), "parse-failed", `key "sql" not found`, "$.args"),
		fails(cmd("select", `{}`), "not-supported", "not supported by the local Hasura: JSON queries of /v2/query; use a real one", "$"),
		step{cmd("bulk", `[`+sql("select 1 as a", "")+`,`+sql("select 2 as b", "")+`]`), `[{"result_type":"TuplesOk","result":[["a"],["1"]]},{"result_type":"TuplesOk","result":[["b"],["2"]]}]`},
		step{sql(`create trigger tr after insert on author begin update author set active = case when new.id > 5 then true else false end where id = new.id; end; insert into author(id, name) values (9, 'n'); select active from author where id = 9`, ""),
			`{"result_type":"TuplesOk","result":[["active"],["t"]]}`},
	)
}

func TestSQLKeepsMetadataConsistent(t *testing.T) {
	w := newWorld(t)
	w.steps("/v1/metadata", ok(trackAuthor), ok(trackArticle),
		ok(cmd("pg_create_select_permission", `{"table":"author","role":"user","permission":{"columns":["id","active"],"filter":{}}}`)),
		ok(cmd("pg_create_event_trigger", `{"name":"made","table":"author","webhook":"{{BASE}}/x","insert":{"columns":"*"}}`)),
		ok(cmd("pg_create_array_relationship", `{"table":"author","name":"articles","using":{"foreign_key_constraint_on":{"table":"article","column":"author_id"}}}`)))
	const done = `{"result_type":"CommandOk","result":null}`
	w.steps("/v2/query",
		fails(sql("alter table author drop column active", ""), "dependency-error", `cannot drop due to the following dependent objects: permission author.user.select in source "default"`, "$.args"),
		fails(sql("alter table author rename column active to on_duty", ""), "not-supported", "not supported by the local Hasura: renaming of tracked tables and columns through run_sql; use a real one", "$.args"),
		fails(sql("drop table article", ""), "dependency-error", `cannot drop due to the following dependent objects: relationship author.articles in source "default"`, "$.args"),
		step{sql("drop table article", `,"cascade":true`), done},
		step{sql("alter table author add column born text", ""), done},
		step{sql("alter table author drop column active", `,"cascade":true`), done},
	)
	w.steps("/v1/metadata",
		step{`{"type":"export_metadata","args":{}}`, `{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[{"table":{"schema":"public","name":"author"},"event_triggers":[{"name":"made",…}]}]}]}`},
		step{cmd("get_inconsistent_metadata", `{}`), `{"is_consistent":true,"inconsistent_objects":[]}`})
}
