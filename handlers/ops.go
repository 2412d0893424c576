package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

// Ops are for whoever runs the service. What they yield may be without end.
type Ops interface {
	ListOrphans(ctx context.Context) iter.Seq2[actions.Orphan, error]
	DeleteOrphans(ctx context.Context) iter.Seq2[actions.Orphan, error]
	ListBrokenMetadata(ctx context.Context) iter.Seq2[actions.FileSummary, error]
	DeleteBrokenMetadata(ctx context.Context) iter.Seq2[actions.FileSummary, error]
	ListNotUploaded(ctx context.Context) iter.Seq2[actions.FileSummary, error]
}

// ops are the routes below /ops.
func (s *server) ops(r chi.Router) {
	r.Use(s.adminOnly)
	r.Post("/list-orphans", orphans(s.Files.ListOrphans))
	r.Post("/delete-orphans", orphans(s.Files.DeleteOrphans))
	r.Post("/list-broken-metadata", summaries(s.Files.ListBrokenMetadata))
	r.Post("/delete-broken-metadata", summaries(s.Files.DeleteBrokenMetadata))
	r.Post("/list-not-uploaded", summaries(s.Files.ListNotUploaded))
}

// adminOnly lets only the admin secret through; without one nobody.
func (s *server) adminOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.AdminSecret == "" || !sameSecret(r.Header.Get("X-Hasura-Admin-Secret"), s.AdminSecret) {
			renderREST(w, r, actions.Errorf(actions.NotAllowed, "you are not authorized"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxForeign is how many foreign keys are told: they come last, and are held until then.
const maxForeign = 1000

// orphans answers {"files": [keys], "foreign": [keys]}.
func orphans(walk func(context.Context) iter.Seq2[actions.Orphan, error]) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		foreign := []string{}
		ours := func(yield func(string, error) bool) {
			for o, err := range walk(r.Context()) {
				if err == nil && o.Foreign {
					if len(foreign) < maxForeign {
						foreign = append(foreign, o.Key)
					}
					continue
				}
				if !yield(o.Key, err) {
					return
				}
			}
		}
		stream(w, r, "files", ours, func() []byte { return appendJSON([]byte(`,"foreign":`), foreign) })
	}
}

// summaries answers {"metadata": [rows]}.
func summaries(walk func(context.Context) iter.Seq2[actions.FileSummary, error]) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(w, r, "metadata", walk(r.Context()), func() []byte { return nil })
	}
}

// stream answers with an object of one list, written as it comes, and what rest
// adds to the object. An error after the first element cuts the answer off, so
// that nobody takes a part for the whole.
func stream[T any](w http.ResponseWriter, r *http.Request, name string, list iter.Seq2[T, error], rest func() []byte) {
	next, stop := iter.Pull2(list)
	defer stop()
	v, err, more := next()
	if more && err != nil {
		renderREST(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`{"` + name + `":[`))
	for separator := ""; more; v, err, more = next() {
		if err != nil {
			_ = note(r, err)
			panic(http.ErrAbortHandler)
		}
		if _, gone := w.Write(appendJSON([]byte(separator), v)); gone != nil {
			return
		}
		separator = ","
	}
	_, _ = w.Write(append(append([]byte("]"), rest()...), '}', '\n'))
}

func appendJSON(to []byte, v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil { // strings and booleans always can be
		return append(to, "null"...)
	}
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
