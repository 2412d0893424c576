package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"hasura-storage/actions"
)

const (
	maxPayload  = 1 << 20          // bytes of a payload; those of files never come this way
	payloadTime = 10 * time.Second // for a whole payload to arrive
)

// payload reads a request's body. What Hasura sends is small and comes at once.
func payload(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(payloadTime)) // tests' writers have none
	// The server goes on reading, to notice a client that leaves: without an end
	// of its own that would end long work.
	defer func() { _ = deadline.SetReadDeadline(time.Time{}) }()

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, actions.Errorf(actions.BadRequest, "the payload is larger than %d bytes", maxPayload)
	case err != nil:
		return nil, actions.Errorf(actions.Busy, "the payload did not arrive").Because(err)
	}
	return body, nil
}

// decodeInput decodes the arguments of an action into in, a pointer to a
// struct. An argument that in does not have is refused: metadata newer than the
// service would otherwise seem to work.
func decodeInput(data json.RawMessage, in any) error {
	if len(data) == 0 {
		return nil // an action without arguments
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(in)
	if err == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return actions.Errorf(actions.BadRequest, "this version of the service knows no argument %s", clip(name))
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return malformed(err, "the input")
	}
	return actions.Errorf(actions.BadRequest, "argument %q cannot be read: %s", culprit(data, in), reason(err))
}

// malformed words an error of encoding/json; whole names what was decoded.
func malformed(err error, whole string) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		name := whole
		if wrong.Field != "" {
			name = fmt.Sprintf("%q", wrong.Field)
		}
		kind, _, _ := strings.Cut(wrong.Value, " ")
		return actions.Errorf(actions.BadRequest, "%s must be %s, not %s", name, expected(wrong.Type), given(kind, wrong.Value))
	case errors.As(err, &syntax):
		return actions.Errorf(actions.BadRequest, "%s is not JSON: %s at byte %d", whole, syntax, syntax.Offset)
	default:
		return actions.Errorf(actions.BadRequest, "%s cannot be read", whole).Because(err)
	}
}

// expected words a Go type for somebody who sees GraphQL's.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number of 64 bits"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// given words what encoding/json found: a kind, or "number 1.5".
func given(kind, value string) string {
	switch kind {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "number":
		return "the " + clip(value)
	default:
		return "a " + kind
	}
}

// culprit finds the argument that a type's own decoder refused, since such
// errors do not tell: the first that cannot be decoded alone.
func culprit(data json.RawMessage, in any) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		quoted, err := json.Marshal(name)
		if err != nil {
			continue // a string always can be
		}
		alone := fmt.Appendf(nil, "{%s:%s}", quoted, members[name])
		probe := reflect.New(reflect.TypeOf(in).Elem()).Interface()
		if json.Unmarshal(alone, probe) != nil {
			return name
		}
	}
	return ""
}

func reason(err error) string {
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return "not a time such as 2024-01-15T12:34:56Z"
	}
	return clip(err.Error())
}

// clip keeps what a client sent from filling its own error message.
func clip(text string) string {
	const most = 100
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
