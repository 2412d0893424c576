package jsontext_test

import (
	"encoding/json"
	"testing"

	"hasura-storage/graphql/localhasura/jsontext"
)

func TestEncodeLeavesHTMLAlone(t *testing.T) {
	got, err := jsontext.Encode(map[string]any{"a": "<&>", "n": json.Number("1.0")})
	if err != nil || string(got) != `{"a":"<&>","n":1.0}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestInvalid(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"nothing":          {"", "Unexpected end-of-input, expecting JSON value"},
		"half an object":   {`{"a":`, "Unexpected end-of-input, expecting JSON value"},
		"words":            {"not json", `Unexpected "not json", expecting JSON value`},
		"a word inside":    {`{"a": x}`, `Unexpected "x}", expecting JSON value`},
		"a form":           {"a=b", `Unexpected "a=b", expecting JSON value`},
		"text behind JSON": {`{} {}`, `Unexpected "{}", expecting JSON value`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := jsontext.Invalid([]byte(c.body)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// FuzzInvalid holds that no body makes the wording panic.
func FuzzInvalid(f *testing.F) {
	for _, seed := range []string{"", "{", `{"a":x}`, "\xff\x00", "nul", `"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, body []byte) { jsontext.Invalid(body) })
}
