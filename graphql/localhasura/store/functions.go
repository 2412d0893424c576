package store

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
	"modernc.org/sqlite"

	"hasura-storage/graphql/localhasura/pgtype"
)

// register gives every connection the functions that schemas and plans use.
func (db *DB) register(d *sqlite.Driver) error {
	now := func([]driver.Value) (driver.Value, error) {
		if at := db.txTime.Load(); at != nil {
			return pgtype.FormatTimestampTZ(*at), nil
		}
		return pgtype.FormatTimestampTZ(db.now()), nil
	}
	for _, f := range append(pure, function{"now", 0, now, false}, function{"gen_random_uuid", 0, randomUUID, false}) {
		call := func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return f.call(args) }
		add := d.RegisterScalarFunction
		if f.deterministic {
			add = d.RegisterDeterministicScalarFunction
		}
		if err := add(f.name, f.args, call); err != nil {
			return fmt.Errorf("register %s: %w", f.name, err)
		}
	}
	return nil
}

// null is SQL's null.
var null driver.Value

type function struct {
	name          string
	args          int32
	call          func([]driver.Value) (driver.Value, error)
	deterministic bool
}

var pure = []function{
	{"pg_like", 2, newMatcher(likePattern, "").call, true},
	{"pg_ilike", 2, newMatcher(likePattern, "(?i)").call, true},
	{"pg_similar", 2, newMatcher(similarPattern, "").call, true},
	{"pg_regex", 2, newMatcher(plainPattern, "").call, true},
	{"pg_iregex", 2, newMatcher(plainPattern, "(?i)").call, true},
	{"pg_jsonb", 1, jsonFunction(comparableText), true},
	{"pg_jsonb_text", 1, jsonFunction(jsonText), true},
	{"pg_jsonb_contains", 2, jsonFunction(contains), true},
	{"pg_jsonb_contained", 2, jsonFunction(contained), true},
	{"pg_jsonb_has_key", 2, hasKeys(nil), true},
	{"pg_jsonb_has_any", 2, hasKeys(func(found, _ int) bool { return found > 0 }), true},
	{"pg_jsonb_has_all", 2, hasKeys(func(found, all int) bool { return found == all }), true},
	{"pg_jsonb_concat", 2, jsonFunction(concat), true},
	{"pg_jsonb_delete_key", 2, deleteFunction(deleteKey), true},
	{"pg_jsonb_delete_elem", 2, deleteFunction(deleteElem), true},
	{"pg_jsonb_delete_path", 2, deleteFunction(deletePath), true},
	{"pg_json_path", 2, deleteFunction(jsonPath), true},
	{"pg_number", 1, number, true},
	{"pg_members", 1, members, true},
	{"pg_add", 3, add, true},
	{"pg_add_numeric", 2, addNumeric, true},
	{"pg_numeric", 1, decimal, true},
}

func randomUUID([]driver.Value) (driver.Value, error) { return uuid.NewString(), nil }

// members takes the braces off an object's text.
func members(args []driver.Value) (driver.Value, error) {
	s := textOf(args[0])
	return s[1 : len(s)-1], nil
}

// add adds within an integer type of so many bits, as Postgres does.
func add(args []driver.Value) (driver.Value, error) {
	a, isA := args[0].(int64)
	b, isB := args[1].(int64)
	bits, _ := args[2].(int64)
	if !isA || !isB {
		return null, nil
	}
	sum := a + b
	if (sum > a) != (b > 0) && b != 0 || sum>>(bits-1) != sum>>63 {
		return nil, fmt.Errorf("22003: %s out of range", map[int64]string{16: "smallint", 32: "integer", 64: "bigint"}[bits])
	}
	return sum, nil
}

// number prints a number as Postgres's to_json does: 1, not 1.0.
func number(args []driver.Value) (driver.Value, error) {
	switch v := args[0].(type) {
	case nil:
		return null, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64), nil
		}
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return null, nil
		}
		raw, err := json.Marshal(v)
		return string(raw), err
	default:
		return textOf(v), nil
	}
}

