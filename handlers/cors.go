package handlers

import (
	"net/http"
	"slices"
	"strings"
)

// CORS says which web pages may read answers.
type CORS struct {
	Origins     []string // such as https://app.example.com; "*" is every one
	Credentials bool     // pages may send cookies along, unless all of them may read
}

// What the REST interface takes and shows. Range, ETag and Content-Range let a
// page play films and resume downloads; browsers hide them otherwise.
var (
	allowedMethods = "GET, HEAD, POST, PUT, DELETE"
	allowedHeaders = strings.Join([]string{
		"Authorization", "Content-Type", "Origin", "If-Match", "If-None-Match", "If-Modified-Since",
		"If-Unmodified-Since", "If-Range", "Range", "X-Request-Id", "X-Hasura-Admin-Secret", "X-Hasura-Role",
		"X-Nhost-Bucket-Id", "X-Nhost-File-Name", "X-Nhost-File-Id",
	}, ", ")
	exposedHeaders = strings.Join([]string{
		"Accept-Ranges", "Cache-Control", "CDN-Cache-Control", "Content-Disposition", "Content-Length",
		"Content-Range", "Content-Type", "ETag", "Last-Modified", "Retry-After", "X-Error", "X-Request-Id",
	}, ", ")
)

// allow answers preflights and marks answers, errors included, as readable.
func (c CORS) allow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if !c.everyone() {
			h.Add("Vary", "Origin") // also on answers to others: a cache must not mix them up
		}
		origin := r.Header.Get("Origin")
		preflight := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
		if origin != "" && c.trusts(origin) {
			c.mark(h, origin, preflight)
		}
		if preflight {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// everyone reports whether all origins get the same answer, which a browser
// shows to none that sent cookies along.
func (c CORS) everyone() bool { return slices.Contains(c.Origins, "*") }

func (c CORS) trusts(origin string) bool { return c.everyone() || slices.Contains(c.Origins, origin) }

func (c CORS) mark(h http.Header, origin string, preflight bool) {
	if c.everyone() {
		origin = "*"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	if c.Credentials && !c.everyone() {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	if !preflight {
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
		return
	}
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "86400")
}
