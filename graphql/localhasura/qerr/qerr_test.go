package qerr_test

import (
	"encoding/json"
	"errors"
	"testing"

	"hasura-storage/graphql/localhasura/qerr"
)

func TestRenderings(t *testing.T) {
	internal := qerr.Internalf(errors.New("cause"), "database %s", "query error")
	for name, c := range map[string]struct {
		err            *qerr.Error
		internal       bool
		graphql, plain string
		status         int
	}{
		"a plain one": {qerr.New(qerr.ValidationFailed, "a < b").At("$.query"), true,
			`{"errors":[{"message":"a < b","extensions":{"path":"$.query","code":"validation-failed"}}]}`,
			`{"path":"$.query","error":"a < b","code":"validation-failed"}`, 400},
		"without a path": {&qerr.Error{Code: "c", Message: "m"}, false,
			`{"errors":[{"message":"m","extensions":{"path":"$","code":"c"}}]}`,
			`{"path":"$","error":"m","code":"c"}`, 400},
		"an internal part that is hidden": {internal, false,
			`{"errors":[{"message":"database query error","extensions":{"path":"$","code":"unexpected"}}]}`,
			`{"path":"$","error":"database query error","code":"unexpected"}`, 500},
		"an internal part that is shown": {internal, true,
			`{"errors":[{"message":"database query error","extensions":{"path":"$","code":"unexpected","internal":"cause"}}]}`,
			`{"path":"$","error":"database query error","code":"unexpected","internal":"cause"}`, 500},
		"extensions of a webhook": {&qerr.Error{Code: "c", Message: "m", Extensions: json.RawMessage(`{"x":1}`), Status: 422}, true,
			`{"errors":[{"message":"m","extensions":{"x":1}}]}`,
			`{"path":"$","error":"m","code":"c"}`, 422},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(c.err.GraphQL(c.internal)); got != c.graphql {
				t.Errorf("GraphQL = %s\nwant      %s", got, c.graphql)
			}
			if got := string(c.err.Plain(c.internal)); got != c.plain {
				t.Errorf("Plain = %s\nwant    %s", got, c.plain)
			}
			if got := c.err.HTTPStatus(); got != c.status {
				t.Errorf("status = %d, want %d", got, c.status)
			}
		})
	}
}

func TestCopiesLeaveTheOriginalAlone(t *testing.T) {
	e := qerr.New(qerr.NotFound, "m")
	if e.At("$.x").Path != "$.x" || e.WithStatus(404).Status != 404 || e.Path != "$" || e.Status != 400 {
		t.Errorf("error = %+v", e)
	}
}
