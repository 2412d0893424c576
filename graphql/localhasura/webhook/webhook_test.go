package webhook_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/webhook"
)

// call asks a handler through an action with an output type.
func call(t *testing.T, handler http.HandlerFunc, output string) (webhook.Answer, *qerr.Error) {
	t.Helper()
	return callAs(t, handler, action(output))
}

func action(output string) webhook.Request {
	return webhook.Request{
		Action: &metadata.Action{Name: "act", Definition: metadata.ActionDefinition{
			Handler: "{{BASE}}/act", OutputType: output, Timeout: 5,
		}},
		Vars: map[string]string{"x-hasura-role": "user"},
	}
}

func callAs(t *testing.T, handler http.HandlerFunc, r webhook.Request) (webhook.Answer, *qerr.Error) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	c := webhook.New(environment(server.URL))
	defer c.Close()
	return c.Call(context.Background(), r, types())
}

func environment(base string) metadata.Env {
	vars := map[string]string{"BASE": base, "SECRET": "s3cret"}
	return func(name string) string { return vars[name] }
}

func types() *webhook.Types {
	return webhook.NewTypes(&metadata.CustomTypes{Objects: []metadata.ObjectType{{
		Name: "T", Fields: []metadata.TypeField{{Name: "id", Type: "uuid!"}, {Name: "note", Type: "String"}},
	}}})
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestErrorsTheClientSees(t *testing.T) {
	const path = `{"path":"$","code":"unexpected"}`
	for name, c := range map[string]struct {
		status     int
		body       string
		message    string
		extensions string
	}{
		"an empty body":                 {200, "", "not a valid json response from webhook", path},
		"no content":                    {204, "", "not a valid json response from webhook", path},
		"a page of a proxy":             {502, "<html>", "not a valid json response from webhook", path},
		"text after the JSON":           {200, `{"id":"1"} x`, "not a valid json response from webhook", path},
		"a message":                     {400, `{"message":"M"}`, "M", path},
		"a message with a code":         {422, `{"message":"M","code":"C"}`, "M", `{"path":"$","code":"C"}`},
		"a message with extensions":     {400, `{"message":"M","code":"C","extensions":{"code":"X","n":1.0}}`, "M", `{"code":"X","n":1.0}`},
		"extensions without a code":     {400, `{"message":"M","extensions":["a"]}`, "M", `["a"]`},
		"extensions that are null":      {400, `{"message":"M","extensions":null}`, "M", path},
		"no message":                    {400, `{"error":"M"}`, `parsing Hasura.GraphQL.Execute.Action.Types.ActionWebhookErrorResponse(ActionWebhookErrorResponse) failed, key "message" not found`, `{"path":"$","code":"parse-failed"}`},
		"a message that is no text":     {400, `{"message":5}`, `parsing Text failed, expected String, but encountered Number`, `{"path":"$.message","code":"parse-failed"}`},
		"a list instead of an object":   {400, `[]`, `parsing Hasura.GraphQL.Execute.Action.Types.ActionWebhookErrorResponse(ActionWebhookErrorResponse) failed, expected Object, but encountered Array`, `{"path":"$","code":"parse-failed"}`},
		"a server error with a message": {500, `{"message":"M"}`, "internal error", path},
		"not modified":                  {300, `{"message":"M"}`, "internal error", path},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := call(t, answer(c.status, c.body), "T!")
			if err == nil {
				t.Fatal("no error")
			}
			want := `{"errors":[{"message":` + quote(c.message) + `,"extensions":` + c.extensions + `}]}`
			if got := string(err.GraphQL(false)); got != want {
				t.Errorf("answer = %s\nwant     %s", got, want)
			}
		})
	}
}

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func TestShapes(t *testing.T) {
	for name, c := range map[string]struct{ output, body, want string }{
		"an object":                         {"T!", `{"id":"1","more":true}`, ""},
		"a nullable object":                 {"T", `null`, ""},
		"null for an object":                {"T!", `null`, "got null for the action webhook response"},
		"an object for a list":              {"[T!]!", `{}`, "expecting array for the action webhook response"},
		"a list for an object":              {"T", `[]`, "got array for the action webhook response, expecting T"},
		"text for an object":                {"T", `"x"`, "got scalar String for the action webhook response, expecting T"},
		"a number for an object":            {"T", `1`, "got scalar String for the action webhook response, expecting T"},
		"a boolean for an object":           {"T", `true`, "got scalar Boolean for the action webhook response, expecting T"},
		"an object for text":                {"String!", `{}`, "got object for the action webhook response, expecting String"},
		"text for a number":                 {"[Int]", `["x"]`, "got scalar String for the action webhook response, expecting Int"},
		"a number for an ID":                {"ID!", `5`, "got scalar String for the action webhook response, expecting ID"},
		"text for an ID":                    {"ID!", `"5"`, ""},
		"a number for a float":              {"Float", `5`, ""},
		"null in a list":                    {"[T!]!", `[{"id":"1"},null]`, "got null for the action webhook response"},
		"null allowed in a list":            {"[T]!", `[null]`, ""},
		"a field is missing":                {"T!", `{"note":"n"}`, `field "id" expected in webhook response, but not found`},
		"a field is null":                   {"T!", `{"id":null}`, `expecting not null value for field "id"`},
		"a nullable field is missing":       {"T!", `{"id":"1"}`, ""},
		"field values are not looked at":    {"T!", `{"id":5,"note":{}}`, ""},
		"anything for a database scalar":    {"jsonb!", `null`, ""},
		"anything for own scalars in lists": {"[Foo!]!", `[null,{},5]`, ""},
		"no list of own scalars":            {"[Foo!]!", `{}`, "expecting array for the action webhook response"},
		"lists of lists":                    {"[[Int!]!]!", `[[1],[2,null]]`, "got null for the action webhook response"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := call(t, answer(200, c.body), c.output)
			if c.want == "" {
				if err != nil || string(got.Body) != c.body {
					t.Errorf("answer = %s, error = %v", got.Body, err)
				}
				return
			}
			if err == nil || err.Message != c.want || err.Code != qerr.Unexpected || err.Path != "$" {
				t.Errorf("error = %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestPayload(t *testing.T) {
	r := action("jsonb")
	r.Input = json.RawMessage(`{"b":1,"a":{"<":null}}`)
	r.Query = "query { act }"
	got, err := callAs(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }, r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"action":{"name":"act"},"input":{"b":1,"a":{"<":null}},"session_variables":{"x-hasura-role":"user"},"request_query":"query { act }"}`
	if string(got.Body) != want {
		t.Errorf("payload = %s\nwant      %s", got.Body, want)
	}
}

// seen answers with the headers it got, names in their canonical form.
func seen(w http.ResponseWriter, r *http.Request) {
	r.Header.Set("Host", r.Host)
	json.NewEncoder(w).Encode(r.Header)
}

func TestHeaders(t *testing.T) {
	literal, templated := "configured", "Bearer {{SECRET}}"
	r := action("jsonb")
	d := &r.Action.Definition
	d.Headers = []metadata.Header{{Name: "x-both", Value: &literal}, {Name: "x-env", ValueFromEnv: "SECRET"}, {Name: "x-template", Value: &templated}}
	r.Host = "hasura.example"
	r.Headers = http.Header{
		"X-Both": {"client", "second"}, "Authorization": {"Bearer t"}, "Cookie": {"a=b"}, "X-Hasura-Role": {"user"},
		"Origin": {"http://app"}, "User-Agent": {"browser"}, "Accept-Language": {"de"}, "Content-Type": {"text/plain"}, "X-Request-Id": {"r1"},
	}
	base := map[string]string{
		"Content-Type": "application/json", "User-Agent": webhook.UserAgent, "Accept-Encoding": "gzip",
		"X-Both": "configured", "X-Env": "s3cret", "X-Template": "Bearer s3cret",
	}
	t.Run("nothing of the client without forwarding", func(t *testing.T) {
		expect(t, headersOf(t, r), base, "Authorization", "Cookie", "X-Request-Id", "X-Forwarded-Host", "X-Hasura-Role")
	})
	d.ForwardClientHeaders = true
	t.Run("the client's headers win when forwarded", func(t *testing.T) {
		base["X-Both"], base["Authorization"], base["Cookie"], base["X-Request-Id"] = "client", "Bearer t", "a=b", "r1"
		base["X-Forwarded-Host"], base["X-Forwarded-User-Agent"], base["X-Forwarded-Origin"] = "hasura.example", "browser", "http://app"
		expect(t, headersOf(t, r), base, "X-Hasura-Role", "Origin", "Accept-Language")
	})
	t.Run("a list of its own replaces Hasura's", func(t *testing.T) {
		d.IgnoredClientHeaders = &[]string{"x-both", "HOST"}
		base["X-Both"], base["Accept-Language"], base["User-Agent"], base["Content-Type"] = "configured", "de", "browser", "text/plain"
		expect(t, headersOf(t, r), base, "X-Hasura-Role")
	})
}

func headersOf(t *testing.T, r webhook.Request) http.Header {
	t.Helper()
	got, err := callAs(t, seen, r)
	if err != nil {
		t.Fatal(err)
	}
	var h http.Header
	if err := json.Unmarshal(got.Body, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

func expect(t *testing.T, got http.Header, want map[string]string, absent ...string) {
	t.Helper()
	for name, value := range want {
		if !slices.Equal(got[name], []string{value}) {
			t.Errorf("%s = %q, want %q", name, got[name], value)
		}
	}
	for _, name := range absent {
		if got.Get(name) != "" {
			t.Errorf("%s = %q was sent", name, got.Get(name))
		}
	}
}

func TestConfiguredHeadersMayWin(t *testing.T) {
	value := "configured"
	r := action("jsonb")
	r.Action.Definition.ForwardClientHeaders = true
	r.Action.Definition.Headers = []metadata.Header{{Name: "Authorization", Value: &value}, {Name: "content-type", Value: &value}}
	r.Headers = http.Header{"Authorization": {"client"}}
	server := httptest.NewServer(http.HandlerFunc(seen))
	defer server.Close()
	env := environment(server.URL)
	c := webhook.New(func(name string) string {
		if name == "HASURA_GRAPHQL_CONFIGURED_HEADER_PRECEDENCE" {
			return "true"
		}
		return env(name)
	})
	defer c.Close()
	got, err := c.Call(context.Background(), r, types())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(got.Body), `"configured"`) != 2 {
		t.Errorf("headers = %s", got.Body)
	}
}

func TestCookiesGoThroughOnSuccess(t *testing.T) {
	got, err := call(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		io.WriteString(w, "1")
	}, "Int")
	if err != nil || !slices.Equal(got.SetCookie, []string{"a=1", "b=2"}) {
		t.Errorf("cookies = %v, error = %v", got.SetCookie, err)
	}
}

func TestGzipIsUndone(t *testing.T) {
	got, err := call(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		io.WriteString(z, "1")
	}, "Int")
	if err != nil || string(got.Body) != "1" {
		t.Errorf("body = %q, error = %v", got.Body, err)
	}
}

func TestRedirectsAreFollowed(t *testing.T) {
	got, err := call(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/act" {
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
			return
		}
		io.Copy(w, r.Body)
	}, "jsonb")
	if err != nil || !strings.Contains(string(got.Body), `"session_variables"`) {
		t.Errorf("body = %q, error = %v", got.Body, err)
	}
}

func TestSilence(t *testing.T) {
	r := action("Int")
	r.Action.Definition.Timeout = 1
	released := make(chan struct{})
	start := time.Now()
	_, err := callAs(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
		close(released)
	}, r)
	if err == nil || err.Message != "http exception when calling webhook" {
		t.Errorf("error = %v", err)
	}
	<-released
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestNobodyListens(t *testing.T) {
	c := webhook.New(environment("http://127.0.0.1:1"))
	defer c.Close()
	_, err := c.Call(context.Background(), action("Int"), types())
	if err == nil || err.Message != "http exception when calling webhook" {
		t.Fatalf("error = %v", err)
	}
	if got := string(err.GraphQL(true)); !strings.Contains(got, `"type":"http_exception"`) || !strings.Contains(got, `"response":null`) {
		t.Errorf("internal = %s", got)
	}
}

func TestMissingEnvironment(t *testing.T) {
	template := "{{GONE}}"
	for name, c := range map[string]struct {
		header metadata.Header
		want   string
	}{
		"a variable": {metadata.Header{Name: "x", ValueFromEnv: "GONE"}, "environment variable 'GONE' not set"},
		"a template": {metadata.Header{Name: "x", Value: &template}, "template cannot be resolved: value for environment variables not found: GONE"},
	} {
		t.Run(name, func(t *testing.T) {
			r := action("Int")
			r.Action.Definition.Headers = []metadata.Header{c.header}
			_, err := callAs(t, answer(200, "1"), r)
			if err == nil || err.Code != qerr.NotFound || err.Message != c.want {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestInternalPart(t *testing.T) {
	r := action("T!")
	r.Query = "q"
	_, err := callAs(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"x":1}`)
	}, r)
	want := `{"errors":[{"message":"field \"id\" expected in webhook response, but not found","extensions":{"path":"$","code":"unexpected","internal":` +
		`{"error":"unexpected response","request":{"url":"{{BASE}}/act","action":{"name":"act"},"input":{},"request_query":"q","transformed_request":null},` +
		`"response":{"status":200,"body":{"x":1},"headers":[{"name":"Content-Length","value":"7"},{"name":"Content-Type","value":"application/json"}]}}}}]}`
	if got := string(err.GraphQL(true)); got != want {
		t.Errorf("answer = %s\nwant     %s", got, want)
	}
}

// FuzzAnswers feeds any answer to the checks: they never panic and never let
// through what is not JSON.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{"", "null", "[{}]", `{"id":1}`, `{"message":"x","extensions":{}}`, "\xff", "1 2"} {
		f.Add(200, seed)
		f.Add(400, seed)
	}
	var status int
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(status, body)(w, nil) }))
	f.Cleanup(server.Close)
	c := webhook.New(environment(server.URL))
	f.Fuzz(func(t *testing.T, s int, b string) {
		status, body = 200+(s&0xff), b
		got, err := c.Call(context.Background(), action("[T!]"), types())
		if err == nil && !json.Valid(got.Body) {
			t.Errorf("%q passed", got.Body)
		}
	})
}
