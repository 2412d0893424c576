package graphql_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hasura-storage/graphql"
)

const fileID = "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"

// hasura answers every request with status and body. It stands in for answers
// that the local Hasura never gives.
func hasura(t *testing.T, status int, body string) *graphql.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return client(t, graphql.Options{Endpoint: s.URL + "/v1"})
}

func client(t *testing.T, o graphql.Options) *graphql.Client {
	t.Helper()
	o.AdminSecret = "secret"
	c, err := graphql.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnswersBecomeSentinels(t *testing.T) {
	answer := func(code string) string {
		return `{"errors":[{"message":"M","extensions":{"path":"$","code":"` + code + `"}}]}`
	}
	tests := map[string]struct {
		status   int
		body     string
		query    error
		mutation error
	}{
		"a check says no":              {200, answer("permission-error"), graphql.ErrNotAllowed, graphql.ErrNotAllowed},
		"a field is not there":         {200, answer("validation-failed"), graphql.ErrNotAllowed, graphql.ErrNotAllowed},
		"a constraint says no":         {200, answer("constraint-violation"), graphql.ErrConflict, graphql.ErrConflict},
		"a value is malformed":         {200, answer("data-exception"), graphql.ErrInvalid, graphql.ErrInvalid},
		"the token has expired":        {200, answer("invalid-jwt"), graphql.ErrUnauthenticated, graphql.ErrUnauthenticated},
		"the database is away":         {200, answer("postgres-error"), graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"serialization failed":         {200, answer("concurrent-update"), graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"something unexpected":         {200, answer("unexpected"), graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"a code nobody knows":          {200, answer("brand-new"), graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"a gateway's page":             {502, "<html>Bad Gateway</html>", graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"a gateway's JSON":             {503, `{"message":"no upstream"}`, graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"an empty body":                {200, "", graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"data of another shape":        {200, `{"data":{"files":7,"deleted":7}}`, graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"data that comes with a 500":   {500, `{"data":{}}`, graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
		"errors without an extensions": {200, `{"errors":[{"message":"M"}]}`, graphql.ErrUnavailable, graphql.ErrUnknownOutcome},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := hasura(t, tt.status, tt.body)
			if _, err := graphql.GetFiles(t.Context(), c.Admin(), []string{fileID}); !errors.Is(err, tt.query) {
				t.Errorf("query: got %v, want %v", err, tt.query)
			}
			_, err := graphql.DeleteFiles(t.Context(), c.Admin(), []string{fileID})
			if !errors.Is(err, tt.mutation) {
				t.Errorf("mutation: got %v, want %v", err, tt.mutation)
			}
			if graphql.Refused(err) && errors.Is(err, graphql.ErrUnknownOutcome) {
				t.Error("an unknown outcome must not count as refused")
			}
		})
	}
}

func TestNoConnectionMeansNothingHappened(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := client(t, graphql.Options{Endpoint: "http://" + l.Addr().String()})
	if _, err := graphql.DeleteFiles(t.Context(), c.Admin(), nil); !errors.Is(err, graphql.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, graphql.ErrUnavailable)
	}
}

func TestACutAnswerIsAnUnknownOutcome(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.Close()
	}))
	defer s.Close()
	c := client(t, graphql.Options{Endpoint: s.URL})
	if _, err := graphql.DeleteFiles(t.Context(), c.Admin(), nil); !errors.Is(err, graphql.ErrUnknownOutcome) {
		t.Errorf("got %v, want %v", err, graphql.ErrUnknownOutcome)
	}
}

func TestASessionWithoutARoleIsRefused(t *testing.T) {
	c := client(t, graphql.Options{Endpoint: "http://hasura"})
	for name, session := range map[string]graphql.Session{
		"nil":       nil,
		"no role":   {"x-hasura-user-id": "7"},
		"blank":     {"x-hasura-role": "  "},
		"only ours": {"x-hasura-admin-secret": "secret"},
	} {
		if _, err := c.As(session); !errors.Is(err, graphql.ErrNoRole) {
			t.Errorf("%s: got %v, want %v", name, err, graphql.ErrNoRole)
		}
	}
}

func TestAVariableThatIsNoHeaderIsNamed(t *testing.T) {
	c := client(t, graphql.Options{Endpoint: "http://hasura"})
	for name, value := range map[string]string{"x-hasura-team": "a\r\nx-hasura-role: admin", "x-hasura-a b": "1", "authorization": "Bearer x"} {
		_, err := c.As(graphql.Session{"x-hasura-role": "user", name: value})
		var bad *graphql.InvalidVariableError
		if !errors.As(err, &bad) || bad.Name != name {
			t.Errorf("%q: got %v, want its name in an InvalidVariableError", name, err)
		}
	}
}

func TestWhatASessionSends(t *testing.T) {
	spoofed := graphql.Session{
		"x-hasura-role": "user", "x-hasura-user-id": "7",
		"x-hasura-admin-secret": "mine", "X-Hasura-Access-Key": "mine", "x-hasura-use-backend-only-permissions": "true",
	}
	tests := map[string]struct {
		options     graphql.Options
		role        string
		backendOnly string
	}{
		"by itself it never gets backend-only": {graphql.Options{}, "user", ""},
		"the service may add it":               {graphql.Options{BackendOnly: true, UnauthorizedRole: "public"}, "user", "true"},
		"but not to the unauthorized role":     {graphql.Options{BackendOnly: true, UnauthorizedRole: "public"}, "public", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got http.Header
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				_, _ = io.WriteString(w, `{"data":{"files":[]}}`)
			}))
			defer s.Close()
			tt.options.Endpoint = s.URL + "/v1/graphql/"
			spoofed["x-hasura-role"] = tt.role
			caller, err := client(t, tt.options).As(spoofed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := graphql.VisibleFiles(t.Context(), caller, []string{fileID}); err != nil {
				t.Fatal(err)
			}
			for header, want := range map[string]string{
				"X-Hasura-Admin-Secret": "secret", "X-Hasura-Access-Key": "", "X-Hasura-Role": tt.role,
				"X-Hasura-User-Id": "7", "X-Hasura-Use-Backend-Only-Permissions": tt.backendOnly,
			} {
				if got.Get(header) != want {
					t.Errorf("%s: got %q, want %q", header, got.Get(header), want)
				}
			}
		})
	}
}

func TestRoot(t *testing.T) {
	for _, path := range []string{"", "/", "/v1", "/v1/", "/v1/graphql", "/v1/graphql/"} {
		for _, root := range []string{"http://hasura:8080", "https://example.com/behind/a/proxy"} {
			if got := graphql.Root(root + path); got != root {
				t.Errorf("of %s%s: %s", root, path, got)
			}
		}
	}
}

func TestAnInsertNamesOnlyWhatIsKnown(t *testing.T) {
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		_, _ = io.WriteString(w, `{"data":{"inserted":{"affected_rows":1}}}`)
	}))
	defer s.Close()
	c := client(t, graphql.Options{Endpoint: s.URL})
	id, name := fileID, "a.png"
	if _, err := graphql.InsertFiles(t.Context(), c.Admin(), []graphql.FileValues{{ID: &id, Name: &name}}); err != nil {
		t.Fatal(err)
	}
	if want := `"objects":[{"id":"` + fileID + `","name":"a.png"}]`; !strings.Contains(body, want) {
		t.Errorf("body %s lacks %s", body, want)
	}
}

