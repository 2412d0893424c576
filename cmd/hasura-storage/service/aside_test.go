package service

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"
)

func TestProfilesHaveAListenerOfTheirOwn(t *testing.T) {
	addr := freeAddr(t)
	i := start(t, away, "BIND_PPROF", addr)
	if got, body := i.get(t, "/debug/pprof/cmdline"); got != http.StatusNotFound {
		t.Errorf("the service itself answers %d %s", got, body)
	}
	for path, want := range map[string]string{"": "Types of profiles", "goroutine?debug=1": "goroutine profile:", "heap?debug=1": "heap profile:"} {
		answer, err := http.Get("http://" + addr + "/debug/pprof/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%q: %d %.60s", path, answer.StatusCode, body)
		}
	}
	i.end(t)
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("profiles are still offered after the end")
	}
}

func TestWithoutItsSettingThereAreNoProfiles(t *testing.T) {
	i := start(t, away)
	if got, _ := i.get(t, "/debug/pprof/"); got != http.StatusNotFound {
		t.Errorf("status %d", got)
	}
	i.end(t)
}

func TestProfilesAtAPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	err = Run(t.Context(), with("BIND_PPROF", taken.Addr().String(), "BIND", "127.0.0.1:0"), zap.NewNop(), nil)
	if err == nil || !strings.Contains(err.Error(), "BIND_PPROF "+taken.Addr().String()) {
		t.Errorf("err = %v", err)
	}
}

// freeAddr is host:port where nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
