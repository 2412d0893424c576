package graphql_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"hasura-storage/graphql"
)

// guarded is a Hasura that shows every file to the admin, and to a role those
// that begin with the role's name.
type guarded struct {
	mu    sync.Mutex
	asked map[string]int // requests, by operation
	fail  map[string]string
	begun chan struct{} // gets one for each request, unless nil
	hold  chan struct{} // each answer takes one, unless nil
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		OperationName string
		Variables     struct{ IDs []string }
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	g.mu.Lock()
	g.asked[request.OperationName]++
	g.mu.Unlock()
	if g.hold != nil {
		g.begun <- struct{}{}
		<-g.hold
	}
	if code := g.fail[request.OperationName]; code != "" {
		_, _ = fmt.Fprintf(w, `{"errors":[{"message":"M","extensions":{"path":"$","code":%q}}]}`, code)
		return
	}
	var rows []string
	for _, id := range request.Variables.IDs {
		if strings.HasPrefix(id, r.Header.Get("X-Hasura-Role")) && id != "absent" {
			rows = append(rows, fmt.Sprintf(`{"id":%q,"bucketId":"b"}`, id))
		}
	}
	_, _ = fmt.Fprintf(w, `{"data":{"files":[%s]}}`, strings.Join(rows, ","))
}

func (g *guarded) loader(t *testing.T) (*graphql.Loader, *graphql.Client) {
	t.Helper()
	g.asked = map[string]int{}
	s := httptest.NewServer(g)
	t.Cleanup(s.Close)
	c := client(t, graphql.Options{Endpoint: s.URL})
	return graphql.NewLoader(c), c
}

func TestVisibleFile(t *testing.T) {
	const user = "user"
	for name, tc := range map[string]struct {
		id   string
		fail map[string]string
		want string
		err  error
	}{
		"a file that the caller may see":     {id: "user-1", want: "user-1"},
		"a file of somebody else":            {id: "other-1"},
		"a file that does not exist":         {id: "absent"},
		"a caller who may select nothing":    {id: "user-1", fail: map[string]string{"VisibleFiles": "validation-failed", "VisibleFile": "validation-failed"}, err: graphql.ErrNotAllowed},
		"an admin's question that fails":     {id: "user-1", fail: map[string]string{"GetFiles": "unexpected"}, err: graphql.ErrUnavailable},
		"a caller whose credentials are old": {id: "user-1", fail: map[string]string{"VisibleFiles": "invalid-jwt"}, err: graphql.ErrUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			g := &guarded{fail: tc.fail}
			l, c := g.loader(t)
			row, err := l.VisibleFile(t.Context(), caller(t, c, user), tc.id)
			if !errors.Is(err, tc.err) || (row != nil) != (tc.want != "") || row != nil && row.Id != tc.want {
				t.Errorf("got %+v, %v; want %q, %v", row, err, tc.want, tc.err)
			}
		})
	}
}

// TestVisibleFileOfManyCallers: those of one session share both questions, and
// no session gets what another may see.
func TestVisibleFileOfManyCallers(t *testing.T) {
	g := &guarded{begun: make(chan struct{}, 1000), hold: make(chan struct{})}
	l, c := g.loader(t)
	user, other := caller(t, c, "user"), caller(t, c, "other")
	var answered sync.WaitGroup
	look := func(as graphql.Caller, id string, visible bool) {
		answered.Go(func() {
			row, err := l.VisibleFile(t.Context(), as, id)
			if err != nil || (row != nil) != visible {
				t.Errorf("%s: %v, %v", id, row, err)
			}
		})
	}
	look(user, "user-first", true)
	<-g.begun
	<-g.begun // both questions are on their way
	for i := range 40 {
		look(user, fmt.Sprint("user-", i), true)
		look(user, fmt.Sprint("other-", i), false)
	}
	look(other, "user-1", false)
	<-g.begun
	close(g.hold)
	answered.Wait()
	if n := g.asked["VisibleFiles"]; n > 30 { // one or two, but for those that come too late
		t.Errorf("82 questions took %d requests as callers, by operation %v", n, g.asked)
	}
}

func TestKeysOfCallers(t *testing.T) {
	c := client(t, graphql.Options{Endpoint: "http://hasura:8080"})
	keys := make([]string, 0, 10)
	for _, headers := range []map[string][]string{
		{},
		{"Authorization": {"a"}},
		{"Authorization": {"a", ""}},
		{"Authorization": {"a", "b"}},
		{"Authorization": {"ab"}},
		{"Authorization": {"b", "a"}},
		{"Authorization": {"a"}, "X-Hasura-Role": {"b"}},
		{"Authorization": {"a"}, "X-Hasura-Role": {""}},
		{"X-Hasura-Role": {"b"}},
		{"X-Hasura-Roleb": {""}},
	} {
		key := c.Forward(headers).Key()
		if again := c.Forward(headers).Key(); again != key {
			t.Errorf("%v has the keys %q and %q", headers, key, again)
		}
		if slices.Contains(keys, key) {
			t.Errorf("%v has the key %q of other headers", headers, key)
		}
		keys = append(keys, key)
	}
}
