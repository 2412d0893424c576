package clamd_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"hasura-storage/actions/internal/clamd"
	"hasura-storage/actions/internal/clamd/clamdtest"
)

func client(t *testing.T, server string) *clamd.Client {
	t.Helper()
	c, err := clamd.New(server)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestARealDaemon(t *testing.T) {
	c := client(t, clamdtest.Start(t, 1<<20))
	for name, tc := range map[string]struct {
		body  []byte
		virus string
		err   error
	}{
		"a virus":                  {clamdtest.Eicar(), clamdtest.Virus, nil},
		"something harmless":       {[]byte("hello"), "", nil},
		"nothing":                  {nil, "", nil},
		"many pieces":              {bytes.Repeat([]byte("0123456789"), 90_000), "", nil},
		"more than the daemon has": {make([]byte, 8<<20), "", clamd.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			virus, err := c.Scan(t.Context(), bytes.NewReader(tc.body))
			if virus != tc.virus || !errors.Is(err, tc.err) {
				t.Errorf("got %q, %v", virus, err)
			}
		})
	}
}

// answering listens as a daemon that reads a little, answers and hangs up.
func answering(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.ReadFull(conn, make([]byte, 10))
				_, _ = io.WriteString(conn, answer)
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return "tcp://" + l.Addr().String()
}

func TestWhatIsNoVerdictIsNoPass(t *testing.T) {
	for name, server := range map[string]string{
		"nobody listens":         "tcp://127.0.0.1:1",
		"an error of the daemon": answering(t, "stream: Can't allocate memory ERROR\x00"),
		"another protocol":       answering(t, "HTTP/1.1 400 Bad Request\r\n\r\n\x00"),
		"no socket":              "unix:///nowhere/clamd.sock",
	} {
		t.Run(name, func(t *testing.T) {
			if virus, err := client(t, server).Scan(t.Context(), bytes.NewReader([]byte("x"))); virus != "" || !errors.Is(err, clamd.ErrUnavailable) {
				t.Errorf("got %q, %v", virus, err)
			}
		})
	}
}

func TestAnErrorOfTheBodyIsItsOwn(t *testing.T) {
	broken := errors.New("the store hung up")
	body := io.MultiReader(bytes.NewReader([]byte("x")), failing{broken})
	if _, err := client(t, answering(t, "")).Scan(t.Context(), body); !errors.Is(err, broken) || errors.Is(err, clamd.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestWhoeverLeavesIsNotKept(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client(t, answering(t, "")).Scan(ctx, bytes.NewReader([]byte("x"))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, server := range []string{"", "clamd:3310", "tcp://clamd", "tcp://clamd:3310/path", "http://clamd:3310", "unix://socket", "tcp://:3310"} {
		if _, err := clamd.New(server); err == nil {
			t.Errorf("%q was taken", server)
		}
	}
}
