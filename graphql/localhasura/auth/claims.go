package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/qerr"
)

const defaultNamespace = "https://hasura.io/jwt/claims"

// claimsConfig says where in a token Hasura's claims stand: under a namespace
// (a key or a path), or each at its own path.
type claimsConfig struct {
	namespace   string
	path        jsonPath // replaces namespace when set
	pathText    string
	stringified bool
	byName      map[string]claimSource // replaces both when set
}

// claimSource is one entry of claims_map: a literal, or a path with an
// optional default.
type claimSource struct {
	path     jsonPath // nil = literal
	fallback any      // literal or default; nil = none
}

func parseClaimsConfig(raw []byte) (claimsConfig, error) {
	var c struct {
		Namespace *string                    `json:"claims_namespace"`
		Path      *string                    `json:"claims_namespace_path"`
		Format    string                     `json:"claims_format"`
		Map       map[string]json.RawMessage `json:"claims_map"`
	}
	out := claimsConfig{namespace: defaultNamespace}
	if err := json.Unmarshal(raw, &c); err != nil {
		return out, errors.New("claims_namespace, claims_namespace_path and claims_format are strings, claims_map an object")
	}
	if c.Namespace != nil && c.Path != nil {
		return out, errors.New("claims_namespace and claims_namespace_path exclude each other")
	}
	if c.Namespace != nil {
		out.namespace = *c.Namespace
	}
	if !slices.Contains([]string{"", "json", "stringified_json"}, c.Format) {
		return out, fmt.Errorf("claims_format: %q is neither json nor stringified_json", c.Format)
	}
	out.stringified = c.Format == "stringified_json"
	if c.Path != nil {
		path, err := parsePath(*c.Path)
		if err != nil {
			return out, fmt.Errorf("claims_namespace_path: %w", err)
		}
		out.path, out.pathText = path, *c.Path
	}
	return out, out.readMap(c.Map)
}

func (c *claimsConfig) readMap(entries map[string]json.RawMessage) error {
	if entries == nil {
		return nil
	}
	c.byName = map[string]claimSource{}
	for name, raw := range entries {
		source, err := parseSource(raw)
		if err != nil {
			return fmt.Errorf("claims_map: %s: %w", name, err)
		}
		c.byName[strings.ToLower(name)] = source
	}
	for _, needed := range []string{allowedRoles, defaultRole} {
		if _, ok := c.byName[needed]; !ok {
			return fmt.Errorf("claims_map: %s is missing", needed)
		}
	}
	return nil
}

func parseSource(raw json.RawMessage) (claimSource, error) {
	var byPath struct {
		Path    string `json:"path"`
		Default any    `json:"default"`
	}
	if len(raw) > 0 && raw[0] == '{' {
		if err := json.Unmarshal(raw, &byPath); err != nil {
			return claimSource{}, err
		}
		path, err := parsePath(byPath.Path)
		return claimSource{path: path, fallback: byPath.Default}, err
	}
	var literal any
	err := json.Unmarshal(raw, &literal)
	return claimSource{fallback: literal}, err
}

// variables are Hasura's claims by lower-case name; their values are not
// checked yet.
func (c *claimsConfig) variables(claims map[string]any) (map[string]any, *qerr.Error) {
	if c.byName != nil {
		return c.mapped(claims)
	}
	value, found := claims[c.namespace]
	missing := fmt.Sprintf("claims key: '%s' not found", c.namespace)
	if c.path != nil {
		value, found = c.path.in(claims)
		missing = fmt.Sprintf("claims not found at claims_namespace_path: '%s'", c.pathText)
	}
	if !found {
		return nil, badClaims(missing)
	}
	object, err := c.object(value)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, value := range object {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, prefix) {
			out[lower] = value
		}
	}
	return out, nil
}

func (c *claimsConfig) object(value any) (map[string]any, *qerr.Error) {
	if !c.stringified {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, badClaims("expecting a json object when claims_format is json")
		}
		return object, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, badClaims("expecting a string when claims_format is stringified_json")
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		at := "claims_namespace " + c.namespace
		if c.path != nil {
			at = "claims_namespace_path " + c.pathText
		}
		return nil, badClaims(fmt.Sprintf("expecting stringified json at: '%s', but found: %s", at, text))
	}
	return object, nil
}

func (c *claimsConfig) mapped(claims map[string]any) (map[string]any, *qerr.Error) {
	out := map[string]any{}
	for name, source := range c.byName {
		value, found := source.fallback, source.fallback != nil
		if source.path != nil {
			if at, ok := source.path.in(claims); ok {
				value, found = at, true
			}
		}
		if found {
			out[name] = value
			continue
		}
		if name != allowedRoles && name != defaultRole { // those have an error of their own
			return nil, badClaims(fmt.Sprintf("JWT claim from claims_map, %q not found", name))
		}
	}
	return out, nil
}

// sessionOfClaims checks the claims and picks the role: the requested one,
// which must be allowed, or the default.
func sessionOfClaims(claims map[string]any, requested string) (Session, *qerr.Error) {
	roles, err := rolesOf(claims)
	if err != nil {
		return Session{}, err
	}
	role, err := defaultRoleOf(claims)
	if err != nil {
		return Session{}, err
	}
	if requested != "" {
		role = requested
	}
	if !slices.Contains(roles, role) {
		return Session{}, qerr.New(qerr.AccessDenied, "Your requested role is not in allowed roles")
	}
	vars := map[string]string{}
	for name, value := range claims {
		if name == allowedRoles || name == defaultRole {
			continue
		}
		text, ok := value.(string)
		if !ok {
			return Session{}, badClaims("x-hasura-* claims: " + expected("Text", "String", value))
		}
		vars[name] = text
	}
	return newSession(role, vars), nil
}

func rolesOf(claims map[string]any) ([]string, *qerr.Error) {
	value, ok := claims[allowedRoles]
	if !ok {
		return nil, qerr.Newf(qerr.JWTMissingRoles, "JWT claim does not contain %q", allowedRoles)
	}
	wrong := fmt.Sprintf("invalid %q; should be a list of roles: ", allowedRoles)
	list, ok := value.([]any)
	if !ok {
		return nil, badClaims(wrong + expected("[]", "Array", value))
	}
	roles := make([]string, len(list))
	for i, item := range list {
		if roles[i], ok = item.(string); !ok {
			return nil, badClaims(wrong + expected("Text", "String", item))
		}
	}
	return roles, nil
}

func defaultRoleOf(claims map[string]any) (string, *qerr.Error) {
	value, ok := claims[defaultRole]
	if !ok {
		return "", qerr.Newf(qerr.JWTMissingRoles, "JWT claim does not contain %q", defaultRole)
	}
	role, ok := value.(string)
	if !ok {
		return "", badClaims(fmt.Sprintf("invalid %q; should be a role: ", defaultRole) + expected("Text", "String", value))
	}
	return role, nil
}

// expected words a JSON value of the wrong kind.
func expected(parsing, want string, got any) string {
	return fmt.Sprintf("parsing %s failed, expected %s, but encountered %s", parsing, want, pgtype.Kind(got))
}

func badClaims(message string) *qerr.Error { return qerr.New(qerr.JWTInvalidClaims, message) }
