package pgtype

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"
)

// Canonical writes a JSON value as jsonb keeps it: no blanks, keys sorted by
// length and then by bytes, so that equal values are equal texts.
func Canonical(v any) string {
	var b strings.Builder
	writeJSON(&b, v, ",", ":")
	return b.String()
}

// JSONText writes a JSON value as Postgres casts jsonb to text: a blank behind
// every comma and colon.
func JSONText(v any) string {
	var b strings.Builder
	writeJSON(&b, v, ", ", ": ")
	return b.String()
}

func writeJSON(b *strings.Builder, v any, comma, colon string) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, key := range sortedKeys(v) {
			if i > 0 {
				b.WriteString(comma)
			}
			writeString(b, key)
			b.WriteString(colon)
			writeJSON(b, v[key], comma, colon)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString(comma)
			}
			writeJSON(b, item, comma, colon)
		}
		b.WriteByte(']')
	case string:
		writeString(b, v)
	case json.Number:
		b.WriteString(plainNumber(v.String()))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
}

// plainNumber writes a number as jsonb keeps it: without an exponent, with the
// zeros behind its point.
func plainNumber(s string) string {
	mantissa, exp, found := strings.Cut(strings.ToLower(s), "e")
	if !found {
		return s
	}
	r, ok := rational(s)
	if !ok {
		return s
	}
	_, fraction, _ := strings.Cut(mantissa, ".")
	shift, _ := strconv.Atoi(exp) // rational has read it
	return r.FloatString(max(0, len(fraction)-shift))
}

// Comparable writes a JSON value so that values that Postgres holds equal are
// the same text: 1 and 1.0 as well.
func Comparable(v any) string { return Canonical(trimmed(v)) }

func trimmed(v any) any {
	switch v := v.(type) {
	case json.Number:
		text := plainNumber(v.String())
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return json.Number(text)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = trimmed(item)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = trimmed(item)
		}
		return m
	}
	return v
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool {
		if len(keys[i]) != len(keys[j]) {
			return len(keys[i]) < len(keys[j])
		}
		return keys[i] < keys[j]
	})
	return keys
}

// writeString leaves <, > and & alone, unlike json.Marshal.
func writeString(b *strings.Builder, s string) {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	if err == nil { // a string never fails
		b.Write(bytes.TrimRight(raw.Bytes(), "\n"))
	}
}

// Decode reads JSON text with its numbers kept as they are written.
func Decode(s string) (any, error) {
	var v any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	err := dec.Decode(&v)
	return v, err
}
