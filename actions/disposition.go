package actions

import (
	"fmt"
	"strings"
)

// contentDisposition writes the header of RFC 6266: an ASCII fallback, and the
// exact name as RFC 8187 encodes it where the fallback is not it. Rows that nhost's
// service left may have names that are too long for a header: they are cut.
func contentDisposition(kind, name string) string {
	if len(name) > maxNameBytes {
		name = strings.ToValidUTF8(name[:maxNameBytes], "")
	}
	if name == "" {
		return kind
	}
	fallback, exact := asciiName(name)
	if exact {
		return kind + `; filename="` + name + `"`
	}
	return kind + `; filename="` + fallback + `"; filename*=UTF-8''` + encodeName(name)
}

// asciiName replaces what a quoted string of a header cannot carry everywhere.
func asciiName(name string) (fallback string, exact bool) {
	if !strings.ContainsFunc(name, unquotable) {
		return name, true
	}
	var b strings.Builder
	for _, r := range name {
		if unquotable(r) {
			r = '_'
		}
		b.WriteRune(r)
	}
	return b.String(), false
}

func unquotable(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' }

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
