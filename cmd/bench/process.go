package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	readyTime = 60 * time.Second // that a part may take to start
	stopTime  = 10 * time.Second
	tick      = time.Second / 100 // unit of processor times in /proc, on every Linux
)

// process is a part that runs. It ends with its standard input, so that nothing
// outlives this program.
type process struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	ended   chan struct{}
	Addr    string // where it listens, host:port
}

// startPart runs this program as another part and waits until it says where it listens.
func startPart(ctx context.Context, name string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, append([]string{name}, args...)...)
	command.Stderr = os.Stderr
	stdin, errIn := command.StdinPipe()
	stdout, errOut := command.StdoutPipe()
	if err := errors.Join(errIn, errOut, command.Start()); err != nil {
		return nil, err
	}
	p := &process{command: command, stdin: stdin, ended: make(chan struct{})}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", name, errors.Join(err, command.Wait()))
	}
	p.Addr = strings.TrimSpace(line)
	go func() { _ = command.Wait(); close(p.ended) }()
	return p, nil
}

// startBinary runs a program with an environment of its own; its log goes to a file.
func startBinary(ctx context.Context, binary, log string, env []string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	command := exec.CommandContext(ctx, binary)
	command.Env, command.Stderr, command.Stdout = env, out, out
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &process{command: command, ended: make(chan struct{})}
	go func() { _ = command.Wait(); close(p.ended) }()
	return p, nil
}

// stop asks the process to end, and kills it if it does not.
func (p *process) stop() {
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	_ = p.command.Process.Signal(syscall.SIGCONT) // it may be held
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

func (p *process) pid() int { return p.command.Process.Pid }

// cpu is the processor time that the process has used, in user and kernel mode.
func (p *process) cpu() time.Duration {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid()))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(content), ") ") // the name before may hold blanks
	fields := strings.Fields(rest)
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}

// memory is what the process holds in bytes now, and what it held at most since resetPeak.
func (p *process) memory() (now, peak int64) {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid()))
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kib << 10
		case "VmHWM":
			peak = kib << 10
		}
	}
	return now, peak
}

func (p *process) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.pid()), []byte("5"), 0)
}

// announce tells the parent where a part listens, and returns when the parent
// has closed our standard input.
func announce(addr string) {
	fmt.Println(addr)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
