package main

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const alice = "6dd1e6a6-0a0e-4c0a-9d6e-3f6f6c2f8a01"

func TestToken(t *testing.T) {
	var out strings.Builder
	args := []string{"token", "-user", strings.ToUpper(alice), "-role", "editor"}
	if err := run(t.Context(), args, noEnv, &out); err != nil {
		t.Fatal(err)
	}
	got := parse(t, strings.TrimSpace(out.String()), "dev-jwt-secret-of-at-least-32-bytes")
	hasura, _ := got[claimsNamespace].(map[string]any)
	if hasura["x-hasura-user-id"] != alice || hasura["x-hasura-default-role"] != "editor" {
		t.Errorf("claims are %v", hasura)
	}
}

func TestTokenFollowsTheConfiguration(t *testing.T) {
	secret := `{"type":"HS384","key":"another-key","claims_namespace":"ns","issuer":"me","audience":["you"]}`
	token, err := mint(secret, claims{User: alice, Role: "user", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	got := parse(t, token, "another-key")
	if got["iss"] != "me" || got["ns"] == nil {
		t.Errorf("claims are %v", got)
	}
	if to, err := got.GetAudience(); err != nil || len(to) != 1 || to[0] != "you" {
		t.Errorf("audience = %v, %v", to, err)
	}
}

func TestTokenRefuses(t *testing.T) {
	rsa := func(name string) string {
		return map[string]string{"HASURA_GRAPHQL_JWT_SECRET": `{"type":"RS256","key":"-"}`}[name]
	}
	broken := func(string) string { return "{" }
	tests := map[string]struct {
		args   []string
		getenv func(string) string
		want   string
	}{
		"no user":                {[]string{}, noEnv, "-user must be a UUID"},
		"a user that is no UUID": {[]string{"-user", "bob"}, noEnv, `not "bob"`},
		"an empty role":          {[]string{"-user", alice, "-role", ""}, noEnv, "-role must not be empty"},
		"a stray argument":       {[]string{"-user", alice, "now"}, noEnv, `unexpected argument "now"`},
		"a public key":           {[]string{"-user", alice}, rsa, "only HS256"},
		"a broken secret":        {[]string{"-user", alice}, broken, "HASURA_GRAPHQL_JWT_SECRET must be a JSON object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := run(t.Context(), append([]string{"token"}, tt.args...), tt.getenv, &out)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func noEnv(string) string { return "" }

func parse(t *testing.T, token, key string) jwt.MapClaims {
	t.Helper()
	got := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(token, got, func(*jwt.Token) (any, error) { return []byte(key), nil })
	if err != nil {
		t.Fatal(err)
	}
	return got
}
