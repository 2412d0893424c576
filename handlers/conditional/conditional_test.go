package conditional_test

import (
	"net/http"
	"testing"
	"time"

	"hasura-storage/handlers/conditional"
)

var (
	modified = time.Date(2024, 5, 2, 10, 11, 12, 345e6, time.UTC)
	facts    = conditional.Facts{ETag: `"abc"`, LastModified: modified, Size: 100}
)

const (
	before = "Thu, 02 May 2024 10:11:11 GMT"
	same   = "Thu, 02 May 2024 10:11:12 GMT"
	after  = "Thu, 02 May 2024 10:11:13 GMT"
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestPreconditions(t *testing.T) {
	for name, tc := range map[string]struct {
		header http.Header
		want   conditional.Answer
	}{
		"no condition":                               {header(), conditional.Whole},
		"the client's copy is current":               {header("If-None-Match", `"abc"`), conditional.NotModified},
		"a weak tag is good enough for a cache":      {header("If-None-Match", `W/"abc"`), conditional.NotModified},
		"one of a list":                              {header("If-None-Match", `W/"x", "abc"`), conditional.NotModified},
		"one of two lines":                           {header("If-None-Match", `"x"`, "If-None-Match", `"abc"`), conditional.NotModified},
		"a comma inside a tag":                       {header("If-None-Match", `"x,y" , "abc"`), conditional.NotModified},
		"a tag without quotes":                       {header("If-None-Match", `abc`), conditional.NotModified},
		"anything":                                   {header("If-None-Match", `*`), conditional.NotModified},
		"another tag":                                {header("If-None-Match", `"abd"`), conditional.Whole},
		"a tag that is only the beginning":           {header("If-None-Match", `"ab"`), conditional.Whole},
		"an unreadable list":                         {header("If-None-Match", `"abc`), conditional.Whole},
		"an empty list":                              {header("If-None-Match", ``), conditional.Whole},
		"only commas":                                {header("If-None-Match", `,,`), conditional.Whole},
		"not modified since":                         {header("If-Modified-Since", same), conditional.NotModified},
		"modified since":                             {header("If-Modified-Since", before), conditional.Whole},
		"a date that cannot be read":                 {header("If-Modified-Since", "yesterday"), conditional.Whole},
		"the tag outweighs the date":                 {header("If-None-Match", `"x"`, "If-Modified-Since", after), conditional.Whole},
		"the expected version":                       {header("If-Match", `"x", "abc"`), conditional.Whole},
		"any version":                                {header("If-Match", `*`), conditional.Whole},
		"not the expected version":                   {header("If-Match", `"x"`), conditional.Failed},
		"a weak tag cannot promise the same bytes":   {header("If-Match", `W/"abc"`), conditional.Failed},
		"an unreadable promise is not kept":          {header("If-Match", `"`), conditional.Failed},
		"unmodified since":                           {header("If-Unmodified-Since", same), conditional.Whole},
		"modified meanwhile":                         {header("If-Unmodified-Since", before), conditional.Failed},
		"If-Match outweighs the date":                {header("If-Match", `"abc"`, "If-Unmodified-Since", before), conditional.Whole},
		"If-Match is asked before If-None-Match":     {header("If-Match", `"x"`, "If-None-Match", `"abc"`), conditional.Failed},
		"expected, and the client has it":            {header("If-Match", `"abc"`, "If-None-Match", `"abc"`), conditional.NotModified},
		"304 comes before a range is looked at":      {header("If-None-Match", `"abc"`, "Range", "bytes=500-"), conditional.NotModified},
		"412 comes before a range is looked at":      {header("If-Match", `"x"`, "Range", "bytes=0-1"), conditional.Failed},
		"a date of the old form":                     {header("If-Modified-Since", "Thursday, 02-May-24 10:11:12 GMT"), conditional.NotModified},
		"a later date, as a confused clock sends it": {header("If-Modified-Since", after), conditional.NotModified},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conditional.Decide(http.MethodGet, tc.header, facts); got.Answer != tc.want {
				t.Errorf("Decide = %+v, want %d", got, tc.want)
			}
		})
	}
}

