package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	const pass = `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
	const skip = `{"Action":"output","Package":"p","Test":"TestS","Output":"    s_test.go:5: no clamd here\n"}
{"Action":"output","Package":"p","Test":"TestS","Output":"--- SKIP: TestS (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestS"}
`
	const fail = `{"Action":"output","Package":"p","Test":"TestF","Output":"    f_test.go:9: got 1\n"}
{"Action":"fail","Package":"p","Test":"TestF"}
`
	tests := map[string]struct {
		in      string
		noSkips bool
		has     []string
		hasNot  []string
		err     string
	}{
		"a passing test is silent, its package is not": {
			in: pass, has: []string{"ok  \tp", "1 tests passed"}, hasNot: []string{"=== RUN", "PASS"}},
		"a skip is named with its reason": {
			in: pass + skip, has: []string{"skipped p TestS: s_test.go:5: no clamd here"}},
		"a skip fails where everything is required": {
			in: pass + skip, noSkips: true, err: "1 tests were skipped"},
		"a failure shows what the test said": {
			in: pass + fail, has: []string{"f_test.go:9: got 1"}, err: "failed: p TestF"},
		"a package that does not build": {
			in:  `{"Action":"build-output","Output":"x.go:1: oops\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n",
			has: []string{"x.go:1: oops"}, err: "failed: p"},
		"a line that is not JSON is shown": {
			in: "go: downloading x\n" + pass, has: []string{"go: downloading x"}},
		"nothing at all is a failure": {in: "", err: "no test ran"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := report(strings.NewReader(tt.in), &out, tt.noSkips)
			check(t, out.String(), tt.has, tt.hasNot)
			if got := errorText(err); !strings.Contains(got, tt.err) || (tt.err == "") != (got == "") {
				t.Errorf("error = %q, want %q in it", got, tt.err)
			}
		})
	}
}

func check(t *testing.T, got string, has, hasNot []string) {
	t.Helper()
	for _, text := range has {
		if !strings.Contains(got, text) {
			t.Errorf("%q is missing in:\n%s", text, got)
		}
	}
	for _, text := range hasNot {
		if strings.Contains(got, text) {
			t.Errorf("%q should not be in:\n%s", text, got)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
