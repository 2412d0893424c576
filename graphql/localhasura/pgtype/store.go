package pgtype

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// null is SQL's null.
var null any

// DataError is Postgres's refusal of a value, of SQLSTATE class 22.
type DataError struct{ Text string }

// Error returns Postgres's text.
func (e *DataError) Error() string { return e.Text }

// Store casts a value that passed Check to the form that SQLite stores and
// compares: int64, float64 or text. The error is a *DataError.
func (t Type) Store(v any) (any, error) {
	if v == nil {
		return null, nil
	}
	if t.Class == JSON {
		return t.storeJSON(v)
	}
	switch v := v.(type) {
	case bool:
		return v, nil
	case json.Number:
		return t.storeNumber(v)
	case string:
		return t.Cast(v)
	}
	return nil, &DataError{fmt.Sprintf("invalid input syntax for type %s: %q", t.Name, fmt.Sprint(v))}
}

// storeNumber reads 1e3 and 1.0 as the integers that they are.
func (t Type) storeNumber(n json.Number) (any, error) {
	if t.Class != Integer {
		return t.Cast(n.String())
	}
	whole, ok := integral(n.String())
	if !ok {
		return nil, t.invalid(n.String())
	}
	return t.Cast(whole.String())
}

func (t Type) storeJSON(v any) (any, error) {
	if t.Binary() {
		return Canonical(v), nil
	}
	raw, err := json.Marshal(v)
	return string(raw), err
}

// Cast reads a value from Postgres's text form, as session variables arrive.
func (t Type) Cast(s string) (any, error) {
	switch t.Class {
	case Integer:
		return t.castInteger(s)
	case Float, Numeric:
		return t.castNumber(s)
	case Boolean:
		return castBoolean(s)
	case UUID:
		return castUUID(s)
	case JSON:
		return t.castJSON(s)
	case TimestampTZ, Timestamp, Date, Time:
		return t.castTime(s)
	default:
		return t.castText(s)
	}
}

// castText cuts blanks beyond the length, as Postgres does, and nothing else.
func (t Type) castText(s string) (any, error) {
	if t.Size == 0 || utf8.RuneCountInString(s) <= t.Size {
		return s, nil
	}
	runes := []rune(s)
	if strings.TrimRight(string(runes[t.Size:]), " ") != "" {
		return nil, &DataError{fmt.Sprintf("value too long for type %s(%d)", t.Name, t.Size)}
	}
	return string(runes[:t.Size]), nil
}

func (t Type) invalid(s string) error {
	return &DataError{fmt.Sprintf(`invalid input syntax for type %s: "%s"`, t.Name, s)}
}

func (t Type) castInteger(s string) (any, error) {
	digits := strings.TrimSpace(s)
	if !wholeNumber(digits) {
		return nil, t.invalid(s)
	}
	n, err := strconv.ParseInt(digits, 10, t.Bits)
	if err != nil {
		return nil, &DataError{fmt.Sprintf("value %q is out of range for type %s", s, t.Name)}
	}
	return n, nil
}

func wholeNumber(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	return digits != "" && len(s)-len(digits) <= 1 && strings.Trim(digits, "0123456789") == ""
}

// castNumber keeps whole numbers as integers, so that no digit of a numeric is
// lost below 2^63; SQLite compares both kinds by value.
func (t Type) castNumber(s string) (any, error) {
	trimmed := strings.TrimSpace(s)
	if t.Size > 0 {
		return t.castScaled(s, trimmed)
	}
	if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil && t.Class == Numeric {
		return n, nil
	}
	f, err := strconv.ParseFloat(trimmed, 64)
	if err != nil && math.IsInf(f, 0) {
		return nil, &DataError{fmt.Sprintf("%q is out of range for type %s", s, t.Name)}
	}
	if err != nil || strings.ContainsAny(trimmed, "xX_pP") {
		return nil, t.invalid(s)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, &DataError{fmt.Sprintf("%q is not supported by the local Hasura: use a real one", s)}
	}
	return f, nil
}

// castScaled rounds to the declared scale and refuses more digits than declared.
func (t Type) castScaled(s, trimmed string) (any, error) {
	if _, err := strconv.ParseFloat(trimmed, 64); err != nil || strings.ContainsAny(trimmed, "xX_pP") {
		return nil, t.invalid(s)
	}
	r, ok := rational(trimmed)
	if !ok {
		return nil, t.invalid(s)
	}
	rounded := r.FloatString(t.Scale)
	if whole, _, _ := strings.Cut(strings.TrimLeft(rounded, "-0"), "."); len(whole) > t.Size-t.Scale {
		return nil, &DataError{"numeric field overflow"}
	}
	return Type{Name: t.Name, Class: Numeric}.castNumber(rounded)
}

func castBoolean(s string) (any, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	if word == "" || word == "o" {
		return nil, boolean.invalid(s)
	}
	for _, yes := range []string{"true", "yes", "on", "1"} {
		if strings.HasPrefix(yes, word) {
			return true, nil
		}
	}
	for _, no := range []string{"false", "no", "off", "0"} {
		if strings.HasPrefix(no, word) {
			return false, nil
		}
	}
	return nil, boolean.invalid(s)
}

// castUUID takes every form that Postgres takes: braces around, and a hyphen
// behind any group of four digits.
func castUUID(s string) (any, error) {
	if canonicalUUID(s) {
		return s, nil
	}
	inner := s
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
		inner = s[1 : len(s)-1]
	}
	id, err := uuid.Parse(withoutHyphens(inner))
	if err != nil || strings.HasSuffix(inner, "-") {
		return nil, uuidType.invalid(s)
	}
	return id.String(), nil
}

func withoutHyphens(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '-' && b.Len()%4 == 0 && b.Len() > 0 && s[i-1] != '-' {
			continue
		}
		b.WriteByte(s[i])
	}
	if b.Len() != 32 { // uuid.Parse knows longer forms that Postgres does not
		return ""
	}
	return b.String()
}

// canonicalUUID recognises the form in which uuids are stored and mostly sent.
func canonicalUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (c == '-') || !hyphen && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (t Type) castJSON(s string) (any, error) {
	var v any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil || dec.More() {
		return nil, &DataError{"invalid input syntax for type json"}
	}
	return t.storeJSON(v)
}
