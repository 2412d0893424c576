package pgtype_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"hasura-storage/graphql/localhasura/pgtype"
)

func TestParse(t *testing.T) {
	for declared, want := range map[string]string{
		"integer": "Int", "INT": "Int", "bigint": "bigint", "varchar(20)": "String", "character varying (20)": "String",
		"double  precision": "float8", "real": "Float", "numeric(10, 2)": "numeric", "boolean": "Boolean", "uuid": "uuid",
		"timestamptz": "timestamptz", "timestamp(3) with time zone": "timestamptz", "jsonb": "jsonb", "text": "String",
	} {
		if got, ok := pgtype.Parse(declared); !ok || got.GraphQL != want {
			t.Errorf("%q: got %q, want %q", declared, got.GraphQL, want)
		}
	}
	for _, unknown := range []string{"", "text[]", "mood", "geometry(Point)"} {
		if got, ok := pgtype.Parse(unknown); ok {
			t.Errorf("%q: got %q, want none", unknown, got.GraphQL)
		}
	}
}

func TestCast(t *testing.T) {
	for _, c := range []struct {
		typ, text string
		want      any // an error's text if it is one
	}{
		{"Int", "12", int64(12)},
		{"Int", " -7 ", int64(-7)},
		{"Int", "1.5", errors.New(`invalid input syntax for type integer: "1.5"`)},
		{"Int", "2147483648", errors.New(`value "2147483648" is out of range for type integer`)},
		{"smallint", "-32768", int64(-32768)},
		{"smallint", "32768", errors.New(`value "32768" is out of range for type smallint`)},
		{"bigint", "9223372036854775807", int64(9223372036854775807)},
		{"bigint", "9223372036854775808", errors.New(`value "9223372036854775808" is out of range for type bigint`)},
		{"bigint", "x", errors.New(`invalid input syntax for type bigint: "x"`)},
		{"numeric", "10", int64(10)},
		{"numeric", "1.25", 1.25},
		{"float8", "0x10", errors.New(`invalid input syntax for type double precision: "0x10"`)},
		{"Boolean", "T", true},
		{"Boolean", "off", false},
		{"Boolean", "o", errors.New(`invalid input syntax for type boolean: "o"`)},
		{"uuid", "{6B0E5AD2-3B0F-4C5A-9D59-0C7A5E1D7C11}", "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"},
		{"uuid", "6b0e5ad23b0f4c5a9d590c7a5e1d7c11", "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"},
		{"uuid", "x", errors.New(`invalid input syntax for type uuid: "x"`)},
		{"timestamptz", "2024-01-15T12:34:56.123456789Z", "2024-01-15T12:34:56.123457+00:00"},
		{"timestamptz", "2024-01-15 12:34:56.500+02", "2024-01-15T10:34:56.5+00:00"},
		{"timestamptz", "2024-01-15", "2024-01-15T00:00:00+00:00"},
		{"timestamptz", "epoch", "1970-01-01T00:00:00+00:00"},
		{"timestamp", "2024-01-15T12:34:56+02:00", "2024-01-15T12:34:56"},
		{"date", "2024-01-15T12:34:56Z", "2024-01-15"},
		{"date", "2024-02-30", errors.New(`date/time field value out of range: "2024-02-30"`)},
		{"time", "12:30", "12:30:00"},
		{"jsonb", `{"bb":1,"a":[1, 2.0],"a":null}`, `{"a":null,"bb":1}`},
		{"jsonb", `{`, errors.New("invalid input syntax for type json")},
		{"String", "any", "any"},
	} {
		typ, ok := pgtype.ByGraphQL(c.typ)
		if !ok {
			t.Fatalf("no type %s", c.typ)
		}
		got, err := typ.Cast(c.text)
		if want, fails := c.want.(error); fails {
			if err == nil || err.Error() != want.Error() {
				t.Errorf("%s %q: got %v (%v), want error %v", c.typ, c.text, got, err, want)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s %q: got %v (%v), want %v", c.typ, c.text, got, err, c.want)
		}
	}
}

func TestCastObeysModifiers(t *testing.T) {
	for _, c := range []struct {
		declared, text string
		want           any
	}{
		{"varchar(3)", "äöü", "äöü"},
		{"varchar(3)", "abc  ", "abc"},
		{"varchar(3)", "abcd", errors.New("value too long for type character varying(3)")},
		{"numeric(4,2)", "1.005", 1.01},
		{"numeric(4,2)", "99.994", 99.99},
		{"numeric(4,2)", "100", errors.New("numeric field overflow")},
		{"numeric(4)", "12.5", int64(13)},
	} {
		typ, _ := pgtype.Parse(c.declared)
		got, err := typ.Cast(c.text)
		if want, fails := c.want.(error); fails && (err == nil || err.Error() != want.Error()) || !fails && (err != nil || got != c.want) {
			t.Errorf("%s %q: got %v (%v), want %v", c.declared, c.text, got, err, c.want)
		}
	}
}

func TestCheckSpeaksOfKindsOnly(t *testing.T) {
	for _, c := range []struct {
		typ  string
		v    any
		want string
	}{
		{"Int", json.Number("2147483647"), ""},
		{"Int", json.Number("1e3"), ""},
		{"Int", "not a number", ""},
		{"Int", json.Number("2147483648"), "The value 2.147483648e9 lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?"},
		{"Int", json.Number("1.5"), "The value 1.5 lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?"},
		{"Int", json.Number("-0.05"), "The value -5.0e-2 lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?"},
		{"Int", true, "parsing Int32 failed, expected Number, but encountered Boolean"},
		{"String", json.Number("5"), "parsing Text failed, expected String, but encountered Number"},
		{"uuid", []any{}, "parsing Text failed, expected String, but encountered Array"},
		{"Boolean", json.Number("1"), "parsing Bool failed, expected Bool, but encountered Number"},
		{"jsonb", map[string]any{}, ""},
	} {
		typ, _ := pgtype.ByGraphQL(c.typ)
		err := typ.Check(c.v)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s %v: got %v, want %q", c.typ, c.v, err, c.want)
		}
	}
}

func TestParseArray(t *testing.T) {
	for text, want := range map[string][]string{
		"{}": nil, "{ }": nil, "{a}": {"a"}, `{a, "b c" ,"d\"e"}`: {"a", "b c", `d"e`},
	} {
		got, err := pgtype.ParseArray(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q (%v), want %q", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "a", "{a,}", "{a", `{"a}`, "{NULL}", "{a}b"} {
		if got, err := pgtype.ParseArray(bad); err == nil {
			t.Errorf("%s: got %q, want an error", bad, got)
		}
	}
}

// FuzzCast: no text makes a cast panic, and what it makes casts to itself.
func FuzzCast(f *testing.F) {
	f.Add("2024-01-15T12:34:56.5+02:00")
	f.Add("1e400")
	f.Add(`{"a":[1,{"b":null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"Int", "bigint", "numeric", "float8", "Boolean", "uuid", "timestamptz", "date", "time", "jsonb"} {
			typ, _ := pgtype.ByGraphQL(name)
			once, err := typ.Cast(text)
			stored, isText := once.(string)
			if err != nil || !isText {
				continue
			}
			if twice, err := typ.Cast(stored); err != nil || twice != once {
				t.Errorf("%s %q: %v, then %v (%v)", name, text, once, twice, err)
			}
		}
	})
}
