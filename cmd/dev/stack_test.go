package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The first start builds the S3 server from source, on a slow machine with an
// empty module cache.
const startLimit = 10 * time.Minute

// child is the real program, running as a user would run it.
type child struct {
	hasura, store, service string // host:port
	process                *exec.Cmd
	ended                  chan struct{}
	output                 *transcript
	killed                 bool
}

// startStack starts the stack with its data in dir, on free ports, and waits until it is ready.
// It is stopped when the test ends, and must stop without an error.
func startStack(t *testing.T, dir string) *child {
	t.Helper()
	c := launch(t, dir)
	select {
	case <-c.output.ready:
		t.Cleanup(func() { c.stop(t) })
	case <-c.ended:
		t.Fatalf("the stack ended at once:\n%s", c.output)
	case <-time.After(startLimit):
		_ = c.process.Process.Kill()
		t.Fatalf("the stack is not ready after %v:\n%s", startLimit, c.output)
	}
	return c
}

// launch starts the stack and does not wait. Entries of env, NAME=value, win
// over the free ports.
func launch(t *testing.T, dir string, env ...string) *child {
	t.Helper()
	return launchCommand(t, exec.Command(binary(t)), dir, env...)
}

func launchCommand(t *testing.T, command *exec.Cmd, dir string, env ...string) *child {
	t.Helper()
	c := &child{
		hasura: freeAddr(t), store: freeAddr(t), service: freeAddr(t),
		process: command, ended: make(chan struct{}), output: newTranscript("A first mutation"),
	}
	c.process.Env = append(os.Environ(), "DEV_DATA="+dir, "DEV_HASURA_ADDR="+c.hasura, "DEV_S3_ADDR="+c.store, "BIND="+c.service)
	c.process.Env = append(c.process.Env, env...)
	c.process.Stdout, c.process.Stderr = c.output, c.output
	if err := c.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.process.Wait(); close(c.ended) }()
	return c
}

// stop ends the stack as Ctrl-C does and checks that nothing of it is left. One
// that a test killed is left alone.
func (c *child) stop(t *testing.T) {
	t.Helper()
	if c.killed {
		return
	}
	c.end(t, syscall.SIGTERM)
	if !c.process.ProcessState.Success() {
		t.Errorf("the stack ended with %v:\n%s", c.process.ProcessState, c.output)
	}
	c.nothingLeft(t)
}

func (c *child) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	c.killed = signal == syscall.SIGKILL
	_ = c.process.Process.Signal(signal) // it may have ended already
	select {
	case <-c.ended:
	case <-time.After(20 * time.Second):
		_ = c.process.Process.Kill()
		t.Fatalf("the stack still runs 20 seconds after %v:\n%s", signal, c.output)
	}
}

// nothingLeft waits until no port answers: the S3 server is a process of its own.
func (c *child) nothingLeft(t *testing.T) {
	t.Helper()
	for _, addr := range []string{c.hasura, c.store, c.service} {
		deadline := time.Now().Add(5 * time.Second)
		for answers(addr) {
			if time.Now().After(deadline) {
				t.Errorf("something still listens on %s", addr)
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func answers(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// binary builds the program once for all tests.
func binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binDir, "dev")
	out, err := exec.Command("go", "build", "-tags", "nodynamic", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

var binDir string

func TestMain(m *testing.M) {
	var err error
	if binDir, err = os.MkdirTemp("", "dev"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(binDir)
	os.Exit(code)
}

// freeAddr is an address that nobody listened on a moment ago.
func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// transcript keeps what a program prints and says when a text has come.
type transcript struct {
	mu    sync.Mutex
	text  bytes.Buffer
	until string
	ready chan struct{}
	once  sync.Once
}

var _ io.Writer = (*transcript)(nil)

func newTranscript(until string) *transcript {
	return &transcript{until: until, ready: make(chan struct{})}
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.text.Write(p)
	if strings.Contains(t.text.String(), t.until) {
		t.once.Do(func() { close(t.ready) })
	}
	return n, err
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