// TestTheOrderOfPreconditions holds every combination of conditions against the
// steps of RFC 9110 section 13.2.2, written down a second time.
func TestTheOrderOfPreconditions(t *testing.T) {
	type condition struct {
		value string
		holds bool
	}
	var (
		matches   = []condition{{"", true}, {`"abc"`, true}, {`"x", "abc"`, true}, {"*", true}, {`"x"`, false}, {`W/"abc"`, false}}
		nones     = []condition{{"", true}, {`"x"`, true}, {`"abc"`, false}, {`W/"abc"`, false}, {"*", false}}
		unchanged = []condition{{"", true}, {same, true}, {after, true}, {before, false}, {"soon", true}}
		changed   = []condition{{"", true}, {before, true}, {same, false}, {after, false}, {"soon", true}}
		ranges    = []condition{{"", false}, {`"abc"`, true}, {same, true}, {`"x"`, false}, {`W/"abc"`, false}, {before, false}}
	)
	for _, match := range matches {
		for _, none := range nones {
			for _, since := range unchanged {
				for _, news := range changed {
					for _, ifRange := range ranges {
						h := http.Header{"Range": {"bytes=1-2"}}
						for name, c := range map[string]condition{"If-Match": match, "If-None-Match": none, "If-Unmodified-Since": since, "If-Modified-Since": news, "If-Range": ifRange} {
							if c.value != "" {
								h.Set(name, c.value)
							}
						}
						var want conditional.Answer
						switch {
						case match.value != "" && !match.holds: // 1
							want = conditional.Failed
						case match.value == "" && !since.holds: // 2
							want = conditional.Failed
						case none.value != "" && !none.holds: // 3
							want = conditional.NotModified
						case none.value == "" && !news.holds: // 4
							want = conditional.NotModified
						case ifRange.value == "" || ifRange.holds: // 5
							want = conditional.Part
						default: // 6
							want = conditional.Whole
						}
						if got := conditional.Decide(http.MethodGet, h, facts); got.Answer != want {
							t.Errorf("%v: Decide = %+v, want %d", h, got, want)
						}
					}
				}
			}
		}
	}
}

func TestWithoutValidators(t *testing.T) {
	none := conditional.Facts{Size: 5}
	for name, tc := range map[string]struct {
		header http.Header
		want   conditional.Answer
	}{
		"no tag to match":            {header("If-None-Match", `""`), conditional.Whole},
		"no date to compare":         {header("If-Modified-Since", after), conditional.Whole},
		"no date to fail":            {header("If-Unmodified-Since", before), conditional.Whole},
		"nothing to promise":         {header("If-Match", `"abc"`), conditional.Failed},
		"a range without promise":    {header("Range", "bytes=1-2"), conditional.Part},
		"a range that needs the tag": {header("Range", "bytes=1-2", "If-Range", `""`), conditional.Whole},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conditional.Decide(http.MethodGet, tc.header, none); got.Answer != tc.want {
				t.Errorf("Decide = %+v, want %d", got, tc.want)
			}
		})
	}
}

