package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"hasura-storage/actions"
)

// fromHasura lets only those through who know the shared secret: anybody else
// could invent sessions. It looks at nothing of the body.
func fromHasura(secret string, render renderer) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if secret == "" {
				renderUnavailable(w, r, actions.Errorf(actions.Unauthenticated, "HASURA_STORAGE_SECRET is not configured"))
				return
			}
			if !sameSecret(r.Header.Get("X-Hasura-Storage-Secret"), secret) {
				render(w, r, actions.Errorf(actions.Unauthenticated, "the header x-hasura-storage-secret is missing or wrong"))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// sameSecret compares sums, which have one length: the comparison tells neither
// where a guess goes wrong nor how long the secret is.
func sameSecret(given, secret string) bool {
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
