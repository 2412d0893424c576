package conditional_test

import (
	"net/http"
	"testing"
	"time"

	"hasura-storage/handlers/conditional"
)

func TestChanges(t *testing.T) {
	facts := conditional.Facts{ETag: `"a"`, LastModified: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)}
	tests := map[string]struct {
		header http.Header
		asked  bool
		may    bool
	}{
		"no condition":                  {http.Header{}, false, true},
		"the version that is there":     {http.Header{"If-Match": {`"a"`}}, true, true},
		"one of several":                {http.Header{"If-Match": {`"b", "a"`}}, true, true},
		"any version":                   {http.Header{"If-Match": {"*"}}, true, true},
		"another version":               {http.Header{"If-Match": {`"b"`}}, true, false},
		"a weak tag proves nothing":     {http.Header{"If-Match": {`W/"a"`}}, true, false},
		"only if there is none":         {http.Header{"If-None-Match": {"*"}}, true, false},
		"only if it is another":         {http.Header{"If-None-Match": {`"b"`}}, true, true},
		"unchanged since then":          {http.Header{"If-Unmodified-Since": {"Fri, 02 Jan 2026 03:04:05 GMT"}}, true, true},
		"changed since then":            {http.Header{"If-Unmodified-Since": {"Fri, 02 Jan 2026 03:04:04 GMT"}}, true, false},
		"the tag counts, not the date":  {http.Header{"If-Match": {`"a"`}, "If-Unmodified-Since": {"Fri, 02 Jan 2026 03:04:04 GMT"}}, true, true},
		"a date is no condition for it": {http.Header{"If-Modified-Since": {"Fri, 02 Jan 2037 03:04:04 GMT"}}, false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := conditional.Asked(test.header); got != test.asked {
				t.Errorf("asked = %v, want %v", got, test.asked)
			}
			if got := conditional.Permits(test.header, facts); got != test.may {
				t.Errorf("permitted = %v, want %v", got, test.may)
			}
		})
	}
}
