package catalog

import "strings"

// token is a piece of DDL: a word or quoted name (unquoted in text), a string,
// or a single character.
type token struct {
	text   string
	quoted bool // an identifier in quotes, never a keyword
	at     int  // where it starts and ends in the DDL
	end    int
}

// is reports whether the token is the given keyword or character.
func (t token) is(word string) bool { return !t.quoted && strings.EqualFold(t.text, word) }

// tokenize cuts DDL that SQLite has accepted, so it never meets a syntax error.
func tokenize(ddl string) []token {
	var all []token
	for i := 0; i < len(ddl); {
		switch c := ddl[i]; {
		case c <= ' ':
			i++
		case strings.HasPrefix(ddl[i:], "--"):
			i = skipTo(ddl, i, "\n")
		case strings.HasPrefix(ddl[i:], "/*"):
			i = skipTo(ddl, i, "*/")
		case strings.IndexByte("\"`['", c) >= 0:
			t := quotedToken(ddl, i)
			all, i = append(all, t), t.end
		case wordByte(c):
			end := i
			for end < len(ddl) && wordByte(ddl[end]) {
				end++
			}
			all, i = append(all, token{text: ddl[i:end], at: i, end: end}), end
		default:
			all, i = append(all, token{text: ddl[i : i+1], at: i, end: i + 1}), i+1
		}
	}
	return all
}

func skipTo(s string, from int, mark string) int {
	if n := strings.Index(s[from:], mark); n >= 0 {
		return from + n + len(mark)
	}
	return len(s)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func quotedToken(ddl string, from int) token {
	closing := ddl[from]
	if closing == '[' {
		closing = ']'
	}
	var b strings.Builder
	for i := from + 1; i < len(ddl); i++ {
		if ddl[i] != closing {
			b.WriteByte(ddl[i])
			continue
		}
		if i+1 < len(ddl) && ddl[i+1] == closing && closing != ']' {
			b.WriteByte(closing)
			i++
			continue
		}
		return token{text: b.String(), quoted: true, at: from, end: i + 1}
	}
	return token{text: b.String(), quoted: true, at: from, end: len(ddl)}
}

// group returns what stands between the parenthesis at tokens[0] and its
// partner, and the tokens behind.
func group(tokens []token) (inside, rest []token) {
	depth := 0
	for i, t := range tokens {
		if t.is("(") {
			depth++
		}
		if t.is(")") {
			if depth--; depth == 0 {
				return tokens[1:i], tokens[i+1:]
			}
		}
	}
	return nil, nil
}

// splitCommas cuts a list at its outermost commas.
func splitCommas(tokens []token) [][]token {
	var parts [][]token
	depth, start := 0, 0
	for i, t := range tokens {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
			parts = append(parts, tokens[start:i])
			start = i + 1
		}
	}
	return append(parts, tokens[start:])
}
