// Package handlers speaks HTTP: it turns requests into calls of use cases and
// their results into answers. It knows no permission, no query and no store.
//
// Start at New, whose routes are the table of contents. An error has one
// of three forms, which stand side by side in render.go: an action's, a
// trigger's and the REST interface's.
package handlers

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"hasura-storage/actions"
)

// Service is what the handlers need of the use cases. *actions.Storage is the
// one that ships.
type Service interface {
	Actions
	Triggers

	// SignedContent opens what a signed link names. path is what follows
	// /signed/ exactly as the client sent it, escapes included; accept is the
	// Accept header.
	SignedContent(ctx context.Context, id, path string, query url.Values, accept string) (actions.Content, error)

	// Ready fails with the part that does not answer.
	Ready(ctx context.Context) error
}

// Actions are what a session asks for through Hasura. Every error of theirs may
// be shown to it as actions.Public makes it.
type Actions interface {
	CreateUpload(ctx context.Context, as actions.Session, in actions.CreateUpload) (actions.Upload, error)
	CreateUploads(ctx context.Context, as actions.Session, in actions.CreateUploads) ([]actions.Upload, error)
	ReplaceFile(ctx context.Context, as actions.Session, in actions.ReplaceFile) (actions.Upload, error)
	CompleteUpload(ctx context.Context, as actions.Session, in actions.CompleteUpload) (actions.File, error)
	AbortUpload(ctx context.Context, as actions.Session, in actions.AbortUpload) (actions.Aborted, error)
	UploadParts(ctx context.Context, as actions.Session, in actions.ListParts) (actions.Parts, error)
	CopyFile(ctx context.Context, as actions.Session, in actions.CopyFile) (actions.File, error)
	DeleteFiles(ctx context.Context, as actions.Session, in actions.DeleteFiles) (actions.Deleted, error)
	Download(ctx context.Context, as actions.Session, in actions.GetDownload) (actions.Download, error)
	Downloads(ctx context.Context, as actions.Session, in actions.GetDownloads) ([]actions.Download, error)
}

// Triggers are what Hasura starts by itself. Each may be called twice, late and
// in any order.
type Triggers interface {
	// FileGone removes what a deleted or replaced row left in the store.
	FileGone(ctx context.Context, event actions.FileEvent) error
	// Sweep finishes or removes what clients and crashes left behind.
	Sweep(ctx context.Context) (actions.Swept, error)
	// Reconcile starts to compare the store with the rows.
	Reconcile(ctx context.Context) (actions.Reconciling, error)
}

// Options are what New needs beside the use cases.
type Options struct {
	Log *zap.Logger

	// Secret is what Hasura sends as x-hasura-storage-secret. Without one the
	// routes that are meant for Hasura answer 503.
	Secret string
	// Prefix begins the paths of the REST interface, such as "/v1"; "" is the root.
	Prefix string
	// Version is what /version answers.
	Version string
	CORS    CORS
	// AdminSecret is Hasura's; whoever sends it may use the routes below /ops.
	AdminSecret string
	// Cookies says that Hasura is sent them, so that they may be somebody's credentials.
	Cookies bool
	// Notifications are the store's, of what clients have written.
	Notifications Notifications
	// Receiver takes bytes where clients cannot reach the store; nil where they can.
	Receiver Receiver
	// Files are the REST interface's use cases; without them there are only signed links.
	Files Files
	// Stall is how long a client or the store may stand still in the middle of a
	// body before it is given up; 0 is 30 seconds.
	Stall time.Duration
	// Watch, if set, is told of each request as it begins. The context that it
	// returns takes the place of the request's; what it returns beside is called
	// at the end.
	Watch func(r *http.Request) (ctx context.Context, ended func(Answered))
}

// Answered is what became of a request. Nothing in it is a stranger's word.
type Answered struct {
	Method string        // "other" where HTTP's own are meant to end
	Route  string        // as a pattern, such as /v1/files/{id}; "" where there is none
	Status int           // 0 if there was no answer
	Bytes  int64         // of the answer's body, as far as it was sent
	Took   time.Duration // the body included
	Failed bool          // by a fault of ours, Hasura's or the store's
}

// server holds what the handlers share.
type server struct {
	Options
	service Service
}

// New returns the whole HTTP surface.
func New(service Service, o Options) http.Handler {
	if o.Stall <= 0 {
		o.Stall = defaultStall
	}
	s := &server{Options: o, service: service}
	r := chi.NewRouter()
	r.Use(survive(renderREST))
	r.NotFound(noRoute)
	r.MethodNotAllowed(noMethod)

	r.Route("/actions", s.actions)
	r.Route("/events", s.events)
	r.Route("/cron", s.cron)
	s.notifications(r)
	s.probes(r)
	r.Route(s.Prefix+"/", s.rest)
	return surface{r, s}
}

// rest are the routes for browsers and apps.
func (s *server) rest(r chi.Router) {
	r.Use(s.CORS.allow)
	if s.Prefix != "" {
		s.probes(r)
	}
	get(r, "/files/{id}/signed/*", s.signed)
	s.receiver(r)
	if s.Files != nil {
		s.files(r.With(s.ownPages))
	}
}

// probes are for whoever watches over the service.
func (s *server) probes(r chi.Router) {
	ready := readiness{ask: s.service.Ready}
	get(r, "/healthz", healthz)
	get(r, "/readyz", ready.serve)
	get(r, "/version", s.version)
}

// get routes GET and HEAD; of the latter net/http sends no body.
func get(r chi.Router, pattern string, h http.HandlerFunc) {
	r.Get(pattern, h)
	r.Head(pattern, h)
}
