package devserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Config says what to run and where.
type Config struct {
	// Binary is what [Build] returned. Empty means that Start builds it, into
	// the user's cache folder.
	Binary string
	// Addr is host:port; a missing or zero port means any free one, and an
	// empty host 127.0.0.1.
	Addr string
	// Dir is the data folder, made if it is missing. It needs a filesystem
	// with user extended attributes.
	Dir string
	// Scratch removes Dir when the server ends in any way but a kill.
	Scratch bool
	// AccessKey and SecretKey are the only account.
	AccessKey, SecretKey string
	// Region that signatures must carry; empty means us-east-1.
	Region string
	// Stdout gets what the server and its build have to say; nil discards it.
	Stdout io.Writer
}

const (
	startTimeout = 20 * time.Second
	stopTimeout  = 2 * time.Second
	portAttempts = 5
	readyPrefix  = "listening on "
)

// Server is a running devs3.
type Server struct {
	// Endpoint is its URL, without a path.
	Endpoint string

	command *exec.Cmd
	stdin   io.Closer
	tail    *tail
	done    chan struct{}
	err     error // why it ended; set before done is closed
}

// Start runs devs3 and returns once it accepts connections, within a second if
// the binary is there. It lives until Stop, until ctx ends, or until this
// process does, however that happens. A port in use or a data folder that
// cannot be used is reported in the server's own words.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Stdout == nil {
		c.Stdout = io.Discard
	}
	if c.Binary == "" {
		binary, err := Build(ctx, "", c.Stdout)
		if err != nil {
			return nil, err
		}
		c.Binary = binary
	}
	host, port, err := splitAddr(c.Addr)
	if err != nil {
		return nil, err
	}
	if port != "0" {
		return start(ctx, c, net.JoinHostPort(host, port))
	}
	return startAnywhere(ctx, c, host)
}

func splitAddr(addr string) (host, port string, err error) {
	host, port = addr, "0"
	if strings.Contains(addr, ":") {
		if host, port, err = net.SplitHostPort(addr); err != nil {
			return "", "", fmt.Errorf("address of the local S3 server: %w", err)
		}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "0"
	}
	return host, port, nil
}

// startAnywhere tries free ports until one is still free when the child binds it.
func startAnywhere(ctx context.Context, c Config, host string) (*Server, error) {
	var last error
	for range portAttempts {
		addr, err := freeAddr(ctx, host)
		if err != nil {
			return nil, err
		}
		server, err := start(ctx, c, addr)
		if err == nil || !strings.Contains(err.Error(), "address already in use") {
			return server, err
		}
		last = err
	}
	return nil, last
}

func freeAddr(ctx context.Context, host string) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func start(ctx context.Context, c Config, addr string) (*Server, error) {
	command, err := c.command(ctx, addr)
	if err != nil {
		return nil, err
	}
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	command.Cancel = stdin.Close // its wish to end, before the kill
	command.WaitDelay = stopTimeout
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &Server{Endpoint: "http://" + addr, command: command, stdin: stdin, tail: &tail{out: c.Stdout}, done: make(chan struct{})}
	command.Stderr = s.tail
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("local S3 server: %w", err)
	}
	ready := make(chan struct{})
	go s.watch(bufio.NewReader(stdout), c.Stdout, ready)
	if err := s.await(ctx, ready); err != nil {
		return nil, err
	}
	return s, nil
}

// command is the child, which does not take part in a Ctrl-C of the terminal:
// whoever started it ends it, after the last request that needs it.
func (c Config) command(ctx context.Context, addr string) (*exec.Cmd, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil || c.Dir == "" {
		return nil, errors.Join(errors.New("the local S3 server needs a data folder"), err)
	}
	args := []string{"-with-parent", "-addr", addr, "-dir", dir}
	if c.Region != "" {
		args = append(args, "-region", c.Region)
	}
	if c.Scratch {
		args = append(args, "-scratch")
	}
	//nolint:gosec // whoever calls Start chooses what runs
	command := exec.CommandContext(ctx, c.Binary, args...)
	command.Env = append(os.Environ(), "DEVS3_ACCESS_KEY="+c.AccessKey, "DEVS3_SECRET_KEY="+c.SecretKey)
	command.SysProcAttr = childAttributes()
	return command, nil
}

// watch passes the child's output on and notes its end.
func (s *Server) watch(stdout *bufio.Reader, out io.Writer, ready chan<- struct{}) {
	for {
		line, err := stdout.ReadString('\n')
		if strings.HasPrefix(line, readyPrefix) {
			close(ready)
			_, _ = io.Copy(out, stdout)
			break
		}
		if err != nil {
			break
		}
	}
	s.err = s.command.Wait()
	close(s.done)
}

func (s *Server) await(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	case <-s.done:
		return fmt.Errorf("the local S3 server did not start: %s", s.tail.last(s.err))
	case <-ctx.Done():
		<-s.done
		return ctx.Err()
	case <-time.After(startTimeout):
		_ = s.command.Process.Kill()
		<-s.done
		return fmt.Errorf("the local S3 server did not start within %s: %s", startTimeout, s.tail.last(s.err))
	}
}

// Stop ends the server and waits until it is gone, two seconds at most. What
// was acknowledged is stored. Stopping twice is fine.
func (s *Server) Stop() {
	_ = s.stdin.Close()
	select {
	case <-s.done:
	case <-time.After(stopTimeout):
		s.Kill()
	}
}

// Kill ends the server at once, as a crash would, and waits until it is gone.
func (s *Server) Kill() {
	_ = s.command.Process.Kill()
	<-s.done
}

// Done is closed when the server has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// tail keeps the end of what the child says on standard error, which names the
// reason when it gives up.
type tail struct {
	mu   sync.Mutex
	out  io.Writer
	text []byte
}

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return t.out.Write(p)
}

func (t *tail) last(err error) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return text
	}
	return fmt.Sprint(err)
}
