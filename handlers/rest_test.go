package handlers_test

import (
	"errors"
	"strings"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

func TestProbes(t *testing.T) {
	runAll(t, map[string]scenario{
		"alive":                 {path: "/healthz", status: 200, has: []string{"ok"}, answers: map[string]string{"X-Content-Type-Options": "nosniff"}, logs: []string{`"level":"debug"`}},
		"alive, by the prefix":  {path: "/v1/healthz", status: 200, has: []string{"ok"}},
		"alive, without a body": {method: "HEAD", path: "/healthz", status: 200},
		"ready":                 {path: "/readyz", status: 200, has: []string{`{"ready":true}`}, calls: []string{"ready"}, logs: []string{`"level":"debug"`}},
		"not ready": {
			service: stub{err: actions.Errorf(actions.HasuraUnavailable, "Hasura is away").Because(errors.New("dial"))},
			path:    "/readyz", status: 503, has: []string{`"code":"hasura-unavailable"`}, lacks: []string{"dial"}, calls: []string{"ready"}, logs: []string{`"level":"error"`, "dial"},
		},
		"a wrong admin secret": {
			service: stub{err: actions.Errorf(actions.Unauthenticated, "admin secret refused")},
			path:    "/readyz", status: 503, has: []string{"admin secret refused"}, calls: []string{"ready"},
		},
		"version":                {path: "/version", status: 200, has: []string{`{"buildVersion":"1.2.3"}`}},
		"version, by the prefix": {path: "/v1/version", status: 200, has: []string{`{"buildVersion":"1.2.3"}`}},
	})
}

func TestReadinessIsAskedOnceASecond(t *testing.T) {
	service := &stub{}
	h := handlers.New(service, options())
	for range 10 {
		h.ServeHTTP(discard(), scenario{path: "/readyz"}.request())
	}
	if len(service.calls) > 2 {
		t.Errorf("asked %d times", len(service.calls))
	}
}

func TestUnknownAddresses(t *testing.T) {
	atRoot := func(o *handlers.Options) { o.Prefix = "" }
	runAll(t, map[string]scenario{
		"nothing there":            {path: "/secret-token", status: 404, has: []string{`"error":{"message":`, `"code":"bad-request"`}, unsaid: []string{"secret-token"}},
		"nothing in the prefix":    {path: "/v1/nothing", status: 404, has: []string{`"error":`}, answers: map[string]string{"Access-Control-Allow-Origin": ""}},
		"the wrong method":         {method: "DELETE", path: "/v1/version", status: 405, has: []string{`"error":`}, answers: map[string]string{"Allow": "GET, HEAD"}},
		"a method nobody knows":    {method: "BREW", path: "/healthz", status: 405, logs: []string{`"method":"other"`}, unsaid: []string{"BREW"}},
		"an event that is read":    {path: "/events/file-deleted", status: 405, answers: map[string]string{"Allow": "POST"}},
		"no prefix":                {options: atRoot, path: "/version", status: 200, has: []string{"1.2.3"}},
		"a signed link, no prefix": {options: atRoot, service: stub{content: file("x")}, path: "/files/f/signed/p", status: 200, calls: []string{"signed f p "}},
		"actions, no prefix":       {options: atRoot, path: "/actions/storageAbortUpload", body: payloadOf("storageAbortUpload", `{"uploadId":"t1"}`), status: 200, calls: []string{"abort t1 as user"}},
	})
}

func TestRequestIDs(t *testing.T) {
	runAll(t, map[string]scenario{
		"a sane one is kept": {
			path: "/healthz", headers: map[string]string{"X-Request-Id": "abc-1.2_3"}, status: 200,
			answers: map[string]string{"X-Request-Id": "abc-1.2_3"}, logs: []string{`"request_id":"abc-1.2_3"`},
		},
		"one that forges a line is not": {
			path: "/healthz", headers: map[string]string{"X-Request-Id": "a b"}, status: 200, lacks: []string{"a b"}, unsaid: []string{"a b"},
		},
		"nor one without end": {
			path: "/healthz", headers: map[string]string{"X-Request-Id": strings.Repeat("a", 65)}, status: 200, unsaid: []string{strings.Repeat("a", 65)},
		},
	})
}

func TestRolesInTheLog(t *testing.T) {
	runAll(t, map[string]scenario{
		"the one that was asked for": {
			path: "/version", headers: map[string]string{"X-Hasura-Role": "editor"}, status: 200,
			logs: []string{`"asked_role":"editor"`}, unsaid: []string{`"role":`},
		},
		"none that forges a line": {
			path: "/version", headers: map[string]string{"X-Hasura-Role": "a b"}, status: 200, unsaid: []string{"a b", `role":`},
		},
		"none without being asked": {path: "/version", headers: map[string]string{"Authorization": "Bearer hush"}, status: 200, unsaid: []string{`role":`, "hush"}},
		"an action's is Hasura's own word": {
			path: "/actions/storageAbortUpload", body: payloadOf("storageAbortUpload", `{"uploadId":"t1"}`), headers: map[string]string{"X-Hasura-Role": "editor"},
			status: 200, calls: []string{"abort t1 as user"}, logs: []string{`"role":"user"`}, unsaid: []string{"editor"},
		},
	})
}

func TestCORS(t *testing.T) {
	origin := map[string]string{"Origin": "https://app.example.com"}
	preflight := map[string]string{"Origin": "https://app.example.com", "Access-Control-Request-Method": "GET"}
	only := func(origins ...string) func(*handlers.Options) {
		return func(o *handlers.Options) { o.CORS = handlers.CORS{Origins: origins, Credentials: true} }
	}
	call := []string{"signed f p "}
	content := stub{content: file("x")}
	runAll(t, map[string]scenario{
		"everybody may read": {
			service: content, path: "/v1/files/f/signed/p", headers: origin, status: 200, calls: call,
			answers: map[string]string{"Access-Control-Allow-Origin": "*", "Vary": "", "Access-Control-Allow-Credentials": "",
				"Access-Control-Expose-Headers": "Accept-Ranges, Cache-Control, CDN-Cache-Control, Content-Disposition, Content-Length, Content-Range, Content-Type, ETag, Last-Modified, Retry-After, X-Error, X-Request-Id"},
		},
		"an error can be read as well": {
			service: stub{err: actions.Errorf(actions.NotAllowed, "no")}, path: "/v1/files/f/signed/p", headers: origin, status: 403, calls: call,
			answers: map[string]string{"Access-Control-Allow-Origin": "*"},
		},
		"a preflight": {
			method: "OPTIONS", path: "/v1/files/f/signed/p", headers: preflight, status: 204,
			answers: map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Max-Age": "86400", "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE"},
		},
		"a trusted page with cookies": {
			options: only("https://app.example.com"), service: content, path: "/v1/files/f/signed/p", headers: origin, status: 200, calls: call,
			answers: map[string]string{"Access-Control-Allow-Origin": "https://app.example.com", "Access-Control-Allow-Credentials": "true", "Vary": "Origin"},
		},
		"another page": {
			options: only("https://other.example.com"), service: content, path: "/v1/files/f/signed/p", headers: origin, status: 200, calls: call,
			answers: map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"},
		},
		"another page's preflight": {
			options: only("https://other.example.com"), method: "OPTIONS", path: "/v1/files/f/signed/p", headers: preflight, status: 204,
			answers: map[string]string{"Access-Control-Allow-Origin": "", "Access-Control-Allow-Methods": ""},
		},
		"every page, but none with cookies": {
			options: only("*", "https://app.example.com"), service: content, path: "/v1/files/f/signed/p", headers: origin, status: 200, calls: call,
			answers: map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "", "Vary": ""},
		},
		"Hasura's routes are for no page": {
			path: "/cron/sweep", body: "{}", headers: origin, status: 200, calls: []string{"sweep"},
			answers: map[string]string{"Access-Control-Allow-Origin": ""},
		},
	})
}
