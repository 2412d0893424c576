package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/store"
)

// queryRequest is /v2/query.
func (a *API) queryRequest(ctx context.Context, r *request) (any, *qerr.Error) {
	switch r.Type {
	case "run_sql", "pg_run_sql":
		return a.runSQL(ctx, r.Args)
	case "bulk", "concurrent_bulk":
		return a.bulkQuery(ctx, r)
	case "insert", "select", "update", "delete", "count", "pg_insert", "pg_select", "pg_update", "pg_delete", "pg_count":
		return nil, qerr.Unsupported("JSON queries of /v2/query")
	}
	return nil, qerr.Newf(qerr.ParseFailed, "unknown query type %q", r.Type)
}

func (a *API) bulkQuery(ctx context.Context, r *request) (any, *qerr.Error) {
	var items []json.RawMessage
	if err := decodeAt(r.Args, &items, "$.args"); err != nil {
		return nil, err
	}
	answers := make([]any, 0, len(items))
	for i, item := range items {
		one, err := parseRequest(item)
		var answer any
		if err == nil {
			answer, err = a.queryRequest(ctx, one)
		}
		if err != nil {
			return nil, err.At(fmt.Sprintf("$.args[%d]%s", i, strings.TrimPrefix(err.Path, "$")))
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// legacyRequest is /v1/query, the union of both.
func (a *API) legacyRequest(ctx context.Context, r *request) (any, *qerr.Error) {
	if r.Type == "run_sql" {
		return a.runSQL(ctx, r.Args)
	}
	return a.metadataRequest(ctx, r)
}

type sqlArgs struct {
	SourceName string `json:"source"`
	SQL        string `json:"sql"`
	Cascade    bool   `json:"cascade"`
	Check      *bool  `json:"check_metadata_consistency"`
	ReadOnly   bool   `json:"read_only"`
}

// sqlResult is what run_sql answers: texts only, the first row are names.
type sqlResult struct {
	Type   string     `json:"result_type"`
	Result [][]string `json:"result"`
}

// The words after which Hasura looks at the metadata again, and those after
// which the schema has to be read anew.
var (
	ddl        = regexp.MustCompile(`(?i)\b(alter|drop|replace|create function|comment on)\b`)
	schemaMay  = regexp.MustCompile(`(?i)\b(alter|drop|create|replace)\b`)
	alterTable = regexp.MustCompile(`(?i)\balter\s+table\b`)
	rename     = regexp.MustCompile(`(?i)\balter\s+table\b.*\brename\b`)
)

// runSQL runs a script in one transaction. If it may have changed the schema,
// the metadata must still fit, or it is rolled back.
func (a *API) runSQL(ctx context.Context, raw json.RawMessage) (any, *qerr.Error) {
	var r sqlArgs
	if err := args(raw, &r, "sql"); err != nil {
		return nil, err
	}
	state := a.backend.Current()
	if err := (onTable{SourceName: r.SourceName}).existing(state.Metadata); err != nil {
		return nil, err
	}
	run := &sqlRun{API: a, args: r, metadata: state.Metadata, bad: state.Inconsistent}
	err := a.db.Write(ctx, "", func(tx *store.Tx) error { return run.in(ctx, tx) })
	if known, ok := errors.AsType[*qerr.Error](err); ok {
		return nil, known
	}
	if err != nil {
		return nil, qerr.Internalf(err, "internal error")
	}
	if !r.ReadOnly && schemaMay.MatchString(r.SQL) {
		if err := a.backend.Put(ctx, run.metadata); err != nil {
			return nil, qerr.Internalf(err, "internal error")
		}
	}
	a.triggers.Wake()
	return run.result, nil
}

// sqlRun is one script on its way.
type sqlRun struct {
	*API
	args     sqlArgs
	metadata *metadata.Metadata
	bad      []metadata.InconsistentObject
	result   sqlResult
}

func (r *sqlRun) in(ctx context.Context, tx *store.Tx) error {
	if alterTable.MatchString(r.args.SQL) {
		if err := r.triggers.Detach(ctx, tx); err != nil {
			return err
		}
	}
	if err := r.all(ctx, tx); err != nil {
		return err
	}
	check := r.args.Check != nil && *r.args.Check || ddl.MatchString(r.args.SQL)
	if r.args.ReadOnly || !check {
		return nil
	}
	return r.check(ctx, tx)
}

func (r *sqlRun) all(ctx context.Context, tx *store.Tx) error {
	if r.args.ReadOnly {
		if _, err := tx.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
			return err
		}
		defer tx.ExecContext(ctx, "PRAGMA query_only = 0") //nolint:errcheck // a pragma of our own connection
	}
	r.result = sqlResult{Type: "CommandOk"}
	for _, statement := range statements(r.args.SQL) {
		result, err := query(ctx, tx, statement)
		if err != nil {
			return r.failed(ctx, tx, err)
		}
		r.result = result
		if err := r.triggers.Flush(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// query runs one statement.
func query(ctx context.Context, tx *store.Tx, statement string) (sqlResult, error) {
	rows, err := tx.QueryContext(ctx, statement)
	if err != nil {
		return sqlResult{}, err
	}
	defer rows.Close() //nolint:errcheck // only read
	columns, err := rows.ColumnTypes()
	if err != nil {
		return sqlResult{}, err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name()
	}
	out := [][]string{names}
	for rows.Next() {
		values := make([]any, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return sqlResult{}, err
		}
		row := make([]string, len(names))
		for i, v := range values {
			row[i] = cell(v, columns[i].DatabaseTypeName())
		}
		out = append(out, row)
	}
	if len(names) == 0 || rows.Err() != nil {
		return sqlResult{Type: "CommandOk"}, rows.Err()
	}
	return sqlResult{Type: "TuplesOk", Result: out}, nil
}

// cell is a value of a declared type as Postgres's text protocol has it.
func cell(v any, declared string) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return strconv.FormatBool(v)[:1]
	case int64:
		if strings.HasPrefix(strings.ToUpper(declared), "BOOL") {
			return strconv.FormatBool(v != 0)[:1]
		}
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// check compares the metadata with the schema as it now is.
func (r *sqlRun) check(ctx context.Context, tx *store.Tx) error {
	bad, err := r.backend.Check(ctx, r.metadata, tx)
	if err != nil {
		return err
	}
	fresh := newOnes(r.bad, bad)
	if len(fresh) == 0 {
		return nil
	}
	if rename.MatchString(r.args.SQL) {
		return qerr.Unsupported("renaming of tracked tables and columns through run_sql").At("$.args")
	}
	m, err := r.metadata.Clone()
	if err != nil {
		return err
	}
	gone, _, qe := r.prune(ctx, m, tx, r.bad, fresh)
	if qe != nil {
		return qe
	}
	// Dropping a tracked table is no dependency by itself, what leads to it is.
	gone = slices.DeleteFunc(gone, func(d dependent) bool { return strings.HasPrefix(d.name, "table ") })
	if len(gone) > 0 && !r.args.Cascade {
		return dependencies(gone)
	}
	r.metadata = m
	return nil
}
