package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hasura-storage/graphql/localhasura/qerr"
)

// minSecret is how long Hasura wants an HMAC secret to be, in bytes.
const minSecret = 32

// jwtConfig is one HASURA_GRAPHQL_JWT_SECRET.
type jwtConfig struct {
	method   string // JWS algorithm
	key      any
	place    place
	issuer   string   // empty = any
	audience []string // empty = any
	skew     time.Duration
	claims   claimsConfig
}

func parseJWTConfig(raw []byte) (*jwtConfig, error) {
	var c struct {
		Type     string          `json:"type"`
		Key      string          `json:"key"`
		JWKURL   string          `json:"jwk_url"`
		Audience json.RawMessage `json:"audience"`
		Issuer   string          `json:"issuer"`
		Skew     int             `json:"allowed_skew"`
		Header   json.RawMessage `json:"header"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, errors.New("expected a JSON object with \"type\" and \"key\"")
	}
	if c.JWKURL != "" {
		return nil, qerr.Unsupported("jwk_url")
	}
	out := &jwtConfig{issuer: c.Issuer, skew: time.Duration(c.Skew) * time.Second}
	var errs [4]error
	out.method, out.key, errs[0] = parseKey(c.Type, c.Key)
	out.audience, errs[1] = stringOrList(c.Audience)
	out.place, errs[2] = parsePlace(c.Header)
	out.claims, errs[3] = parseClaimsConfig(raw)
	return out, errors.Join(errs[:]...)
}

// parseKey reads the key of an algorithm; type Ed25519 is JWS's EdDSA.
func parseKey(kind, key string) (method string, parsed any, err error) {
	switch {
	case slices.Contains([]string{"HS256", "HS384", "HS512"}, kind):
		if len(key) < minSecret {
			return "", nil, fmt.Errorf("key: must be at least %d bytes long for %s", minSecret, kind)
		}
		return kind, []byte(key), nil
	case slices.Contains([]string{"RS256", "RS384", "RS512"}, kind):
		parsed, err = jwt.ParseRSAPublicKeyFromPEM([]byte(key))
	case slices.Contains([]string{"ES256", "ES384", "ES512"}, kind):
		parsed, err = jwt.ParseECPublicKeyFromPEM([]byte(key))
	case kind == "Ed25519":
		parsed, err = jwt.ParseEdPublicKeyFromPEM([]byte(key))
		kind = "EdDSA"
	default:
		return "", nil, fmt.Errorf("type: %q is not a supported kind of key", kind)
	}
	if err != nil {
		return "", nil, fmt.Errorf("key: not a public key in PEM for %s", kind)
	}
	return kind, parsed, nil
}

func stringOrList(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("audience: expected a string or a list of strings")
	}
	return list, nil
}

// verify checks signature and registered claims at a time and returns all
// claims. A claim that is absent passes its check, as it does in Hasura.
func (c *jwtConfig) verify(token string, now time.Time) (map[string]any, *qerr.Error) {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{c.method}), jwt.WithoutClaimsValidation(), jwt.WithJSONNumber())
	claims := jwt.MapClaims{}
	_, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return c.key, nil })
	if errors.Is(err, jwt.ErrTokenMalformed) {
		return nil, badToken("JWSError (JOSEError (CompactDecodeError " + compactFault(token) + "))")
	}
	if err != nil {
		return nil, badToken("JWSError JWSInvalidSignature")
	}
	if fault := c.fault(claims, now); fault != "" {
		return nil, badToken(fault)
	}
	return claims, nil
}

// compactFault words what is wrong with a text that is no compact JWS.
func compactFault(token string) string {
	parts := strings.Count(token, ".") + 1
	if parts != 3 {
		return fmt.Sprintf("Expected 3 parts; got %d", parts)
	}
	return "Invalid JSON or base64"
}

// fault names the first registered claim that does not hold, in the order in
// which Hasura's library looks at them.
func (c *jwtConfig) fault(claims jwt.MapClaims, now time.Time) string {
	exp, expErr := claims.GetExpirationTime()
	iat, iatErr := claims.GetIssuedAt()
	nbf, nbfErr := claims.GetNotBefore()
	iss, issErr := claims.GetIssuer()
	aud, audErr := claims.GetAudience()
	switch {
	case errors.Join(expErr, iatErr, nbfErr, issErr, audErr) != nil:
		return "JWTClaimsSetDecodeError"
	case exp != nil && !now.Before(exp.Add(c.skew)):
		return "JWTExpired"
	case iat != nil && now.Before(iat.Add(-c.skew)):
		return "JWTIssuedAtFuture"
	case nbf != nil && now.Before(nbf.Add(-c.skew)):
		return "JWTNotYetValid"
	case c.issuer != "" && iss != "" && iss != c.issuer:
		return "JWTNotInIssuer"
	case len(c.audience) > 0 && len(aud) > 0 && !overlap(c.audience, aud):
		return "JWTNotInAudience"
	}
	return ""
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func badToken(fault string) *qerr.Error {
	return qerr.New(qerr.InvalidJWT, "Could not verify JWT: "+fault)
}
