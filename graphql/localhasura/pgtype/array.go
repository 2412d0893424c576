package pgtype

import (
	"fmt"
	"strings"
)

// ParseArray reads the elements of a Postgres array literal such as {a,"b c"}.
// An unquoted NULL is refused, as no operator of Hasura's makes sense of it.
func ParseArray(s string) ([]string, error) {
	text := strings.TrimSpace(s)
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, &DataError{fmt.Sprintf(`malformed array literal: "%s"`, s)}
	}
	r := arrayReader{text: text[1 : len(text)-1]}
	if strings.TrimSpace(r.text) == "" {
		return nil, nil
	}
	for {
		if !r.element() {
			return nil, &DataError{fmt.Sprintf(`malformed array literal: "%s"`, s)}
		}
		if r.text == "" {
			return r.items, nil
		}
		r.text = r.text[1:] // the comma
	}
}

type arrayReader struct {
	text  string // what is left
	items []string
}

func (r *arrayReader) element() bool {
	r.text = strings.TrimLeft(r.text, " \t\n")
	if strings.HasPrefix(r.text, `"`) {
		return r.quoted()
	}
	end := strings.IndexByte(r.text, ',')
	if end < 0 {
		end = len(r.text)
	}
	item := strings.TrimSpace(r.text[:end])
	r.text = r.text[end:]
	if item == "" || strings.ContainsAny(item, `{}"`) || strings.EqualFold(item, "null") {
		return false
	}
	r.items = append(r.items, strings.ReplaceAll(item, `\`, ""))
	return true
}

func (r *arrayReader) quoted() bool {
	var b strings.Builder
	for i := 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\\' && i+1 < len(r.text):
			i++
			b.WriteByte(r.text[i])
		case c == '"':
			r.items = append(r.items, b.String())
			r.text = strings.TrimLeft(r.text[i+1:], " \t\n")
			return r.text == "" || r.text[0] == ','
		default:
			b.WriteByte(c)
		}
	}
	return false
}
