package handlers_test

import (
	"errors"
	"fmt"
	"testing"

	"hasura-storage/actions"
)

// eventOf is a delivery as Hasura posts it for storage.files.
func eventOf(retry int, data string) string {
	return fmt.Sprintf(`{"id":"e1","created_at":"2024-05-02T10:11:12.123456","delivery_info":{"current_retry":%d,"max_retries":3},
		"trigger":{"name":"storage_file_deleted"},"table":{"schema":"storage","name":"files"},
		"event":{"op":"DELETE","session_variables":null,"data":%s,"trace_context":null}}`, retry, data)
}

func TestEvents(t *testing.T) {
	old := `{"old":{"id":"f1","object_key":"k"},"new":null}`
	away := actions.Errorf(actions.StorageUnavailable, "the store is away").Because(errors.New("dial tcp"))
	runAll(t, map[string]scenario{
		"a deleted row": {
			path: "/events/file-deleted", body: eventOf(0, old),
			status: 200, has: []string{`{"done":true}`}, calls: []string{"gone f1"}, logs: []string{`"route":"/events/file-deleted"`},
		},
		"a replaced row": {
			path: "/events/file-replaced", body: eventOf(0, `{"old":{"id":"f1"},"new":{"id":"f1"}}`),
			status: 200, calls: []string{"gone f1"},
		},
		"sent by hand": {
			path: "/events/file-deleted", body: eventOf(0, `{"old":null,"new":{"id":"f2"}}`),
			status: 200, calls: []string{"gone f2"},
		},
		"of another table": {
			path: "/events/file-deleted", body: `{"table":{"schema":"public","name":"files"},"event":{"data":{"old":{"id":"f1"}}}}`,
			status: 200, has: []string{`"ignored":true`, `"reason":"the event is of another table`},
		},
		"without a row": {
			path: "/events/file-deleted", body: eventOf(0, `{"old":null,"new":null}`),
			status: 200, has: []string{`"ignored":true`, "no id"},
		},
		"not JSON": {
			path: "/events/file-deleted", body: `nonsense`,
			status: 200, has: []string{`"ignored":true`, "not JSON"},
		},
		"an id that is a number": {
			path: "/events/file-deleted", body: eventOf(0, `{"old":{"id":7}}`),
			status: 200, has: []string{`"ignored":true`, "must be a string"},
		},
		"larger than any event": {
			path: "/events/file-deleted", body: eventOf(0, fmt.Sprintf(`{"old":{"id":"f1","x":"%01048576d"}}`, 0)),
			status: 200, has: []string{`"ignored":true`, "larger than"},
		},
		"work that can never succeed": {
			service: stub{err: actions.Errorf(actions.FileNotFound, "no such row")},
			path:    "/events/file-deleted", body: eventOf(0, old),
			status: 200, has: []string{`"ignored":true`, "no such row"}, answers: map[string]string{"Retry-After": ""}, calls: []string{"gone f1"},
		},
		"the store is away": {
			service: stub{err: away}, path: "/events/file-deleted", body: eventOf(0, old),
			status: 503, has: []string{`"code":"storage-unavailable"`}, lacks: []string{"dial tcp"}, answers: map[string]string{"Retry-After": "1"},
			calls: []string{"gone f1"}, logs: []string{`"level":"error"`, "dial tcp"},
		},
		"the fourth try waits longer": {
			service: stub{err: away}, path: "/events/file-deleted", body: eventOf(3, old),
			status: 503, answers: map[string]string{"Retry-After": "8"}, calls: []string{"gone f1"},
		},
		"no wait is longer than an hour": {
			service: stub{err: away}, path: "/events/file-deleted", body: eventOf(12, old),
			status: 503, answers: map[string]string{"Retry-After": "3600"}, calls: []string{"gone f1"},
		},
		"some day Hasura may give up": {
			service: stub{err: away}, path: "/events/file-deleted", body: eventOf(20, old),
			status: 503, answers: map[string]string{"Retry-After": ""}, calls: []string{"gone f1"},
		},
		"a count that makes no sense": {
			service: stub{err: away}, path: "/events/file-deleted", body: eventOf(-5, old),
			status: 503, answers: map[string]string{"Retry-After": "1"}, calls: []string{"gone f1"},
		},
		"a wrong admin secret is somebody's to mend": {
			service: stub{err: actions.Errorf(actions.Unauthenticated, "no")}, path: "/events/file-deleted", body: eventOf(0, old),
			status: 503, answers: map[string]string{"Retry-After": "1"}, calls: []string{"gone f1"},
		},
		"a panic": {
			service: stub{panics: "boom"}, path: "/events/file-deleted", body: eventOf(0, old),
			status: 503, has: []string{`"code":"internal"`}, lacks: []string{"boom"}, answers: map[string]string{"Retry-After": ""}, calls: []string{"gone f1"},
		},
	})
}

func TestCron(t *testing.T) {
	body := `{"id":"c1","name":"storage_sweep","scheduled_time":"2024-05-02T10:00:00Z","payload":null}`
	runAll(t, map[string]scenario{
		"a sweep": {
			path: "/cron/sweep", body: body,
			status: 200, has: []string{`"completed":2`, `"garbage":3`}, calls: []string{"sweep"},
		},
		"a sweep that failed": {
			service: stub{err: actions.Errorf(actions.HasuraUnavailable, "away").Because(errors.New("cause"))}, path: "/cron/sweep", body: body,
			status: 503, has: []string{`"code":"hasura-unavailable"`}, lacks: []string{"cause"}, answers: map[string]string{"Retry-After": ""}, calls: []string{"sweep"},
		},
		"no such job": {path: "/cron/dust", body: body, status: 404, has: []string{`"error":`}},
	})
}
