package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"hasura-storage/actions"
)

// fromHasura lets only those through who know the shared secret: anybody else
// could invent sessions. It looks at nothing of the body. The sums have one
// length, so the comparison tells neither where a guess goes wrong nor how long
// the secret is.
func fromHasura(secret string, render renderer) func(http.Handler) http.Handler {
	want := sha256.Sum256([]byte(secret))
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if secret == "" {
				renderUnavailable(w, r, actions.Errorf(actions.Unauthenticated, "HASURA_STORAGE_SECRET is not configured"))
				return
			}
			got := sha256.Sum256([]byte(r.Header.Get("X-Hasura-Storage-Secret")))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				render(w, r, actions.Errorf(actions.Unauthenticated, "the header x-hasura-storage-secret is missing or wrong"))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
