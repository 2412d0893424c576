package localhasura

import (
	"net/http"
	"strings"

	"hasura-storage/graphql/localhasura/api"
	"hasura-storage/graphql/localhasura/qerr"
)

// routes are Hasura's endpoints, as far as they exist here.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/graphql", s.graphQL(false))
	mux.HandleFunc("GET /v1/graphql", persistedQuery)
	mux.HandleFunc("POST /v1alpha1/graphql", s.graphQL(true))
	mux.Handle("/", api.New(backend{s}, s.auth, s.db, s.triggers))
	return s.cors(mux)
}

func persistedQuery(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(qerr.New(qerr.NotSupported, "PersistedQueryNotSupported").GraphQL(false))
}

// cors lets browsers of every origin in, as Hasura does by default.
func (s *Server) cors(next http.Handler) http.Handler {
	if s.config.Env("HASURA_GRAPHQL_DISABLE_CORS") == "true" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Access-Control-Allow-Methods", "GET,POST,PUT,PATCH,DELETE,OPTIONS")
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Max-Age", "1728000")
		h.Set("Access-Control-Allow-Headers", strings.Join(r.Header.Values("Access-Control-Request-Headers"), ","))
		w.WriteHeader(http.StatusNoContent)
	})
}
