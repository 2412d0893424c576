package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

const (
	defaultJWTSecret = `{"type":"HS256","key":"dev-jwt-secret-of-at-least-32-bytes"}`
	claimsNamespace  = "https://hasura.io/jwt/claims"
	defaultTokenLife = 30 * 24 * time.Hour
)

// runToken prints a JWT that a Hasura with the same HASURA_GRAPHQL_JWT_SECRET
// accepts. It is for development: it signs for whoever asks.
func runToken(args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("token", flag.ContinueOnError)
	user := flags.String("user", "", "the user's id, a UUID; becomes x-hasura-user-id")
	role := flags.String("role", "user", "the role: x-hasura-default-role and the only allowed one")
	life := flags.Duration("expires", defaultTokenLife, "how long the token is good")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("token: unexpected argument %q", flags.Arg(0))
	}
	token, err := mint(jwtSecret(getenv), claims{User: *user, Role: *role, Expires: time.Now().Add(*life)})
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	_, err = fmt.Fprintln(out, token)
	return err
}

// claims is what a token says about its holder.
type claims struct {
	User, Role string
	Expires    time.Time
}

// signingConfig is the part of HASURA_GRAPHQL_JWT_SECRET that signing needs.
type signingConfig struct {
	Type      string          `json:"type"`
	Key       string          `json:"key"`
	Namespace string          `json:"claims_namespace"`
	Issuer    string          `json:"issuer"`
	Audience  json.RawMessage `json:"audience"`
}

// mint signs c as the configuration says: a JSON object as Hasura reads it from
// HASURA_GRAPHQL_JWT_SECRET. Only the HMAC types can sign; the others hold a
// public key.
func mint(secret string, c claims) (string, error) {
	if _, err := uuid.Parse(c.User); err != nil {
		return "", fmt.Errorf("-user must be a UUID, not %q", c.User)
	}
	if c.Role == "" {
		return "", errors.New("-role must not be empty")
	}
	var conf signingConfig
	if err := json.Unmarshal([]byte(secret), &conf); err != nil {
		return "", fmt.Errorf("HASURA_GRAPHQL_JWT_SECRET must be a JSON object: %w", err)
	}
	method := jwt.GetSigningMethod(conf.Type)
	if _, symmetric := method.(*jwt.SigningMethodHMAC); !symmetric {
		return "", fmt.Errorf("HASURA_GRAPHQL_JWT_SECRET has type %q: only HS256, HS384 and HS512 can sign here", conf.Type)
	}
	return jwt.NewWithClaims(method, conf.payload(c)).SignedString([]byte(conf.Key))
}

func (s signingConfig) payload(c claims) jwt.MapClaims {
	namespace := s.Namespace
	if namespace == "" {
		namespace = claimsNamespace
	}
	p := jwt.MapClaims{
		"sub": c.User,
		"exp": c.Expires.Unix(),
		namespace: map[string]any{
			"x-hasura-allowed-roles": []string{c.Role},
			"x-hasura-default-role":  c.Role,
			"x-hasura-user-id":       strings.ToLower(c.User),
		},
	}
	if s.Issuer != "" {
		p["iss"] = s.Issuer
	}
	if len(s.Audience) > 0 {
		p["aud"] = s.Audience
	}
	return p
}

func jwtSecret(getenv func(string) string) string {
	return or(getenv("HASURA_GRAPHQL_JWT_SECRET"), defaultJWTSecret)
}
