package graphql_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hasura-storage/graphql"
)

// sentBy returns the headers with which Hasura sees a request forwarded.
func sentBy(t *testing.T, patterns []string, request http.Header) http.Header {
	t.Helper()
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		_, _ = w.Write([]byte(`{"data":{"files":[]}}`))
	}))
	defer s.Close()
	c := client(t, graphql.Options{Endpoint: s.URL, ForwardHeaders: patterns})
	if _, err := graphql.VisibleFiles(t.Context(), c.Forward(request), []string{fileID}); err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{"Content-Type", "Content-Length", "User-Agent", "Accept-Encoding"} {
		got.Del(own)
	}
	return got
}

func TestForwardedHeaders(t *testing.T) {
	request := http.Header{
		"Authorization": {"Bearer x"}, "X-Hasura-Role": {"editor"}, "X-Hasura-User-Id": {"1", "2"},
		"Cookie": {"session=1"}, "X-Forwarded-For": {"10.0.0.1"}, "Content-Type": {"text/html"}, "X-Hasurax": {"no"},
	}
	tests := map[string]struct {
		patterns []string
		want     []string
	}{
		"by default, what Hasura knows a caller by": {nil, []string{"Authorization", "X-Hasura-Role", "X-Hasura-User-Id"}},
		"a cookie only if it is named":              {[]string{"cookie", "authorization"}, []string{"Authorization", "Cookie"}},
		"nothing":                                   {[]string{}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sentBy(t, test.patterns, request)
			if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, test.want) {
				t.Errorf("Hasura sees %v, want %v", names, test.want)
			}
			for _, name := range test.want {
				if !slices.Equal(got[name], request[name]) {
					t.Errorf("%s = %q, want %q", name, got[name], request[name])
				}
			}
		})
	}
}

func TestForwardedHeadersAreChecked(t *testing.T) {
	tests := map[string]string{
		"Content-Type": "belongs to the connection", "host": "belongs to the connection",
		"X Y": "not the name of a header", "": "not the name of a header", "*": "not the name of a header", "X-Has*": "a star stands after a dash",
	}
	for pattern, want := range tests {
		_, err := graphql.New(graphql.Options{Endpoint: "http://hasura", ForwardHeaders: []string{pattern}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", pattern, err, want)
		}
	}
}

func TestCallersByTheirHeaders(t *testing.T) {
	c := client(t, graphql.Options{Endpoint: "http://hasura", ForwardHeaders: []string{"Authorization", "Cookie", "X-Hasura-*"}})
	if got, want := strings.Join(c.Credentials(), " "), "Authorization Cookie X-Hasura-Admin-Secret X-Hasura-Role"; got != want {
		t.Errorf("answers vary by %q, want %q", got, want)
	}
	nobody := c.Forward(http.Header{"Accept": {"*/*"}})
	somebody := c.Forward(http.Header{"Authorization": {"Bearer x"}})
	if !nobody.Anonymous() || somebody.Anonymous() {
		t.Error("only who brings no credentials is anonymous")
	}
	if nobody.Key() == somebody.Key() || somebody.Key() != c.Forward(http.Header{"Authorization": {"Bearer x"}, "Accept": {"*/*"}}).Key() {
		t.Error("callers are told apart by their credentials and by nothing else")
	}
}

func TestWhoIsKnownByHisHeaders(t *testing.T) {
	c := client(t, graphql.Options{Endpoint: "http://hasura"})
	session, err := c.As(graphql.Session{"x-hasura-role": "user", "x-hasura-user-id": "7"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		caller graphql.Caller
		id     string
		known  bool
	}{
		"a session":                    {session, "7", true},
		"a back end for a user":        {c.Forward(http.Header{"X-Hasura-Admin-Secret": {"s"}, "X-Hasura-User-Id": {"7"}}), "7", true},
		"the admin":                    {c.Admin(), "", true},
		"a token and a claim of his":   {c.Forward(http.Header{"Authorization": {"Bearer x"}, "X-Hasura-User-Id": {"7"}}), "7", false},
		"nobody, and a claim of being": {c.Forward(http.Header{"X-Hasura-User-Id": {"7"}}), "7", false},
	} {
		if id, known := tc.caller.UserID(); known != tc.known || known && id != tc.id {
			t.Errorf("%s: %q, %v", name, id, known)
		}
	}
}

func TestSendersByTheirCredentials(t *testing.T) {
	c := client(t, graphql.Options{Endpoint: "http://hasura", ForwardHeaders: []string{"Authorization", "Cookie", "X-Hasura-*"}})
	sender := func(header http.Header) string { return c.Forward(header).Sender() }
	token := http.Header{"Authorization": {"Bearer x"}}
	for name, tc := range map[string]struct {
		a, b http.Header
		one  bool
	}{
		"a header that Hasura ignores": {token, http.Header{"Authorization": {"Bearer x"}, "X-Hasura-Junk": {"1"}}, true},
		"a guess at the secret":        {token, http.Header{"Authorization": {"Bearer x"}, "X-Hasura-Admin-Secret": {"1"}}, true},
		"more spaces":                  {token, http.Header{"Authorization": {"Bearer \t x"}}, true},
		"a small letter":               {token, http.Header{"Authorization": {"bearer x"}}, true},
		"a second token":               {token, http.Header{"Authorization": {"Bearer x", "Bearer y"}}, true},
		"an empty cookie":              {token, http.Header{"Authorization": {"Bearer x"}, "Cookie": {""}}, true},
		"another token":                {token, http.Header{"Authorization": {"Bearer y"}}, false},
		"a cookie":                     {token, http.Header{"Cookie": {"Bearer x"}}, false},
		"nobody":                       {token, nil, false},
		"nobody, by two names":         {http.Header{"X-Hasura-User-Id": {"1"}}, http.Header{"X-Hasura-User-Id": {"2"}}, true},
		"nobody, and no header at all": {http.Header{"X-Hasura-Role": {"a"}}, nil, true},
		"the admin for two others": {
			http.Header{"X-Hasura-Admin-Secret": {"s"}, "X-Hasura-User-Id": {"1"}}, http.Header{"X-Hasura-Admin-Secret": {"s"}, "X-Hasura-User-Id": {"2"}}, false,
		},
		"the admin and nobody": {http.Header{"X-Hasura-Admin-Secret": {"s"}}, nil, false},
	} {
		if one := sender(tc.a) == sender(tc.b); one != tc.one {
			t.Errorf("%s: one sender is %t", name, one)
		}
	}
}
