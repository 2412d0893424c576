package actions

import (
	"fmt"
	"strings"
)

// contentDisposition writes the header of RFC 6266: an ASCII fallback, and the
// exact name as RFC 8187 encodes it where the fallback is not it.
func contentDisposition(kind, name string) string {
	if name == "" {
		return kind
	}
	fallback, exact := asciiName(name)
	header := fmt.Sprintf(`%s; filename="%s"`, kind, fallback)
	if !exact {
		header += "; filename*=UTF-8''" + encodeName(name)
	}
	return header
}

// asciiName replaces what a quoted string of a header cannot carry everywhere.
func asciiName(name string) (fallback string, exact bool) {
	var b strings.Builder
	exact = true
	for _, r := range name {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			r, exact = '_', false
		}
		b.WriteRune(r)
	}
	return b.String(), exact
}

// attrChars are the characters that RFC 8187 leaves as they are, besides letters and digits.
const attrChars = "!#$&+-.^_`|~"

func encodeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(attrChars, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
