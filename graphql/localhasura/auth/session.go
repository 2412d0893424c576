// Package auth decides who asks: admin secret, JWT, unauthorized role, or
// everybody as admin when nothing is configured. Start with Authenticator.
package auth

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/qerr"
)

// Names of headers and session variables, lower-case as Hasura keeps them.
const (
	AdminRole       = "admin"
	RoleVariable    = "x-hasura-role"
	secretHeader    = "x-hasura-admin-secret"
	accessKeyHeader = "x-hasura-access-key"
	backendHeader   = "x-hasura-use-backend-only-permissions"
	allowedRoles    = "x-hasura-allowed-roles"
	defaultRole     = "x-hasura-default-role"
	prefix          = "x-hasura-"
)

// Session is who asks. Two sessions are the same if their variables are.
type Session struct {
	// Role decides the schema; AdminRole sees everything.
	Role string
	// Vars are the session variables by lower-case name. They contain
	// x-hasura-role and never the admin secret.
	Vars map[string]string
	// Admin says that Role is AdminRole.
	Admin bool
	// BackendOnly says that backend_only permissions are open to this request.
	BackendOnly bool
}

// newSession takes over the variables but for those that only steer
// authentication.
func newSession(role string, vars map[string]string) Session {
	vars = maps.Clone(vars)
	delete(vars, secretHeader)
	delete(vars, accessKeyHeader)
	vars[RoleVariable] = role
	return Session{Role: role, Vars: vars, Admin: role == AdminRole}
}

// variables are all x-hasura-* headers. Of a header sent twice the first
// value counts.
func variables(h http.Header) map[string]string {
	out := map[string]string{}
	for name, values := range h {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, prefix) && len(values) > 0 {
			out[lower] = values[0]
		}
	}
	return out
}

// trusted is the session of a caller who proved to be the service itself (or
// of anybody, where no secret is configured): the headers are believed.
func trusted(h http.Header) (Session, *qerr.Error) {
	vars := variables(h)
	role := vars[RoleVariable]
	if role == "" {
		role = AdminRole
	}
	s := newSession(role, vars)
	text, sent := vars[backendHeader]
	if !sent {
		return s, nil
	}
	open, err := parseBool(text)
	s.BackendOnly = open
	return s, err
}

func parseBool(text string) (bool, *qerr.Error) {
	lower := strings.ToLower(text)
	if slices.Contains([]string{"true", "t", "yes", "y"}, lower) {
		return true, nil
	}
	if slices.Contains([]string{"false", "f", "no", "n"}, lower) {
		return false, nil
	}
	return false, qerr.New(qerr.BadRequest, `"`+backendHeader+`":  Not a valid boolean text. `+
		`True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. `+
		`All values are case insensitive`)
}