func TestRange(t *testing.T) {
	whole := conditional.Decision{Length: 100}
	part := func(offset, length int64) conditional.Decision {
		return conditional.Decision{Answer: conditional.Part, Offset: offset, Length: length}
	}
	outside := conditional.Decision{Answer: conditional.Unsatisfiable}

	for name, tc := range map[string]struct {
		header http.Header
		want   conditional.Decision
	}{
		"all of it is still a part":              {header("Range", "bytes=0-"), part(0, 100)},
		"the first byte":                         {header("Range", "bytes=0-0"), part(0, 1)},
		"the middle":                             {header("Range", "bytes=10-19"), part(10, 10)},
		"beyond the end is cut":                  {header("Range", "bytes=90-1000"), part(90, 10)},
		"far beyond what a number holds":         {header("Range", "bytes=90-99999999999999999999"), part(90, 10)},
		"the last byte":                          {header("Range", "bytes=-1"), part(99, 1)},
		"a suffix longer than the file":          {header("Range", "bytes=-1000"), part(0, 100)},
		"upper case, blanks":                     {header("Range", "Bytes= 0-1 "), part(0, 2)},
		"begins at the end":                      {header("Range", "bytes=100-"), outside},
		"begins beyond what a number holds":      {header("Range", "bytes=99999999999999999999-"), outside},
		"a suffix of nothing":                    {header("Range", "bytes=-0"), outside},
		"several ranges":                         {header("Range", "bytes=0-1,5-6"), whole},
		"two headers":                            {header("Range", "bytes=0-1", "Range", "bytes=5-6"), whole},
		"backwards":                              {header("Range", "bytes=5-4"), whole},
		"another unit":                           {header("Range", "lines=0-4"), whole},
		"no unit":                                {header("Range", "0-4"), whole},
		"no number":                              {header("Range", "bytes=-"), whole},
		"a sign":                                 {header("Range", "bytes=+1-2"), whole},
		"a hexadecimal number":                   {header("Range", "bytes=0x1-2"), whole},
		"still the same file":                    {header("Range", "bytes=0-1", "If-Range", `"abc"`), part(0, 2)},
		"another file by now":                    {header("Range", "bytes=0-1", "If-Range", `"old"`), whole},
		"a weak tag joins no parts":              {header("Range", "bytes=0-1", "If-Range", `W/"abc"`), whole},
		"a list is no If-Range":                  {header("Range", "bytes=0-1", "If-Range", `"abc", "x"`), whole},
		"the same date":                          {header("Range", "bytes=0-1", "If-Range", same), part(0, 2)},
		"a later date is another file's":         {header("Range", "bytes=0-1", "If-Range", after), whole},
		"If-Range without Range":                 {header("If-Range", `"old"`), whole},
		"outside, but of a file that is no more": {header("Range", "bytes=500-", "If-Range", `"old"`), whole},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conditional.Decide(http.MethodGet, tc.header, facts); got != tc.want {
				t.Errorf("Decide = %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestRangeIsForGetAlone(t *testing.T) {
	got := conditional.Decide(http.MethodHead, header("Range", "bytes=0-1"), facts)
	if got.Answer != conditional.Whole {
		t.Errorf("HEAD with a range is answered %+v", got)
	}
}

func TestRangeOfAnEmptyFile(t *testing.T) {
	for value, want := range map[string]conditional.Answer{
		"bytes=0-": conditional.Unsatisfiable, "bytes=-5": conditional.Whole, "bytes=-0": conditional.Unsatisfiable,
	} {
		got := conditional.Decide(http.MethodGet, header("Range", value), conditional.Facts{})
		if got.Answer != want {
			t.Errorf("%s of nothing is answered %+v, want %d", value, got, want)
		}
	}
}

func TestWhatADecisionSays(t *testing.T) {
	for name, tc := range map[string]struct {
		decision conditional.Decision
		status   int
		rang     string
	}{
		"whole":         {conditional.Decision{Length: 100}, 200, ""},
		"part":          {conditional.Decision{Answer: conditional.Part, Offset: 0, Length: 100}, 206, "bytes 0-99/100"},
		"not modified":  {conditional.Decision{Answer: conditional.NotModified}, 304, ""},
		"failed":        {conditional.Decision{Answer: conditional.Failed}, 412, ""},
		"unsatisfiable": {conditional.Decision{Answer: conditional.Unsatisfiable}, 416, "bytes */100"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.decision.Status(); got != tc.status {
				t.Errorf("Status = %d, want %d", got, tc.status)
			}
			if got := tc.decision.ContentRange(100); got != tc.rang {
				t.Errorf("ContentRange = %q, want %q", got, tc.rang)
			}
		})
	}
}
