package handlers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// payloadOf is a call of an action as Hasura posts it.
func payloadOf(name, input string) string {
	return fmt.Sprintf(`{"action":{"name":%q},"input":%s,"session_variables":{"x-hasura-role":"user","x-hasura-user-id":"alice-id"},"request_query":"mutation { }"}`, name, input)
}

func TestActions(t *testing.T) {
	noStore := map[string]string{"Cache-Control": "no-store", "Content-Type": "application/json; charset=utf-8"}
	runAll(t, map[string]scenario{
		"a ticket": {
			path: "/actions/storageCreateUpload", body: payloadOf("storageCreateUpload", `{"name":"a.jpg","size":"12"}`),
			status: 200, has: []string{`"uploadId":"u"`, `"url":null`, `"headers":[]`}, answers: noStore,
			calls: []string{"create a.jpg 12 as user"},
			logs:  []string{`"route":"/actions/storageCreateUpload"`, `"action":"storageCreateUpload"`, `"role":"user"`, `"status":200`, `"level":"info"`}, unsaid: []string{"a.jpg", "alice-id"},
		},
		"explicit nulls are as good as absent": {
			path: "/actions/storageCreateUpload", body: payloadOf("storageCreateUpload", `{"name":"a","size":1,"bucketId":null,"sha256":null,"metadata":null,"expiresAt":null,"method":null}`),
			status: 200, calls: []string{"create a 1 as user"},
		},
		"completion": {
			path: "/actions/storageCompleteUpload", body: payloadOf("storageCompleteUpload", `{"uploadId":"t1","parts":[{"partNumber":1,"etag":"x"}]}`),
			status: 200, has: []string{`"id":"` + fileID + `"`, `"bucketId":null`}, calls: []string{"complete t1 1 as user"}, unsaid: []string{"t1"},
		},
		"giving up": {
			path: "/actions/storageAbortUpload", body: payloadOf("storageAbortUpload", `{"uploadId":"t1"}`),
			status: 200, has: []string{`"aborted":true`}, calls: []string{"abort t1 as user"}, unsaid: []string{"t1"},
		},
		"deletes": {
			path: "/actions/storageDeleteFiles", body: payloadOf("storageDeleteFiles", `{"ids":["x","y"]}`),
			status: 200, has: []string{`"deleted":["x","y"]`, `"notFound":[]`}, calls: []string{"delete [x y] as user"},
		},
		"a link keeps its ampersands": {
			path: "/actions/storageDownload", body: payloadOf("storageDownload", `{"id":"f","image":{"width":600}}`),
			status: 200, has: []string{`"url":"https://store/x?a=1&b=2"`, `"srcset":[]`}, calls: []string{"download f 600 as user"}, unsaid: []string{"b=2"},
		},
		"a refusal is a 4xx with code and details": {
			service: stub{err: actions.Errorf(actions.FileTooBig, "at most 10 bytes").With("maxSize", 10).With("path", "$.x").Because(errors.New("hidden cause"))},
			path:    "/actions/storageCreateUpload", body: payloadOf("storageCreateUpload", `{"name":"a.jpg","size":11}`),
			status: 400, has: []string{`"message":"at most 10 bytes"`, `"code":"file-too-big"`, `"maxSize":10`}, lacks: []string{"hidden cause", "$.x"}, answers: noStore,
			calls: []string{"create a.jpg 11 as user"}, logs: []string{`"code":"file-too-big"`, `"level":"info"`}, unsaid: []string{"hidden cause", "at most"},
		},
		"a fault of ours is a 4xx too, and its cause is for the log": {
			service: stub{err: errors.New("connect https://store/x?X-Amz-Signature=abc: refused")},
			path:    "/actions/storageDownload", body: payloadOf("storageDownload", `{"id":"f"}`),
			status: 400, has: []string{`"message":"internal error"`, `"code":"internal"`}, lacks: []string{"https"},
			calls: []string{"download f 0 as user"}, logs: []string{`"level":"error"`, "connect https://store/x?…", "refused"}, unsaid: []string{"Signature"},
		},
		"a panic is answered": {
			service: stub{panics: "boom"},
			path:    "/actions/storageDownload", body: payloadOf("storageDownload", `{"id":"f"}`),
			status: 400, has: []string{`"code":"internal"`}, lacks: []string{"boom"},
			calls: []string{"download f 0 as user"}, logs: []string{`"level":"error"`, "boom", `"stack":`},
		},
	})
}

