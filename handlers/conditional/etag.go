package conditional

import (
	"net/http"
	"strings"
)

// list joins the lines of a header that holds a list.
func list(h http.Header, name string) string {
	return strings.Trim(strings.Join(h.Values(name), ","), " \t")
}

// matches reports whether a list of entity tags names tag. "*" names every
// representation that exists.
func matches(list, tag string, same func(a, b string) bool) bool {
	if list == "*" {
		return true
	}
	for {
		list = strings.TrimLeft(list, " \t,")
		if list == "" {
			return false
		}
		candidate, rest, ok := nextTag(list)
		if !ok {
			return false
		}
		if same(candidate, tag) {
			return true
		}
		list = rest
	}
}

// nextTag cuts the first entity tag off s. A tag without quotes ends at the
// next comma or blank: some clients send what a library handed them unquoted.
func nextTag(s string) (tag, rest string, ok bool) {
	body := strings.TrimPrefix(s, "W/")
	prefix := s[:len(s)-len(body)]
	if !strings.HasPrefix(body, `"`) {
		end := strings.IndexAny(body, ", \t")
		if end < 0 {
			end = len(body)
		}
		return prefix + `"` + body[:end] + `"`, body[end:], end > 0
	}
	end := strings.IndexByte(body[1:], '"')
	if end < 0 {
		return "", "", false
	}
	return prefix + body[:end+2], body[end+2:], true
}

// weak is the comparison for caches: the same opaque tag, whatever its strength.
func weak(a, b string) bool {
	return b != "" && strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/")
}

// strong is the comparison for bytes that must be the same: two strong tags.
func strong(a, b string) bool {
	return b != "" && a == b && !strings.HasPrefix(a, "W/")
}
