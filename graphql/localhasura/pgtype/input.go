package pgtype

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Check judges only the JSON kind of a value meant for a column, as Hasura does
// before it asks Postgres. v is a decoded JSON value with numbers as
// json.Number. The error's text is Hasura's own.
func (t Type) Check(v any) error {
	if _, ok := v.(string); ok || t.Class == JSON {
		return nil // Postgres casts it, or refuses it, later
	}
	switch t.Class {
	case Integer:
		return t.checkInteger(v)
	case Float, Numeric:
		if _, ok := v.(json.Number); ok {
			return nil
		}
		return mismatch(map[bool]string{true: "Double", false: "Scientific"}[t.Class == Float], "Number", v)
	case Boolean:
		if _, ok := v.(bool); ok {
			return nil
		}
		return mismatch("Bool", "Bool", v)
	default:
		return mismatch("Text", "String", v)
	}
}

func (t Type) checkInteger(v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return mismatch("Int"+strconv.Itoa(t.Bits), "Number", v)
	}
	exact, ok := integral(n.String())
	if ok && exact.IsInt64() && exact.Int64()>>(t.Bits-1) == exact.Int64()>>63 {
		return nil
	}
	return fmt.Errorf("The value %s lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?", scientific(n.String())) //nolint:staticcheck // Hasura's text
}

// maxExponent bounds the powers of ten that are worth writing out.
const maxExponent = 400

// integral reads a JSON number that is a whole one in any spelling, 1e3 too.
func integral(s string) (*big.Int, bool) {
	if n, ok := new(big.Int).SetString(s, 10); ok {
		return n, true
	}
	r, ok := rational(s)
	if !ok || !r.IsInt() {
		return nil, false
	}
	return r.Num(), true
}

// rational reads a decimal number exactly, unless its exponent is absurd.
func rational(s string) (*big.Rat, bool) {
	if _, exp, found := strings.Cut(strings.ToLower(s), "e"); found {
		if e, err := strconv.Atoi(exp); err != nil || e > maxExponent || e < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// scientific writes a number as Haskell shows a Scientific: 2.147483648e9.
func scientific(s string) string {
	digits, exp := significand(s)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign = "-"
	}
	if exp >= 0 && exp < 7 { // plain notation from 0.1 up to 10^7
		for len(digits) <= exp+1 {
			digits += "0"
		}
		return sign + digits[:exp+1] + "." + digits[exp+1:]
	}
	if exp == -1 {
		return sign + "0." + digits
	}
	if len(digits) == 1 {
		digits += "0"
	}
	return sign + digits[:1] + "." + digits[1:] + "e" + strconv.Itoa(exp)
}

// significand splits a number into its digits without outer zeros and the
// power of ten of the first of them.
func significand(s string) (digits string, exp int) {
	mantissa, e, _ := strings.Cut(strings.ToLower(strings.TrimLeft(s, "+-")), "e")
	exp, _ = strconv.Atoi(e)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	trimmed := strings.TrimLeft(all, "0")
	exp += len(whole) - 1 - (len(all) - len(trimmed))
	if trimmed = strings.TrimRight(trimmed, "0"); trimmed == "" {
		return "0", 0
	}
	return trimmed, exp
}

func mismatch(what, want string, got any) error {
	return fmt.Errorf("parsing %s failed, expected %s, but encountered %s", what, want, Kind(got))
}

// Kind names the JSON kind of a decoded value as aeson does.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "Null"
	case bool:
		return "Boolean"
	case json.Number, float64, int64:
		return "Number"
	case string:
		return "String"
	case []any:
		return "Array"
	}
	return "Object"
}