// decimal prints a numeric: SQLite computes with binary fractions, so the digits
// beyond its precision are rounded away (0.1 + 0.2 is 0.3).
func decimal(args []driver.Value) (driver.Value, error) {
	f, ok := args[0].(float64)
	if !ok {
		return number(args)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	if err != nil {
		return nil, err
	}
	return number([]driver.Value{rounded})
}

// addNumeric adds decimal fractions as they are written.
func addNumeric(args []driver.Value) (driver.Value, error) {
	if args[0] == nil || args[1] == nil {
		return null, nil
	}
	a, okA := new(big.Rat).SetString(textOf(args[0]))
	b, okB := new(big.Rat).SetString(textOf(args[1]))
	if !okA || !okB {
		return nil, errors.New("22P02: invalid input syntax for type numeric")
	}
	const digits = 20
	return strings.TrimRight(strings.TrimRight(a.Add(a, b).FloatString(digits), "0"), "."), nil
}

// textOf is a column's value as text; jsonb columns hold plain numbers too.
func textOf(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// matcher matches text against patterns that translate turns into regular
// expressions, and keeps the last ones.
type matcher struct {
	translate func(string) (expr string, dangling bool)
	flags     string
	mu        sync.Mutex
	known     map[string]pattern
}

// pattern is a translated pattern. A dangling one ends with an escape character
// that escapes nothing: an error as soon as a text reaches it.
type pattern struct {
	*regexp.Regexp
	dangling bool
}

// maxPatterns bounds what a matcher keeps.
const maxPatterns = 256

func newMatcher(translate func(string) (string, bool), flags string) *matcher {
	return &matcher{translate: translate, flags: flags, known: map[string]pattern{}}
}

// call is the SQL function: null on either side gives null.
func (m *matcher) call(args []driver.Value) (driver.Value, error) {
	if args[0] == nil || args[1] == nil {
		return null, nil
	}
	p, err := m.compile(textOf(args[1]))
	if err != nil {
		return nil, err
	}
	matched := p.MatchString(textOf(args[0]))
	if p.dangling && matched {
		return nil, errors.New("22025: LIKE pattern must not end with escape character")
	}
	return matched, nil
}

func (m *matcher) compile(text string) (pattern, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.known[text]; ok {
		return p, nil
	}
	expr, dangling := m.translate(text)
	re, err := regexp.Compile(m.flags + expr)
	if err != nil {
		return pattern{}, invalidPattern(err, text)
	}
	if len(m.known) >= maxPatterns {
		clear(m.known)
	}
	m.known[text] = pattern{re, dangling}
	return m.known[text], nil
}

// patternFaults are Postgres's words for what Go's parser finds.
var patternFaults = map[syntax.ErrorCode]string{
	syntax.ErrTrailingBackslash:     `invalid escape \ sequence`,
	syntax.ErrInvalidEscape:         `invalid escape \ sequence`,
	syntax.ErrMissingParen:          "parentheses () not balanced",
	syntax.ErrUnexpectedParen:       "parentheses () not balanced",
	syntax.ErrMissingBracket:        "brackets [] not balanced",
	syntax.ErrMissingRepeatArgument: "quantifier operand invalid",
	syntax.ErrInvalidRepeatOp:       "quantifier operand invalid",
	syntax.ErrInvalidRepeatSize:     "invalid repetition count(s)",
	syntax.ErrInvalidCharRange:      "invalid character range",
	syntax.ErrInvalidCharClass:      "invalid character class",
}

func invalidPattern(err error, text string) error {
	var fault *syntax.Error
	if errors.As(err, &fault) && patternFaults[fault.Code] != "" {
		return fmt.Errorf("2201B: invalid regular expression: %s", patternFaults[fault.Code])
	}
	return fmt.Errorf("2201B: the regular expression %q is not supported by the local Hasura: use a real one", text)
}

func plainPattern(p string) (string, bool) { return p, false }

// likePattern: % any text, _ one character, \ makes the next one plain.
func likePattern(p string) (string, bool) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	escaped := false
	for _, c := range p {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(c)))
			escaped = false
		case c == '\\':
			escaped = true
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if escaped {
		return b.String() + ".", true // one character more reaches the escape
	}
	return b.String() + `\z`, false
}

// similarPattern is SQL's SIMILAR TO: a whole match, with % and _ beside the
// usual | * + ? {} () [].
func similarPattern(p string) (string, bool) {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	escaped, class := false, false
	for _, c := range p {
		switch {
		case escaped:
			b.WriteString(escapedInSimilar(c))
			escaped = false
		case c == '\\':
			escaped = true
		case c == '[' || c == ']':
			class = c == '['
			b.WriteRune(c)
		case !class && c == '%':
			b.WriteString(".*")
		case !class && c == '_':
			b.WriteString(".")
		case !class && strings.ContainsRune(".^$", c):
			b.WriteString(`\` + string(c))
		default:
			b.WriteRune(c)
		}
	}
	if class {
		return b.String(), false // a mistake; what follows would hide which one
	}
	return b.String() + `)\z`, false
}

// escapedInSimilar hands classes such as \w through, as Postgres does.
func escapedInSimilar(c rune) string {
	if strings.ContainsRune("dswDSW", c) {
		return `\` + string(c)
	}
	return regexp.QuoteMeta(string(c))
}
