package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hasura-storage/graphql/localhasura/auth"
)

const (
	secret = "top-secret"
	key    = "0123456789abcdef0123456789abcdef"
)

var now = time.Date(2024, 5, 2, 10, 0, 0, 0, time.UTC)

type env map[string]string

func (e env) with(name, value string) env {
	c := maps.Clone(e)
	c[name] = value
	return c
}

func secretOnly() env { return env{"HASURA_GRAPHQL_ADMIN_SECRET": secret} }

// withJWT is JWT mode with HS256; options are merged into the configuration.
func withJWT(options string) env {
	config := `{"type":"HS256","key":"` + key + `"}`
	if options != "" {
		config = strings.TrimSuffix(config, "}") + "," + options + "}"
	}
	return secretOnly().with("HASURA_GRAPHQL_JWT_SECRET", config)
}

func newAuth(t *testing.T, e env) *auth.Authenticator {
	t.Helper()
	a, err := auth.New(func(name string) string { return e[name] })
	if err != nil {
		t.Fatal(err)
	}
	a.Now = func() time.Time { return now }
	return a
}

// sign makes a token of claims given as JSON.
func sign(t *testing.T, method jwt.SigningMethod, k any, claims string) string {
	t.Helper()
	var c jwt.MapClaims
	if err := json.Unmarshal([]byte(claims), &c); err != nil {
		t.Fatal(err)
	}
	token, err := jwt.NewWithClaims(method, c).SignedString(k)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func bearer(t *testing.T, claims string) string {
	t.Helper()
	return "Bearer " + sign(t, jwt.SigningMethodHS256, []byte(key), claims)
}

func hasura(claims string) string { return `{"https://hasura.io/jwt/claims":` + claims + `}` }

const plainClaims = `{"x-hasura-allowed-roles":["user","me"],"x-hasura-default-role":"user","X-Hasura-User-Id":"42"}`

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestSessions(t *testing.T) {
	user := bearer(t, hasura(plainClaims))
	anonymous := withJWT("").with("HASURA_GRAPHQL_UNAUTHORIZED_ROLE", "anonymous")
	for name, c := range map[string]struct {
		env    env
		header http.Header
		want   auth.Session
	}{
		"no secret configured": {env{}, header(),
			session("admin", false)},
		"no secret configured, a role and the backend header": {env{}, header("X-Hasura-Role", "user", "X-Hasura-Use-Backend-Only-Permissions", "yes"),
			session("user", true, "x-hasura-use-backend-only-permissions", "yes")},
		"the secret alone": {secretOnly(), header("X-Hasura-Admin-Secret", secret),
			session("admin", false)},
		"the old alias": {secretOnly(), header("X-Hasura-Access-Key", secret),
			session("admin", false)},
		"an empty role header": {secretOnly(), header("X-Hasura-Admin-Secret", secret, "X-Hasura-Role", ""),
			session("admin", false)},
		"the secret with a role and variables": {secretOnly(), header("X-Hasura-Admin-Secret", secret, "X-Hasura-Role", "nobody-knows", "X-Hasura-User-Id", "7"),
			session("nobody-knows", false, "x-hasura-user-id", "7")},
		"one of several secrets": {env{"HASURA_GRAPHQL_ADMIN_SECRETS": `["a","b"]`}, header("X-Hasura-Admin-Secret", "b"),
			session("admin", false)},
		"the secret beside a token": {withJWT(""), header("X-Hasura-Admin-Secret", secret, "Authorization", user),
			session("admin", false)},
		"a token": {withJWT(""), header("Authorization", user, "X-Hasura-Org", "spoofed"),
			session("user", false, "x-hasura-user-id", "42")},
		"a token and another allowed role": {withJWT(""), header("Authorization", user, "X-Hasura-Role", "me"),
			session("me", false, "x-hasura-user-id", "42")},
		"a token never opens backend-only": {withJWT(""), header("Authorization", user, "X-Hasura-Use-Backend-Only-Permissions", "true"),
			session("user", false, "x-hasura-user-id", "42")},
		"the unauthorized role keeps the other variables": {secretOnly().with("HASURA_GRAPHQL_UNAUTHORIZED_ROLE", "anonymous"), header("X-Hasura-Role", "user", "X-Hasura-User-Id", "1"),
			session("anonymous", false, "x-hasura-user-id", "1")},
		"the unauthorized role beside tokens": {anonymous, header(),
			session("anonymous", false)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newAuth(t, c.env).Authenticate(c.header)
			if err != nil {
				t.Fatal(err)
			}
			check(t, got, c.want)
		})
	}
}

