package api

import "strings"

// statements parts a SQL script at its semicolons, leaving alone those inside
// strings, names, comments and the bodies of triggers. Empty ones are left
// out.
func statements(script string) []string {
	var out []string
	s := scanner{text: script}
	start, depth, first, creates := 0, 0, true, false
	for s.next() {
		word := strings.ToUpper(s.token)
		switch {
		case word == ";" && depth == 0:
			out = appendStatement(out, script[start:s.at-1])
			start, first, creates = s.at, true, false
			continue
		case first:
			creates = word == "CREATE"
		case creates && word == "TRIGGER":
			depth = max(depth, 1) // until its END
		case depth > 0 && word == "CASE":
			depth++
		case depth > 0 && word == "END":
			depth--
		}
		first = false
	}
	return appendStatement(out, script[start:])
}

func appendStatement(out []string, text string) []string {
	s := scanner{text: text}
	if !s.next() {
		return out // blanks and comments
	}
	return append(out, strings.TrimSpace(text))
}

// scanner reads words, and everything else as single characters; blanks,
// comments and the insides of quotes are skipped.
type scanner struct {
	text  string
	at    int
	token string
}

func (s *scanner) next() bool {
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.at++
		case strings.HasPrefix(s.text[s.at:], "--"):
			s.skipTo("\n")
		case strings.HasPrefix(s.text[s.at:], "/*"):
			s.skipTo("*/")
		case c == '\'' || c == '"' || c == '`' || c == '[':
			s.quoted(c)
			return true
		case letter(c):
			start := s.at
			for s.at < len(s.text) && letter(s.text[s.at]) {
				s.at++
			}
			s.token = s.text[start:s.at]
			return true
		default:
			s.at++
			s.token = string(c)
			return true
		}
	}
	return false
}

// skipTo goes behind the end, or to the end of the text.
func (s *scanner) skipTo(end string) {
	i := strings.Index(s.text[s.at:], end)
	if i < 0 {
		s.at = len(s.text)
		return
	}
	s.at += i + len(end)
}

// quoted goes behind a quoted text; a doubled quote is read as two texts.
func (s *scanner) quoted(open byte) {
	end := string(open)
	if open == '[' {
		end = "]"
	}
	s.at++
	s.skipTo(end)
	s.token = "''"
}

func letter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
