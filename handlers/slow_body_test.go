package handlers_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hasura-storage/handlers"
)

// TestARefusalDoesNotWaitForTheBody: who sends the beginning of a body and then
// nothing has his answer at once, and the connection ends.
func TestARefusalDoesNotWaitForTheBody(t *testing.T) {
	server := httptest.NewServer(handlers.New(&stub{}, options()))
	defer server.Close()
	for name, tt := range map[string]struct {
		request string
		status  int
	}{
		"an unknown route":      {"POST /nope", http.StatusNotFound},
		"a health check":        {"GET /healthz", http.StatusOK},
		"an action, no secret":  {"POST /actions/storageDownload", http.StatusUnauthorized},
		"a sweep, wrong secret": {"POST /cron/sweep", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", tt.request)
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != tt.status || !answer.Close {
				t.Errorf("status %d, connection closes: %v", answer.StatusCode, answer.Close)
			}
		})
	}
}