func session(role string, backend bool, vars ...string) auth.Session {
	s := auth.Session{Role: role, Vars: map[string]string{"x-hasura-role": role}, Admin: role == "admin", BackendOnly: backend}
	for i := 0; i < len(vars); i += 2 {
		s.Vars[vars[i]] = vars[i+1]
	}
	return s
}

func check(t *testing.T, got, want auth.Session) {
	t.Helper()
	if got.Role != want.Role || got.Admin != want.Admin || got.BackendOnly != want.BackendOnly || !maps.Equal(got.Vars, want.Vars) {
		t.Errorf("session = %+v\nwant      %+v", got, want)
	}
}

func TestTokensElsewhere(t *testing.T) {
	token := sign(t, jwt.SigningMethodHS256, []byte(key), hasura(plainClaims))
	for name, c := range map[string]struct {
		options string
		header  http.Header
	}{
		"a cookie":                 {`"header":{"type":"Cookie","name":"tok"}`, header("Cookie", "a=b; tok="+token)},
		"a header":                 {`"header":{"type":"CustomHeader","name":"x-tok"}`, header("X-Tok", token)},
		"a namespace":              {`"claims_namespace":"app"`, header("Authorization", bearer(t, `{"app":`+plainClaims+`}`))},
		"a namespace path":         {`"claims_namespace_path":"$.app['in it']"`, header("Authorization", bearer(t, `{"app":{"in it":`+plainClaims+`}}`))},
		"the root as path":         {`"claims_namespace_path":"$"`, header("Authorization", bearer(t, plainClaims))},
		"claims as text":           {`"claims_format":"stringified_json"`, header("Authorization", bearer(t, hasura(quote(plainClaims))))},
		"a list of audiences":      {`"audience":["x","y"]`, header("Authorization", bearer(t, `{"aud":"y",`+hasura(plainClaims)[1:]))},
		"no audience in the token": {`"audience":"x"`, header("Authorization", bearer(t, hasura(plainClaims)))},
		"the issuer":               {`"issuer":"me"`, header("Authorization", bearer(t, `{"iss":"me",`+hasura(plainClaims)[1:]))},
		"expired within the skew":  {`"allowed_skew":60`, header("Authorization", bearer(t, `{"exp":1714643970,`+hasura(plainClaims)[1:]))},
		"a claims map": {`"claims_map":{"x-hasura-allowed-roles":{"path":"$.roles","default":["user"]},"x-hasura-default-role":"user","x-hasura-user-id":{"path":"$.ids[0]"}}`,
			header("Authorization", bearer(t, `{"ids":["42"]}`))},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newAuth(t, withJWT(c.options)).Authenticate(c.header)
			if err != nil {
				t.Fatal(err)
			}
			check(t, got, session("user", false, "x-hasura-user-id", "42"))
		})
	}
}

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func TestErrors(t *testing.T) {
	with := func(members string) http.Header {
		return header("Authorization", bearer(t, `{`+members+`,`+hasura(plainClaims)[1:]))
	}
	claims := func(c string) http.Header { return header("Authorization", bearer(t, hasura(c))) }
	user := bearer(t, hasura(plainClaims))
	for name, c := range map[string]struct {
		env     env
		header  http.Header
		status  int
		code    string
		message string
	}{
		"a wrong secret":              {secretOnly(), header("X-Hasura-Admin-Secret", "x"), 401, "access-denied", `invalid "x-hasura-admin-secret"/"x-hasura-access-key"`},
		"a wrong secret and a token":  {withJWT(""), header("X-Hasura-Admin-Secret", "x", "Authorization", user), 401, "access-denied", `invalid "x-hasura-admin-secret"/"x-hasura-access-key"`},
		"no secret":                   {secretOnly(), header(), 401, "access-denied", `"x-hasura-admin-secret"/"x-hasura-access-key" required, but not found`},
		"no token":                    {withJWT(""), header(), 400, "invalid-headers", "Missing 'Authorization' or 'Cookie' header in JWT authentication mode"},
		"not a bearer":                {withJWT(""), header("Authorization", "Basic abc"), 400, "invalid-headers", "Malformed Authorization header"},
		"another signature":           {withJWT(""), header("Authorization", user[:len(user)-4]+"AAAA"), 400, "invalid-jwt", "Could not verify JWT: JWSError JWSInvalidSignature"},
		"another algorithm":           {withJWT(""), header("Authorization", "Bearer "+sign(t, jwt.SigningMethodHS512, []byte(key), hasura(plainClaims))), 400, "invalid-jwt", "Could not verify JWT: JWSError JWSInvalidSignature"},
		"no algorithm at all":         {withJWT(""), header("Authorization", "Bearer "+sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, hasura(plainClaims))), 400, "invalid-jwt", "Could not verify JWT: JWSError JWSInvalidSignature"},
		"no token but a word":         {withJWT(""), header("Authorization", "Bearer abc"), 400, "invalid-jwt", "Could not verify JWT: JWSError (JOSEError (CompactDecodeError Expected 3 parts; got 1))"},
		"expired":                     {withJWT(""), with(`"exp":1714643999`), 400, "invalid-jwt", "Could not verify JWT: JWTExpired"},
		"not yet valid":               {withJWT(""), with(`"nbf":1714644001`), 400, "invalid-jwt", "Could not verify JWT: JWTNotYetValid"},
		"another audience":            {withJWT(`"audience":"x"`), with(`"aud":["y"]`), 400, "invalid-jwt", "Could not verify JWT: JWTNotInAudience"},
		"another issuer":              {withJWT(`"issuer":"x"`), with(`"iss":"y"`), 400, "invalid-jwt", "Could not verify JWT: JWTNotInIssuer"},
		"no claims":                   {withJWT(""), header("Authorization", bearer(t, `{}`)), 400, "jwt-invalid-claims", "claims key: 'https://hasura.io/jwt/claims' not found"},
		"no claims at the path":       {withJWT(`"claims_namespace_path":"$.hasura"`), header("Authorization", bearer(t, `{}`)), 400, "jwt-invalid-claims", "claims not found at claims_namespace_path: '$.hasura'"},
		"claims as text":              {withJWT(""), claims(`"{}"`), 400, "jwt-invalid-claims", "expecting a json object when claims_format is json"},
		"claims not as text":          {withJWT(`"claims_format":"stringified_json"`), claims(`{}`), 400, "jwt-invalid-claims", "expecting a string when claims_format is stringified_json"},
		"no allowed roles":            {withJWT(""), claims(`{"x-hasura-default-role":"user"}`), 400, "jwt-missing-role-claims", `JWT claim does not contain "x-hasura-allowed-roles"`},
		"no default role":             {withJWT(""), claims(`{"x-hasura-allowed-roles":["user"]}`), 400, "jwt-missing-role-claims", `JWT claim does not contain "x-hasura-default-role"`},
		"allowed roles as text":       {withJWT(""), claims(`{"x-hasura-allowed-roles":"user","x-hasura-default-role":"user"}`), 400, "jwt-invalid-claims", `invalid "x-hasura-allowed-roles"; should be a list of roles: parsing [] failed, expected Array, but encountered String`},
		"a role that is not allowed":  {withJWT(""), header("Authorization", user, "X-Hasura-Role", "boss"), 400, "access-denied", "Your requested role is not in allowed roles"},
		"a default that is forbidden": {withJWT(""), claims(`{"x-hasura-allowed-roles":["user"],"x-hasura-default-role":"boss"}`), 400, "access-denied", "Your requested role is not in allowed roles"},
		"a number as variable":        {withJWT(""), claims(`{"x-hasura-allowed-roles":["user"],"x-hasura-default-role":"user","x-hasura-user-id":4}`), 400, "jwt-invalid-claims", "x-hasura-* claims: parsing Text failed, expected String, but encountered Number"},
		"a mapped claim is missing":   {withJWT(`"claims_map":{"x-hasura-allowed-roles":["user"],"x-hasura-default-role":"user","x-hasura-user-id":{"path":"$.id"}}`), header("Authorization", bearer(t, `{}`)), 400, "jwt-invalid-claims", `JWT claim from claims_map, "x-hasura-user-id" not found`},
		"no boolean for backend-only": {secretOnly(), header("X-Hasura-Admin-Secret", secret, "X-Hasura-Use-Backend-Only-Permissions", "1"), 400, "bad-request", `"x-hasura-use-backend-only-permissions":  Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive`},
		"two tokens": {secretOnly().with("HASURA_GRAPHQL_JWT_SECRETS", `[{"type":"HS256","key":"`+key+`"},{"type":"HS256","key":"`+key+`","header":{"type":"Cookie","name":"tok"}}]`),
			header("Authorization", user, "Cookie", "tok=x"), 400, "invalid-headers", "Could not verify JWT: Multiple JWTs found"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newAuth(t, c.env).Authenticate(c.header)
			if err == nil {
				t.Fatal("let in")
			}
			if err.HTTPStatus() != c.status || err.Code != c.code || err.Message != c.message || err.Path != "$" {
				t.Errorf("error = %d %v\nwant    %d %s: %s", err.HTTPStatus(), err, c.status, c.code, c.message)
			}
		})
	}
}

