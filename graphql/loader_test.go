package graphql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hasura-storage/graphql"
)

// counting is a Hasura that answers with the ids it was asked for, as far as
// hidden lets it, and remembers what it was asked. It stands in for the real one
// where a test has to hold its answers back and count them.
type counting struct {
	mu     sync.Mutex
	asked  [][]string // ids of each request
	roles  []string
	hold   chan struct{} // each answer takes one, unless nil
	give   time.Duration // the client's Timeout
	hidden func(id string) bool
	limit  int // of rows in one answer, 0 for none
	fail   string
	byKey  bool // the role has only file(id:)
}

func (c *counting) start(t *testing.T) *graphql.Client {
	t.Helper()
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	return client(t, graphql.Options{Endpoint: s.URL, Timeout: c.give})
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		OperationName string
		Variables     struct {
			IDs []string
			ID  string
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	ids := request.Variables.IDs
	if request.OperationName == "VisibleFile" {
		ids = []string{request.Variables.ID}
	}
	c.mu.Lock()
	c.asked, c.roles = append(c.asked, ids), append(c.roles, r.Header.Get("x-hasura-role"))
	fail := c.fail
	c.mu.Unlock()
	if c.hold != nil {
		<-c.hold
	}
	switch {
	case fail != "":
		_, _ = io.WriteString(w, `{"errors":[{"message":"M","extensions":{"path":"$","code":"`+fail+`"}}]}`)
	case request.OperationName == "VisibleFile":
		_, _ = fmt.Fprintf(w, `{"data":{"file":%s}}`, c.row(ids[0]))
	case c.byKey && request.OperationName == "VisibleFiles":
		_, _ = io.WriteString(w, `{"errors":[{"message":"field 'files' not found in type: 'query_root'","extensions":{"path":"$","code":"validation-failed"}}]}`)
	default:
		_, _ = fmt.Fprintf(w, `{"data":{"files":[%s]}}`, strings.Join(c.rows(ids), ","))
	}
}

func (c *counting) row(id string) string {
	if c.hidden != nil && c.hidden(id) {
		return "null"
	}
	return `{"id":"` + id + `"}`
}

func (c *counting) rows(ids []string) []string {
	var rows []string
	for _, id := range ids {
		if row := c.row(id); row != "null" && (c.limit == 0 || len(rows) < c.limit) {
			rows = append(rows, row)
		}
	}
	return rows
}

func (c *counting) requests() [][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

func caller(t *testing.T, c *graphql.Client, role string) graphql.Caller {
	t.Helper()
	as, err := c.As(graphql.Session{"x-hasura-role": role})
	if err != nil {
		t.Fatal(err)
	}
	return as
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 400 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("never came about: %s", what)
}

func TestQuestionsOfOneSessionAreAskedTogether(t *testing.T) {
	h := &counting{hold: make(chan struct{})}
	c := h.start(t)
	l := graphql.NewLoader(c)
	as := caller(t, c, "user")
	var answered sync.WaitGroup
	ask := func(as graphql.Caller, id string) {
		answered.Go(func() {
			if may, err := l.Visible(t.Context(), as, []string{id}); err != nil || !may[id] {
				t.Errorf("%s: %v, %v", id, may, err)
			}
		})
	}
	ask(as, "first")
	eventually(t, "the first request", func() bool { return len(h.requests()) == 1 })
	for i := range 50 {
		ask(as, fmt.Sprint("later", i))
	}
	ask(as, "later0") // asked for once
	ask(caller(t, c, "other"), "apart")
	eventually(t, "the other session's own request", func() bool { return len(h.requests()) == 2 })
	time.Sleep(20 * time.Millisecond)
	close(h.hold)
	answered.Wait()
	requests := h.requests()
	sizes := make([]int, 0, len(requests))
	for _, ids := range requests {
		sizes = append(sizes, len(ids))
	}
	if !slices.Equal(sizes, []int{1, 1, 50}) {
		t.Errorf("requests of %v ids, want 1, 1 and 50", sizes)
	}
}

func TestACallerWhoLeavesDoesNotCancelTheOthers(t *testing.T) {
	h := &counting{hold: make(chan struct{})}
	c := h.start(t)
	l := graphql.NewLoader(c)
	as := caller(t, c, "user")
	leaving, leave := context.WithCancel(t.Context())
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() { _, err := l.Visible(leaving, as, []string{"a"}); left <- err }()
	eventually(t, "the request", func() bool { return len(h.requests()) == 1 })
	go func() { _, err := l.Visible(t.Context(), as, []string{"b"}); stayed <- err }()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	close(h.hold)
	if err := <-stayed; err != nil {
		t.Errorf("who stayed got %v", err)
	}
}

func TestAHasuraThatStandsStillIsGivenUp(t *testing.T) {
	h := &counting{hold: make(chan struct{}), give: 50 * time.Millisecond}
	c := h.start(t)
	defer close(h.hold)
	l := graphql.NewLoader(c)
	as := caller(t, c, "user")
	later, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for name, ask := range map[string]func() error{
		"alone":        func() error { _, err := graphql.GetFiles(t.Context(), as, nil); return err },
		"with time":    func() error { _, err := graphql.GetFiles(later, as, nil); return err },
		"together":     func() error { _, err := l.Visible(t.Context(), as, []string{"a"}); return err },
		"both at once": func() error { _, err := l.VisibleFile(t.Context(), as, "a"); return err },
	} {
		if err := ask(); !errors.Is(err, graphql.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAnErrorReachesThoseWhoWaitedAndNobodyElse(t *testing.T) {
	h := &counting{fail: "postgres-error"}
	c := h.start(t)
	l := graphql.NewLoader(c)
	as := caller(t, c, "user")
	if _, err := l.Visible(t.Context(), as, []string{"a"}); !errors.Is(err, graphql.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	h.mu.Lock()
	h.fail = ""
	h.mu.Unlock()
	if may, err := l.Visible(t.Context(), as, []string{"a"}); err != nil || !may["a"] {
		t.Errorf("the next got %v, %v", may, err)
	}
}

func TestARowLimitDoesNotHideFiles(t *testing.T) {
	h := &counting{limit: 3, hidden: func(id string) bool { return id == "g" }}
	c := h.start(t)
	may, err := graphql.NewLoader(c).Visible(t.Context(), caller(t, c, "user"), []string{"a", "b", "c", "d", "e", "f", "g", "h"})
	if err != nil || len(may) != 7 || may["g"] {
		t.Errorf("got %v, %v", may, err)
	}
}

func TestARoleThatHasOnlyTheFieldByKey(t *testing.T) {
	h := &counting{byKey: true, hidden: func(id string) bool { return id == "b" }}
	c := h.start(t)
	l := graphql.NewLoader(c)
	as := caller(t, c, "user")
	for range 2 {
		may, err := l.Visible(t.Context(), as, []string{"a", "b"})
		if err != nil || !may["a"] || may["b"] {
			t.Errorf("got %v, %v", may, err)
		}
	}
	if n := len(h.requests()); n != 1+2+2 {
		t.Errorf("%d requests, want 5: which field the role has is remembered, the decision is not", n)
	}
}

func TestNoDecisionIsKept(t *testing.T) {
	gone := false
	h := &counting{hidden: func(string) bool { return gone }}
	c := h.start(t)
	l := graphql.NewLoader(c)
	as := caller(t, c, "user")
	for _, want := range []bool{true, false} {
		gone = !want
		if may, err := l.Visible(t.Context(), as, []string{"a"}); err != nil || may["a"] != want {
			t.Errorf("got %v, %v, want %v", may, err, want)
		}
	}
}
