package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hasura-storage/actions"
)

// TestReadmeStory runs the README's own commands, in order and in one shell,
// against a fresh stack. A text block says what the commands before it print;
// … stands for anything.
func TestReadmeStory(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	dir := t.TempDir()
	stack := startStack(t, t.TempDir())
	link(t, binary(t), filepath.Join(dir, "bin", "dev"))
	link(t, abs(t, "../../actions"), filepath.Join(dir, "actions"))

	story := shellBlocks(readme(t))
	if len(story) < 5 {
		t.Fatalf("the README has only %d commands", len(story))
	}
	outputs := runStory(t, dir, story, strings.NewReplacer(
		"127.0.0.1:8080", stack.hasura, "127.0.0.1:8000", stack.service))
	for i, block := range story {
		if missing := block.missing(outputs[i]); missing != "" {
			t.Errorf("after\n%s\nthe README promises\n%s\nbut it printed\n%s", block.script, missing, outputs[i])
		}
	}
	sameSize(t, filepath.Join(dir, "copy.jpg"), "../../actions/images/testdata/photo_12mp.jpg")
}

// TestWhatTheStoryWritesIsIgnored by git: whoever follows it has a clean checkout.
func TestWhatTheStoryWritesIsIgnored(t *testing.T) {
	ignored, err := os.ReadFile("../../.gitignore")
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for _, block := range shellBlocks(readme(t)) {
		for _, m := range regexp.MustCompile(` -o ([\w.]+)`).FindAllStringSubmatch(block.script, -1) {
			written++
			if !strings.Contains(string(ignored), "\n/"+m[1]+"\n") {
				t.Errorf("%s is not in .gitignore", m[1])
			}
		}
	}
	if written < 4 {
		t.Errorf("the README writes only %d files", written)
	}
}

// block is a shell block of the README with the output promised below it.
type block struct {
	script string
	output []string
}

// shellBlocks reads the fenced blocks: sh is run, text is what it prints.
func shellBlocks(text string) []block {
	var blocks []block
	for _, m := range regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		if m[1] == "sh" {
			blocks = append(blocks, block{script: m[2]})
			continue
		}
		last := &blocks[len(blocks)-1]
		last.output = strings.Split(strings.TrimSpace(m[2]), "\n")
	}
	return blocks
}

// missing is the first promised line that output lacks, in order; "" if none.
func (b block) missing(output string) string {
	lines := strings.Split(output, "\n")
	for _, want := range b.output {
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$")
		for len(lines) > 0 && !pattern.MatchString(lines[0]) {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			return want
		}
	}
	return ""
}

// runStory runs all blocks in one bash and returns what each printed.
func runStory(t *testing.T, dir string, story []block, addresses *strings.Replacer) []string {
	t.Helper()
	const end = "--- end of block ---"
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	for _, b := range story {
		fmt.Fprintf(&script, "%s\necho; echo '%s'\n", b.script, end)
	}
	shell := exec.CommandContext(t.Context(), "bash", "-c", addresses.Replace(script.String()))
	shell.Dir = dir
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v after:\n%s", err, out)
	}
	return strings.Split(string(out), end+"\n")
}

func TestReadmeNamesEveryErrorCode(t *testing.T) {
	text := readme(t)
	for _, code := range actions.Codes() {
		if !strings.Contains(text, "\n| `"+string(code)+"` |") {
			t.Errorf("the table of errors lacks %s", code)
		}
	}
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

func abs(t *testing.T, name string) string {
	t.Helper()
	full, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func sameSize(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	if x.Size() != y.Size() {
		t.Errorf("%s has %d bytes, %s %d", a, x.Size(), b, y.Size())
	}
}