func TestPublicKeys(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kind    string
		method  jwt.SigningMethod
		private any
		public  any
	}{
		"RS256": {"RS256", jwt.SigningMethodRS256, rsaKey, &rsaKey.PublicKey},
		"ES256": {"ES256", jwt.SigningMethodES256, ecKey, &ecKey.PublicKey},
	} {
		t.Run(name, func(t *testing.T) {
			der, err := x509.MarshalPKIXPublicKey(c.public)
			if err != nil {
				t.Fatal(err)
			}
			config, err := json.Marshal(map[string]string{"type": c.kind,
				"key": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))})
			if err != nil {
				t.Fatal(err)
			}
			a := newAuth(t, secretOnly().with("HASURA_GRAPHQL_JWT_SECRET", string(config)))
			got, qe := a.Authenticate(header("Authorization", "Bearer "+sign(t, c.method, c.private, hasura(plainClaims))))
			if qe != nil {
				t.Fatal(qe)
			}
			check(t, got, session("user", false, "x-hasura-user-id", "42"))
		})
	}
}

func TestConfigurationFaultsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		env  env
		want string
	}{
		"a token without a secret": {env{"HASURA_GRAPHQL_JWT_SECRET": `{"type":"HS256","key":"` + key + `"}`}, "HASURA_GRAPHQL_ADMIN_SECRET"},
		"a short key":              {secretOnly().with("HASURA_GRAPHQL_JWT_SECRET", `{"type":"HS256","key":"x"}`), "at least 32 bytes"},
		"an unknown type":          {secretOnly().with("HASURA_GRAPHQL_JWT_SECRET", `{"type":"XX","key":"x"}`), `"XX"`},
		"no JSON":                  {secretOnly().with("HASURA_GRAPHQL_JWT_SECRET", `abc`), "JSON object"},
		"a webhook":                {secretOnly().with("HASURA_GRAPHQL_AUTH_HOOK", "http://x"), "auth webhook"},
		"a JWK URL":                {secretOnly().with("HASURA_GRAPHQL_JWT_SECRET", `{"jwk_url":"https://x"}`), "jwk_url"},
		"a broken path":            {withJWT(`"claims_namespace_path":"$.a["`), "claims_namespace_path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := auth.New(func(n string) string { return c.env[n] })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want it to contain %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), key) {
				t.Error("the error shows the key")
			}
		})
	}
}
