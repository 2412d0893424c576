// Package jsontext writes JSON as Hasura does, and words JSON that cannot be
// read.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Encode is json.Marshal without escapes for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// Invalid words a body that is not JSON: it ends too early, or Hasura's
// parser stumbles at a place and shows the rest.
func Invalid(body []byte) string {
	text := strings.TrimSpace(string(body))
	var v any
	err := json.Unmarshal([]byte(text), &v)
	syntax, found := errors.AsType[*json.SyntaxError](err)
	if text == "" || found && int(syntax.Offset) >= len(text) && strings.Contains(err.Error(), "unexpected end") {
		return "Unexpected end-of-input, expecting JSON value"
	}
	at := 0
	if found {
		at = int(syntax.Offset) - 1
	}
	if !strings.ContainsAny(text[:1], `{["`) {
		at = 0 // a wrong word is shown whole
	}
	if at > 0 && at < len(text) {
		text = text[at:]
	}
	return "Unexpected " + strconv.Quote(text) + ", expecting JSON value"
}
