package service

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
)

// TestMain: a service that has ended leaves nothing running. The store of the
// tests, and idle connections to it, end with the process; whoever asked Hasura
// waits a second for more to ask.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("hasura-storage/graphql.crew.join"),
		goleak.IgnoreAnyFunction("hasura-storage/s3/devserver.(*Server).watch"),
		goleak.IgnoreAnyFunction("os/exec.(*Cmd).Start.func2"), goleak.IgnoreAnyFunction("os/exec.(*Cmd).watchCtx.func1"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// instance is a running service.
type instance struct {
	url   string
	stop  context.CancelFunc
	ended <-chan error
}

// start runs the service as the binary does, with a Hasura that answers by hasura.
func start(t *testing.T, hasura http.HandlerFunc, pairs ...string) instance {
	t.Helper()
	engine := httptest.NewServer(hasura)
	t.Cleanup(engine.Close)
	pairs = append([]string{
		"HASURA_ENDPOINT", engine.URL + "/v1", "BIND", "127.0.0.1:0", "HASURA_STORAGE_SECRET", "the-secret",
		"S3_ENDPOINT", "127.0.0.1:1", "S3_DISABLE_HTTPS", "true", "S3_ACCESS_KEY", "ak", "S3_SECRET_KEY", "sk",
	}, pairs...)
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, with(pairs...), zap.NewNop(), ready) }()
	select {
	case addr := <-ready:
		return instance{"http://" + addr.String(), stop, ended}
	case err := <-ended:
		stop()
		t.Fatal(err)
		return instance{}
	}
}

func (i instance) end(t *testing.T) {
	t.Helper()
	i.stop()
	select {
	case err := <-i.ended:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	http.DefaultClient.CloseIdleConnections()
}

func (i instance) get(t *testing.T, path string) (int, string) {
	t.Helper()
	answer, err := http.Get(i.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func away(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }

func TestRun(t *testing.T) {
	i := start(t, away)
	for path, want := range map[string]int{
		"/healthz": 200, "/v1/healthz": 200, "/version": 200, "/readyz": 503, "/actions/storageDownload": 401,
		"/v1/files/x/signed/y": 403, "/nothing": 404,
	} {
		if got, body := i.get(t, path); got != want {
			t.Errorf("%s: %d %s, want %d", path, got, body, want)
		}
	}
	i.end(t)
}

// TestStopLetsRequestsEnd holds an action at Hasura while the service is stopped.
func TestStopLetsRequestsEnd(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	i := start(t, func(w http.ResponseWriter, r *http.Request) {
		if query, _ := io.ReadAll(r.Body); strings.Contains(string(query), `"Ping"`) {
			away(w, r) // whether it is ready is not the question here
			return
		}
		close(arrived)
		<-release
		_, _ = io.WriteString(w, `{"errors":[{"message":"no","extensions":{"code":"permission-error","path":"$"}}]}`)
	})
	type result struct {
		status int
		err    error
	}
	answered := make(chan result, 1)
	go func() {
		body := `{"action":{"name":"storageDeleteFiles"},"input":{"ids":["6dd1e6a6-0a0e-4c0a-9d6e-3f6f6c2f8a01"]},"session_variables":{"x-hasura-role":"user"}}`
		r, _ := http.NewRequest(http.MethodPost, i.url+"/actions/storageDeleteFiles", strings.NewReader(body))
		r.Header.Set("X-Hasura-Storage-Secret", "the-secret")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			answered <- result{0, err}
			return
		}
		_ = answer.Body.Close()
		answered <- result{answer.StatusCode, nil}
	}()
	<-arrived
	i.stop()
	time.Sleep(50 * time.Millisecond)
	close(release)
	if got := <-answered; got.err != nil || got.status < 400 || got.status > 499 {
		t.Errorf("the request ended with %+v", got)
	}
	i.end(t)
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tc := range map[string]struct {
		pairs []string
		want  string
	}{
		"a port in use":        {[]string{"BIND", taken.Addr().String()}, "BIND " + taken.Addr().String()},
		"a bucket of no name":  {[]string{"S3_BUCKET", "UPPER case"}, `bucket "UPPER case"`},
		"a store that is none": {[]string{"S3_ENDPOINT", "ftp://store"}, "must be http or https"},
		"nothing at all":       {[]string{"HASURA_ENDPOINT", ""}, "HASURA_ENDPOINT is required"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(t.Context(), with(tc.pairs...), zap.NewNop(), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestASlowHeaderIsCut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds")
	}
	i := start(t, away)
	conn, err := net.Dial("tcp", strings.TrimPrefix(i.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	_ = conn.SetReadDeadline(time.Now().Add(9 * time.Second))
	if _, err := io.ReadAll(conn); errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("the connection is still open: %v", err)
	}
	i.end(t)
}
