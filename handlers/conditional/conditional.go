// Package conditional decides what a GET or HEAD is answered with, by RFC 9110:
// the whole representation, a part of it, or only a status. It reads request
// headers and the facts of the stored file; it touches no body, so a decision
// can be taken before the store or a pixel is.
package conditional

import (
	"net/http"
	"strconv"
	"time"
)

// Facts are what is known of the representation that the request selects.
type Facts struct {
	ETag         string    // with quotes; "" if there is none
	LastModified time.Time // zero if unknown; compared in whole seconds, as HTTP dates are
	Size         int64     // bytes
}

// Answer is a Decision's kind.
type Answer int

// The answers, with their statuses.
const (
	Whole         Answer = iota // 200
	Part                        // 206
	NotModified                 // 304
	Failed                      // 412, a precondition does not hold
	Unsatisfiable               // 416
)

// Decision says what to send: Length bytes from Offset on for Whole and Part,
// no representation otherwise.
type Decision struct {
	Answer         Answer
	Offset, Length int64
}

// Status is the HTTP status of the decision.
func (d Decision) Status() int {
	return [...]int{
		http.StatusOK, http.StatusPartialContent, http.StatusNotModified,
		http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable,
	}[d.Answer]
}

// ContentRange is the value of the header of that name for a representation of
// size bytes, or "" where the answer has none.
func (d Decision) ContentRange(size int64) string {
	switch d.Answer {
	case Part:
		last := d.Offset + d.Length - 1
		return "bytes " + strconv.FormatInt(d.Offset, 10) + "-" + strconv.FormatInt(last, 10) + "/" + strconv.FormatInt(size, 10)
	case Unsatisfiable:
		return "bytes */" + strconv.FormatInt(size, 10)
	default:
		return ""
	}
}

// Decide evaluates the preconditions of a request in the order of RFC 9110
// section 13.2.2 and then its Range. Headers that cannot be read are ignored,
// but for If-Match, whose purpose is to stop what is not certainly right.
func Decide(method string, h http.Header, f Facts) Decision {
	if a := preconditions(h, f); a != Whole {
		return Decision{Answer: a}
	}
	whole := Decision{Answer: Whole, Length: f.Size}
	if method != http.MethodGet || !rangeHolds(h, f) {
		return whole // ranges are defined for GET alone
	}
	return choose(h.Values("Range"), f.Size, whole)
}

// preconditions returns Whole where the request may go on.
func preconditions(h http.Header, f Facts) Answer {
	if !mayChange(h, f) {
		return Failed
	}
	if !hasNews(h, f) {
		return NotModified
	}
	return Whole
}

// mayChange is If-Match, and If-Unmodified-Since where there is none.
func mayChange(h http.Header, f Facts) bool {
	if match := list(h, "If-Match"); match != "" {
		return matches(match, f.ETag, strong)
	}
	since, ok := date(h, "If-Unmodified-Since")
	return !ok || f.LastModified.IsZero() || !seconds(f.LastModified).After(since)
}

// hasNews is If-None-Match, and If-Modified-Since where there is none.
func hasNews(h http.Header, f Facts) bool {
	if match := list(h, "If-None-Match"); match != "" {
		return !matches(match, f.ETag, weak)
	}
	since, ok := date(h, "If-Modified-Since")
	return !ok || f.LastModified.IsZero() || seconds(f.LastModified).After(since)
}

// date reads a header that holds one; most requests have none.
func date(h http.Header, name string) (time.Time, bool) {
	text := h.Get(name)
	if text == "" {
		return time.Time{}, false
	}
	t, err := http.ParseTime(text)
	return t, err == nil
}

// rangeHolds is If-Range: a strong tag or the exact date. The part that the
// client wants is of use to it only if the rest, which it has, is the same.
func rangeHolds(h http.Header, f Facts) bool {
	want := h.Get("If-Range")
	if want == "" {
		return true
	}
	if date, err := http.ParseTime(want); err == nil {
		return !f.LastModified.IsZero() && seconds(f.LastModified).Equal(date)
	}
	tag, rest, ok := nextTag(want)
	return ok && rest == "" && strong(tag, f.ETag)
}

func seconds(t time.Time) time.Time { return t.Truncate(time.Second) }
