package graphql

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Session is the `session_variables` of an action: lower-case names that begin
// with "x-hasura-", x-hasura-role among them.
type Session map[string]string

// Role returns x-hasura-role, or "" where the session has none.
func (s Session) Role() string { return s[roleVariable] }

// Key is a text that is equal for equal sessions and for no others. It holds
// the variables in the clear: hash it before it is stored or logged.
func (s Session) Key() string {
	var b strings.Builder
	kept := s.Stored()
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		fmt.Fprintf(&b, "%q=%q\n", name, kept[name])
	}
	return b.String()
}

const (
	roleVariable        = "x-hasura-role"
	adminSecretHeader   = "X-Hasura-Admin-Secret"
	backendOnlyVariable = "x-hasura-use-backend-only-permissions"
)

// withheld are the variables that never travel on: with them a payload could
// choose its own secret, or use permissions meant for the back end.
var withheld = map[string]bool{
	"x-hasura-admin-secret": true,
	"x-hasura-access-key":   true,
	backendOnlyVariable:     true,
}

// ErrNoRole refuses a session without a role: beside the admin secret Hasura
// would take it for the admin.
var ErrNoRole = errors.New("session has no x-hasura-role")

// InvalidVariableError names a session variable that cannot be sent as an HTTP header.
type InvalidVariableError struct{ Name string }

func (e *InvalidVariableError) Error() string {
	return fmt.Sprintf("session variable %q cannot be sent as a header", e.Name)
}

// headers turns the session into request headers, or says which variable cannot be one.
func (s Session) headers() (http.Header, error) {
	h := make(http.Header, len(s)+2)
	for name, value := range s {
		lower := strings.ToLower(name)
		if withheld[lower] {
			continue
		}
		if !strings.HasPrefix(lower, "x-hasura-") || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, &InvalidVariableError{Name: name}
		}
		h.Set(name, value)
	}
	if strings.TrimSpace(h.Get(roleVariable)) == "" {
		return nil, ErrNoRole
	}
	return h, nil
}

// Stored returns the variables that may be kept to ask again later as this session.
func (s Session) Stored() map[string]string {
	kept := make(map[string]string, len(s))
	for name, value := range s {
		if !withheld[strings.ToLower(name)] {
			kept[strings.ToLower(name)] = value
		}
	}
	return kept
}