func TestActionsRefuseBadPayloads(t *testing.T) {
	refused := func(body, message string) scenario {
		return scenario{path: "/actions/storageCreateUpload", body: body, status: 400, has: []string{message, `"code":"bad-request"`, `"extensions":`}}
	}
	input := func(input, message string) scenario {
		return refused(payloadOf("storageCreateUpload", input), message)
	}
	runAll(t, map[string]scenario{
		"nothing of JSON":           refused(`nonsense`, "the payload is not JSON"),
		"half a payload":            refused(`{"action":{"name":"storageCreateUpload"}`, "the payload is not JSON"),
		"two payloads":              refused(payloadOf("storageCreateUpload", `{}`)+"{}", "the payload is not JSON"),
		"a list":                    refused(`[]`, "the payload must be an object, not a list"),
		"another action's name":     refused(payloadOf("storageDownload", `{}`), `for the action \"storageDownload\"`),
		"no name":                   refused(`{"input":{},"session_variables":{"x-hasura-role":"user"}}`, `for the action \"\"`),
		"a session of numbers":      refused(`{"action":{"name":"storageCreateUpload"},"session_variables":{"x-hasura-role":7}}`, `\"session_variables`),
		"a variable in upper case":  refused(`{"action":{"name":"storageCreateUpload"},"session_variables":{"x-hasura-role":"user","X-Hasura-Role":"admin"}}`, "must be in lower case"),
		"an input that is a list":   input(`[]`, "the input must be an object, not a list"),
		"a number for a name":       input(`{"name":7,"size":1}`, `\"name\" must be a string, not the number`),
		"an object for a name":      input(`{"name":{},"size":1}`, `\"name\" must be a string, not an object`),
		"a size that is no number":  input(`{"name":"a","size":"many"}`, `argument \"size\" cannot be read`),
		"a size with a fraction":    input(`{"name":"a","size":1.5}`, `argument \"size\" cannot be read`),
		"a time that is none":       input(`{"name":"a","size":1,"expiresAt":"tomorrow"}`, `argument \"expiresAt\" cannot be read: not a time such as`),
		"an argument nobody knows":  input(`{"name":"a","size":1,"colour":"red"}`, `knows no argument \"colour\"`),
		"a long value is not told":  input(`{"name":"a","size":"`+strings.Repeat("9", 5000)+`"}`, "…"),
		"more than a payload holds": refused(strings.Repeat(" ", 1<<20+1), "larger than 1048576 bytes"),
	})
	t.Run("a deep argument is named", func(t *testing.T) {
		scenario{
			path: "/actions/storageDownload", body: payloadOf("storageDownload", `{"id":"f","image":{"crop":{"x":"left"}}}`),
			status: 400, has: []string{`\"image.crop.x\" must be a whole number of 64 bits, not a string`},
		}.run(t)
	})
	t.Run("a session without a role is nobody", func(t *testing.T) {
		for _, session := range []string{``, `,"session_variables":null`, `,"session_variables":{}`, `,"session_variables":{"x-hasura-role":""}`} {
			scenario{
				path: "/actions/storageCreateUpload", body: `{"action":{"name":"storageCreateUpload"},"input":{}` + session + `}`,
				status: 401, has: []string{`"code":"unauthenticated"`},
			}.run(t)
		}
	})
}

func TestSecret(t *testing.T) {
	body := payloadOf("storageDownload", `{"id":"f"}`)
	for name, given := range map[string]string{
		"missing": "", "wrong": "the-webhook-secreT", "the beginning": "the-webhook", "longer": secret + "x", "upper case": strings.ToUpper(secret),
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/actions/storageDownload", "/actions/none", "/events/file-deleted", "/cron/sweep"} {
				scenario{
					path: path, body: body, headers: map[string]string{"X-Hasura-Storage-Secret": given},
					status: 401, has: []string{"unauthenticated"}, lacks: []string{secret},
				}.run(t)
			}
		})
	}
	t.Run("none is configured", func(t *testing.T) {
		for _, given := range []string{"", secret} {
			scenario{
				options: func(o *handlers.Options) { o.Secret = "" },
				path:    "/actions/storageDownload", body: body, headers: map[string]string{"X-Hasura-Storage-Secret": given},
				status: 503, has: []string{"HASURA_STORAGE_SECRET is not configured"},
			}.run(t)
		}
	})
}

// unread fails the test if anybody reads it.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errors.New("not for you")
}

func TestTheSecretComesBeforeTheBody(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/actions/storageDownload", unread{t})
	handlers.New(&stub{}, options()).ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("status = %d", w.Code)
	}
}

func TestUnknownActions(t *testing.T) {
	runAll(t, map[string]scenario{
		"of a newer version": {path: "/actions/storageFly", body: payloadOf("storageFly", `{}`), status: 400, has: []string{`"message":`, `"code":"bad-request"`}},
		"not posted":         {path: "/actions/storageDownload", status: 400, has: []string{`"message":`, `"code":"bad-request"`}},
	})
}

// TestEveryCodeReachesTheClient is Hasura's rule: a 4xx with message and
// extensions, or the client reads something else.
func TestEveryCodeReachesTheClient(t *testing.T) {
	for _, code := range append(actions.Codes(), "a-code-of-the-future") {
		t.Run(string(code), func(t *testing.T) {
			service := &stub{err: actions.Errorf(code, "why").Because(errors.New("cause"))}
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "/actions/storageDownload", strings.NewReader(payloadOf("storageDownload", `{"id":"f"}`)))
			r.Header.Set("X-Hasura-Storage-Secret", secret)
			handlers.New(service, options()).ServeHTTP(w, r)
			var got struct {
				Message    string
				Extensions map[string]any
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if w.Code < 400 || w.Code > 499 || got.Message != "why" || got.Extensions["code"] != string(code) || len(got.Extensions) != 1 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}
