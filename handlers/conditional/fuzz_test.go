package conditional_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"hasura-storage/handlers/conditional"
)

// oneRange is the grammar of RFC 9110 section 14.1.2 for a single range, read a second time.
var oneRange = regexp.MustCompile(`(?i)^[ \t]*bytes[ \t]*=[ \t]*(\d*)-(\d*)[ \t]*$`)

// FuzzRange checks that a decision always stays inside the file, and that only
// what the grammar allows is ever answered otherwise than with the whole.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{"bytes=0-", "bytes=-5", "bytes=5-4", "bytes=1-2,3-4", "bytes=99999999999999999999-", "=", "bytes=--1"} {
		f.Add(seed, int64(100))
	}
	f.Fuzz(func(t *testing.T, value string, size int64) {
		size = max(size, 0)
		d := conditional.Decide(http.MethodGet, http.Header{"Range": {value}}, conditional.Facts{Size: size})
		if d.Answer != conditional.Whole && !oneRange.MatchString(value) {
			t.Fatalf("Range %q is answered %+v", value, d)
		}
		if d.Answer == conditional.Part && (d.Offset < 0 || d.Length < 1 || d.Length > size-d.Offset) {
			t.Fatalf("Range %q of %d bytes is answered %+v", value, size, d)
		}
		if d.Answer == conditional.Whole && d.Length != size {
			t.Fatalf("Range %q of %d bytes: whole, but %+v", value, size, d)
		}
	})
}

// FuzzIfNoneMatch checks against a second reading of the list: tags in quotes,
// commas between them.
func FuzzIfNoneMatch(f *testing.F) {
	for _, seed := range []string{`"abc"`, `W/"x", "abc"`, `*`, `abc`, `"`, `,,"abc",`, `W/`} {
		f.Add(seed)
	}
	tags := regexp.MustCompile(`(?:W/)?"([^"]*)"`)
	wellFormed := regexp.MustCompile(`^[ \t,]*(?:(?:W/)?"[^"]*"[ \t]*(?:,[ \t,]*|$))+$`)
	f.Fuzz(func(t *testing.T, value string) {
		got := conditional.Decide(http.MethodGet, http.Header{"If-None-Match": {value}}, facts).Answer
		if got != conditional.Whole && got != conditional.NotModified {
			t.Fatalf("If-None-Match %q is answered %d", value, got)
		}
		if !wellFormed.MatchString(value) {
			return
		}
		named := false
		for _, m := range tags.FindAllStringSubmatch(value, -1) {
			named = named || m[1] == "abc"
		}
		if named != (got == conditional.NotModified) {
			t.Fatalf("If-None-Match %q names the tag: %v, answered %d", value, named, got)
		}
		if strings.Trim(value, " \t") == "*" && got != conditional.NotModified {
			t.Fatalf("* is answered %d", got)
		}
	})
}
