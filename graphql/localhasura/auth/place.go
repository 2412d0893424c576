package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"hasura-storage/graphql/localhasura/qerr"
)

// Kinds of places where a token may stand.
const (
	inAuthorization = "Authorization"
	inCookie        = "Cookie"
	inCustomHeader  = "CustomHeader"
)

// place is where a configuration looks for its token; name is that of the
// cookie or header.
type place struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

func parsePlace(raw json.RawMessage) (place, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return place{Type: inAuthorization}, nil
	}
	var p place
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, errors.New("header: expected an object with \"type\" and \"name\"")
	}
	switch p.Type {
	case inAuthorization:
		return place{Type: inAuthorization}, nil
	case inCookie, inCustomHeader:
		if p.Name == "" {
			return p, fmt.Errorf("header: type %s needs a \"name\"", p.Type)
		}
		return p, nil
	}
	return p, fmt.Errorf("header: type %q is none of Authorization, Cookie, CustomHeader", p.Type)
}

// token is what stands at the place; "" if nothing does.
func (p place) token(h http.Header) (string, *qerr.Error) {
	switch p.Type {
	case inCookie:
		cookie, err := (&http.Request{Header: h}).Cookie(p.Name)
		if err != nil {
			return "", nil //nolint:nilerr // the cookie is absent
		}
		return cookie.Value, nil
	case inCustomHeader:
		return h.Get(p.Name), nil
	}
	if len(h.Values(inAuthorization)) == 0 {
		return "", nil
	}
	words := strings.Fields(h.Get(inAuthorization))
	if len(words) != 2 || words[0] != "Bearer" {
		return "", qerr.New(qerr.InvalidHeaders, "Malformed Authorization header")
	}
	return words[1], nil
}

// findToken pairs the tokens of a request with the configurations that look
// where they stand and accept their issuer. There must be at most one pair;
// a nil configuration means that there is no token at all.
func (a *Authenticator) findToken(h http.Header) (*jwtConfig, string, *qerr.Error) {
	var config *jwtConfig
	var token string
	matches, strangers := 0, 0
	for _, c := range a.jwts {
		t, err := c.place.token(h)
		if err != nil {
			return nil, "", err
		}
		switch {
		case t == "":
		case c.accepts(t):
			config, token = c, t
			matches++
		default:
			strangers++
		}
	}
	if matches > 1 {
		return nil, "", qerr.New(qerr.InvalidHeaders, "Could not verify JWT: Multiple JWTs found")
	}
	if matches == 0 && strangers > 0 {
		return nil, "", badToken("JWTNotInIssuer")
	}
	return config, token, nil
}

// accepts compares the issuer that a token claims, before it is verified.
func (c *jwtConfig) accepts(token string) bool {
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		return true // verify says what is wrong
	}
	issuer, err := claims.GetIssuer()
	return c.issuer == "" || err != nil || issuer == "" || issuer == c.issuer
}
