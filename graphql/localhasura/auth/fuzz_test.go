package auth_test

import (
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/auth"
)

// FuzzTokens holds that no header panics and none but the secret makes an
// admin.
func FuzzTokens(f *testing.F) {
	f.Add("Bearer a.b.c", "user")
	f.Add("Bearer eyJhbGciOiJub25lIn0.e30.", "admin")
	f.Add("bearer x", "")
	env := withJWT("")
	a, err := auth.New(func(name string) string { return env[name] })
	if err != nil {
		f.Fatal(err)
	}
	a.Now = func() time.Time { return now }
	f.Fuzz(func(t *testing.T, authorization, role string) {
		s, err := a.Authenticate(map[string][]string{"Authorization": {authorization}, "X-Hasura-Role": {role}})
		if err == nil {
			t.Errorf("%q was let in as %q", authorization, s.Role)
		}
	})
}

// FuzzPaths holds that no JSON path of the configuration panics.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"$", "$.a[0]['b']", "a.b", "$[", "$.", `$["x`, "$[-1]", "$[99999999999999999999]"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, path string) {
		env := withJWT(`"claims_namespace_path":` + quote(path))
		_, _ = auth.New(func(name string) string { return env[name] })
	})
}
