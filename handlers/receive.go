package handlers

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
)

// Receiver takes the bytes of uploads where clients cannot reach the store.
type Receiver interface {
	// ReceiveBytes returns the ETag, with its quotes, of what was stored.
	ReceiveBytes(ctx context.Context, in actions.SentBytes) (etag string, err error)
}

// receiver are the addresses that tickets name instead of the store's. Whoever
// has the ticket may send, as with a presigned URL.
func (s *server) receiver(r chi.Router) {
	if s.Receiver != nil {
		r.Put("/uploads/{uploadId}", s.receive)
		r.Put("/uploads/{uploadId}/{part}", s.receive)
	}
}

// receive answers as the store would: 200, no body, and the ETag.
func (s *server) receive(w http.ResponseWriter, r *http.Request) {
	part := 0
	if text := chi.URLParam(r, "part"); text != "" {
		var err error
		if part, err = strconv.Atoi(text); err != nil || part < 1 {
			renderREST(w, r, actions.Errorf(actions.BadRequest, "the part's number must be a whole number from 1"))
			return
		}
	}
	body := &incoming{Reader: r.Body, allowance: unbounded, deadline: http.NewResponseController(w), stall: s.Stall}
	defer body.done()
	etag, err := s.Receiver.ReceiveBytes(r.Context(), actions.SentBytes{
		UploadID: chi.URLParam(r, "uploadId"), Part: part, Length: r.ContentLength, Body: body,
	})
	if err != nil {
		if body.failure != nil {
			err = body.unfinished()
		}
		renderREST(w, r, err)
		return
	}
	w.Header().Set("ETag", etag)
	w.WriteHeader(http.StatusOK)
}
