// Command testreport reads the output of `go test -json` on its standard input,
// prints what `go test` itself would print, and then names every test that was
// skipped, with its reason. It fails if a test failed and, with -no-skips, if
// one was skipped.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	noSkips := flag.Bool("no-skips", false, "a skipped test is a failure")
	flag.Parse()
	if err := report(os.Stdin, os.Stdout, *noSkips); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

// event is a line of `go doc test2json`.
type event struct {
	Action  string `json:"Action"`
	Package string `json:"Package"`
	Test    string `json:"Test"`
	Output  string `json:"Output"`
}

// suite collects what is known until now. Output of a test is held back until
// it is known whether anybody wants to read it.
type suite struct {
	out     io.Writer
	held    map[string][]string
	skipped []string
	failed  []string
	passed  int
}

// report copies a run to out and returns an error unless it was a success.
func report(in io.Reader, out io.Writer, noSkips bool) error {
	s := &suite{out: out, held: map[string][]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20) // a test that prints a file makes one long line
	for lines.Scan() {
		s.line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return s.close(noSkips)
}

func (s *suite) line(raw []byte) {
	var e event
	if json.Unmarshal(raw, &e) != nil {
		fmt.Fprintln(s.out, string(raw)) // such as "go: downloading …"
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.output(key, e)
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "pass":
		s.end(key, e)
	case "skip":
		s.skip(key, e)
	case "fail", "build-fail":
		s.fail(key)
	}
}

func (s *suite) output(key string, e event) {
	if e.Test != "" {
		s.held[key] = append(s.held[key], e.Output)
		return
	}
	if e.Output != "PASS\n" {
		fmt.Fprint(s.out, e.Output)
	}
}

func (s *suite) end(key string, e event) {
	if e.Test != "" {
		s.passed++
	}
	delete(s.held, key)
}

// skip ignores packages: one without tests is reported as skipped too.
func (s *suite) skip(key string, e event) {
	if e.Test == "" {
		return
	}
	s.skipped = append(s.skipped, fmt.Sprintf("%s: %s", key, reason(s.held[key])))
	delete(s.held, key)
}

func (s *suite) fail(key string) {
	fmt.Fprint(s.out, strings.Join(s.held[key], ""))
	delete(s.held, key)
	s.failed = append(s.failed, strings.TrimSpace(key))
}

// reason finds the text of t.Skip in what a test printed: the last line that is
// not the framework's own.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		text := strings.TrimSpace(line)
		if text != "" && !strings.HasPrefix(text, "---") && !strings.HasPrefix(text, "===") {
			return text
		}
	}
	return "no reason given"
}

func (s *suite) close(noSkips bool) error {
	fmt.Fprintf(s.out, "\n%d tests passed, %d failed, %d skipped\n", s.passed, len(s.failed), len(s.skipped))
	for _, text := range s.skipped {
		fmt.Fprintln(s.out, "  skipped", text)
	}
	if len(s.failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(s.failed, ", "))
	}
	if s.passed == 0 {
		return errors.New("no test ran")
	}
	if noSkips && len(s.skipped) > 0 {
		return fmt.Errorf("%d tests were skipped, and here none may be", len(s.skipped))
	}
	return nil
}
