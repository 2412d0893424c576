package handlers

import "net/http"

// fields writes headers with one piece of memory for all of their values:
// answers have many, and each would take a piece of its own.
type fields struct {
	header http.Header
	values []string
}

// answerFields is how many an answer with a body has, or a few more.
const answerFields = 12

func fieldsOf(h http.Header) *fields { return &fields{h, make([]string, 0, answerFields)} }

// set replaces a header, unless value is empty. name is canonical, as
// http.CanonicalHeaderKey writes it.
func (f *fields) set(name, value string) {
	if value == "" {
		return
	}
	f.values = append(f.values, value)
	last := len(f.values)
	f.header[name] = f.values[last-1 : last : last]
}