func TestBigintReadsNumbersAndStrings(t *testing.T) {
	for text, want := range map[string]graphql.Bigint{`5497558138880`: 5497558138880, `"5497558138880"`: 5497558138880, `null`: 0} {
		var b graphql.Bigint
		if err := b.UnmarshalJSON([]byte(text)); err != nil || b != want {
			t.Errorf("%s: got %d, %v", text, b, err)
		}
	}
	var b graphql.Bigint
	if err := b.UnmarshalJSON([]byte(`1.5`)); err == nil {
		t.Error("1.5 was taken for a bigint")
	}
}

func TestKeysOfSessions(t *testing.T) {
	a := graphql.Session{"x-hasura-role": "user", "x-hasura-user-id": "7"}
	b := graphql.Session{"x-hasura-user-id": "7", "x-hasura-role": "user", "x-hasura-use-backend-only-permissions": "true"}
	c := graphql.Session{"x-hasura-role": "user", "x-hasura-user-id": "7\"\n\"x-hasura-team\"=\"1"}
	if a.Key() != b.Key() {
		t.Error("what is withheld must not part two sessions")
	}
	if a.Key() == c.Key() {
		t.Error("a value must not be able to imitate another session")
	}
}

func TestNewRefusesWhatIsNoURL(t *testing.T) {
	for _, endpoint := range []string{"", "hasura:8080", "ftp://hasura", "http://"} {
		if _, err := graphql.New(graphql.Options{Endpoint: endpoint}); err == nil {
			t.Errorf("%q was taken", endpoint)
		}
	}
}
