package auth

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"hasura-storage/graphql/localhasura/qerr"
)

// Authenticator knows the secrets and keys of the environment.
type Authenticator struct {
	secrets          []string
	jwts             []*jwtConfig
	unauthorizedRole string
	devMode          bool
	adminInternal    bool
	// Now is the clock that tokens are judged by.
	Now func() time.Time
}

// New reads the environment names that Hasura has for authentication. The
// error says which one is wrong.
func New(env func(string) string) (*Authenticator, error) {
	a := &Authenticator{
		unauthorizedRole: env("HASURA_GRAPHQL_UNAUTHORIZED_ROLE"),
		devMode:          isTrue(env("HASURA_GRAPHQL_DEV_MODE")),
		adminInternal:    true,
		Now:              time.Now,
	}
	if text := env("HASURA_GRAPHQL_ADMIN_INTERNAL_ERRORS"); text != "" {
		a.adminInternal = isTrue(text)
	}
	if env("HASURA_GRAPHQL_AUTH_HOOK") != "" {
		return nil, qerr.Unsupported("an auth webhook (HASURA_GRAPHQL_AUTH_HOOK)")
	}
	if err := a.readSecrets(env); err != nil {
		return nil, err
	}
	if err := a.readKeys(env); err != nil {
		return nil, err
	}
	if len(a.jwts) > 0 && len(a.secrets) == 0 {
		return nil, errors.New("HASURA_GRAPHQL_JWT_SECRET needs HASURA_GRAPHQL_ADMIN_SECRET to be set as well")
	}
	return a, nil
}

func isTrue(text string) bool {
	ok, err := parseBool(text)
	return err == nil && ok
}

func (a *Authenticator) readSecrets(env func(string) string) error {
	for _, name := range []string{"HASURA_GRAPHQL_ADMIN_SECRET", "HASURA_GRAPHQL_ACCESS_KEY"} {
		if secret := env(name); secret != "" {
			a.secrets = append(a.secrets, secret)
			break
		}
	}
	list := env("HASURA_GRAPHQL_ADMIN_SECRETS")
	if list == "" {
		return nil
	}
	var more []string
	if err := json.Unmarshal([]byte(list), &more); err != nil {
		return errors.New("HASURA_GRAPHQL_ADMIN_SECRETS: expected a JSON list of strings")
	}
	for _, secret := range more {
		if secret != "" {
			a.secrets = append(a.secrets, secret)
		}
	}
	return nil
}

func (a *Authenticator) readKeys(env func(string) string) error {
	if text := env("HASURA_GRAPHQL_JWT_SECRET"); text != "" {
		config, err := parseJWTConfig([]byte(text))
		if err != nil {
			return fmt.Errorf("HASURA_GRAPHQL_JWT_SECRET: %w", err)
		}
		a.jwts = append(a.jwts, config)
	}
	text := env("HASURA_GRAPHQL_JWT_SECRETS")
	if text == "" {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return errors.New("HASURA_GRAPHQL_JWT_SECRETS: expected a JSON list")
	}
	for i, item := range list {
		config, err := parseJWTConfig(item)
		if err != nil {
			return fmt.Errorf("HASURA_GRAPHQL_JWT_SECRETS[%d]: %w", i, err)
		}
		a.jwts = append(a.jwts, config)
	}
	return nil
}

// Authenticate tells whose request carries these headers. The secret is
// looked at first in every mode; a wrong one is an error even beside a valid
// token.
func (a *Authenticator) Authenticate(h http.Header) (Session, *qerr.Error) {
	if len(a.secrets) == 0 {
		return trusted(h)
	}
	if secret, sent := sentSecret(h); sent {
		if !a.knows(secret) {
			return Session{}, denied(`invalid "` + secretHeader + `"/"` + accessKeyHeader + `"`)
		}
		return trusted(h)
	}
	if len(a.jwts) > 0 {
		return a.byToken(h)
	}
	if a.unauthorizedRole == "" {
		return Session{}, denied(`"` + secretHeader + `"/"` + accessKeyHeader + `" required, but not found`)
	}
	return a.unauthorized(h), nil
}

// unauthorized is the session of a caller without secret and token. The role
// is fixed, but the other variables are the caller's own words.
func (a *Authenticator) unauthorized(h http.Header) Session {
	return newSession(a.unauthorizedRole, variables(h))
}

// ShowsInternal tells whether the session may read the internal part of
// errors.
func (a *Authenticator) ShowsInternal(s Session) bool {
	return a.devMode || (s.Admin && a.adminInternal)
}

func sentSecret(h http.Header) (string, bool) {
	for _, name := range []string{secretHeader, accessKeyHeader} {
		if values := h.Values(name); len(values) > 0 {
			return values[0], true
		}
	}
	return "", false
}

// knows compares in constant time, since a development machine may be
// reachable by others.
func (a *Authenticator) knows(secret string) bool {
	found := 0
	for _, s := range a.secrets {
		found |= subtle.ConstantTimeCompare([]byte(s), []byte(secret))
	}
	return found == 1
}

func denied(message string) *qerr.Error {
	return qerr.New(qerr.AccessDenied, message).WithStatus(http.StatusUnauthorized)
}

// byToken authenticates by the token of one of the configured places.
func (a *Authenticator) byToken(h http.Header) (Session, *qerr.Error) {
	config, token, err := a.findToken(h)
	if err != nil {
		return Session{}, err
	}
	if config == nil {
		if a.unauthorizedRole == "" {
			return Session{}, qerr.New(qerr.InvalidHeaders,
				"Missing 'Authorization' or 'Cookie' header in JWT authentication mode")
		}
		return a.unauthorized(h), nil
	}
	claims, err := config.verify(token, a.Now())
	if err != nil {
		return Session{}, err
	}
	vars, err := config.claims.variables(claims)
	if err != nil {
		return Session{}, err
	}
	return sessionOfClaims(vars, strings.TrimSpace(h.Get(RoleVariable)))
}
