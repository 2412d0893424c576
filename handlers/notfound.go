package handlers

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

func noRoute(w http.ResponseWriter, r *http.Request) {
	fail(w, r, http.StatusNotFound, actions.Errorf(actions.BadRequest, "there is nothing at this address"))
}

// noMethod names the methods that there are, as a 405 has to.
func noMethod(w http.ResponseWriter, r *http.Request) {
	routes := chi.RouteContext(r.Context()).Routes
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if routes.Match(chi.NewRouteContext(), m, r.URL.Path) {
			allowed = append(allowed, m)
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	fail(w, r, http.StatusMethodNotAllowed, actions.Errorf(actions.BadRequest, "this address takes %s", strings.Join(allowed, ", ")))
}
