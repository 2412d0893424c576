package localhasura

import (
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql/localhasura/api"
	"hasura-storage/graphql/localhasura/qerr"
)

// routes are Hasura's endpoints, as far as they exist here.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	enabled := apis(s.config.Env)
	if enabled["graphql"] {
		mux.HandleFunc("POST /v1/graphql", s.graphQL(false))
		mux.HandleFunc("GET /v1/graphql", getGraphQL)
		mux.HandleFunc("POST /v1alpha1/graphql", s.graphQL(true))
		mux.HandleFunc("POST /v1beta1/relay", refuse("the Relay schema"))
		mux.HandleFunc("/api/rest/", refuse("RESTified endpoints"))
	}
	if enabled["pgdump"] {
		mux.HandleFunc("POST /v1alpha1/pg_dump", refuse("pg_dump"))
	}
	admin := api.New(backend{s}, s.auth, s.db, s.triggers)
	if enabled["metadata"] {
		mux.Handle("POST /v1/metadata", admin)
		mux.Handle("POST /v1/query", admin)
		mux.Handle("POST /v2/query", admin)
	}
	mux.Handle("GET /v1/version", admin)
	mux.Handle("GET /healthz", admin)
	mux.Handle("GET /hasura/healthz", admin)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { api.NotFound(w) })
	return s.logged(s.cors(mux))
}

// getGraphQL refuses what comes by GET: persisted queries, as Hasura does, and
// websockets, which Hasura has.
func getGraphQL(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		refuse("websockets and subscriptions")(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(qerr.New(qerr.NotSupported, "PersistedQueryNotSupported").GraphQL(false))
}

// refuse answers that a feature of Hasura's is not there.
func refuse(feature string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusNotImplemented)
		_, _ = w.Write(qerr.Unsupported(feature).Plain(false))
	}
}

// logged writes one line per request and outlives a fault in our own code.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, out := time.Now(), &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			fields := []zap.Field{zap.String("method", r.Method), zap.String("path", r.URL.Path), zap.Int("status", out.status), zap.Duration("took", time.Since(began))}
			if fault := recover(); fault != nil {
				s.config.Log.Error("local Hasura: request failed", append(fields, zap.Any("fault", fault), zap.Stack("stack"))...)
				out.Header().Set("Content-Type", "application/json; charset=utf-8")
				out.WriteHeader(http.StatusInternalServerError)
				_, _ = out.Write(qerr.New(qerr.Unexpected, "internal error").GraphQL(false))
				return
			}
			s.config.Log.Debug("local Hasura: request", fields...)
		}()
		next.ServeHTTP(out, r)
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
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
