package conditional

import (
	"net/http"
)

// Asked reports whether a request has a precondition for a change.
func Asked(h http.Header) bool {
	return list(h, "If-Match") != "" || list(h, "If-None-Match") != "" || h.Get("If-Unmodified-Since") != ""
}

// Permits reports whether a request that changes or deletes the representation
// may go on; otherwise its answer is 412. If-Modified-Since says nothing here.
func Permits(h http.Header, f Facts) bool {
	match := list(h, "If-None-Match")
	return mayChange(h, f) && (match == "" || !matches(match, f.ETag, weak))
}
