package handlers

import (
	"net/http"

	"hasura-storage/actions"
)

// ownPages refuses what changes something with a browser's cookies on behalf of
// a page that is not trusted: the browser sends them along whoever wrote the page.
// Other credentials are put into a request by the page that knows them.
func (s *server) ownPages(next http.Handler) http.Handler {
	if !s.Cookies {
		return next
	}
	pages := http.NewCrossOriginProtection()
	for _, origin := range s.CORS.Origins {
		if origin != "*" {
			_ = pages.AddTrustedOrigin(origin) // checked with the settings
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" && pages.Check(r) != nil {
			renderREST(w, r, actions.Errorf(actions.NotAllowed, "a page of another origin may not do this with cookies"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
