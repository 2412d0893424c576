// Package telemetry tells from outside what the service does: metrics for
// Prometheus at each boundary, which are requests, Hasura, the store, and work on
// pictures. Start at New, whose Hooks the parts call.
package telemetry

import (
	"context"
	"net/http"
	"time"

	"hasura-storage/handlers"
)

// Telemetry is what watches. A nil one watches nothing.
type Telemetry struct{ metrics *metrics }

// Hooks are for the options of the same names of the parts: handlers.Options.Watch,
// graphql.Options.Watch, s3.Options.Watch and actions.Options.WatchTransform.
type Hooks struct {
	Request   func(r *http.Request) (context.Context, func(handlers.Answered))
	Hasura    func(ctx context.Context, operation string, header http.Header) func(error)
	Store     func(api string, r *http.Request) func(*http.Response, error)
	Transform func(ctx context.Context) func(error)
}

// New makes a Telemetry for a service of a version.
func New(version string) *Telemetry { return &Telemetry{metrics: newMetrics(version)} }

// Hooks are all set, or none of a nil Telemetry.
func (t *Telemetry) Hooks() Hooks {
	if t == nil {
		return Hooks{}
	}
	return Hooks{Request: t.request, Hasura: t.hasura, Store: t.store, Transform: t.transform}
}

func (t *Telemetry) request(r *http.Request) (context.Context, func(handlers.Answered)) {
	t.metrics.inFlight.Inc()
	return r.Context(), func(a handlers.Answered) {
		t.metrics.inFlight.Dec()
		t.metrics.answered(a)
	}
}

func (t *Telemetry) hasura(_ context.Context, operation string, _ http.Header) func(error) {
	began := time.Now()
	return func(err error) { t.metrics.asked(operation, err, time.Since(began)) }
}

func (t *Telemetry) store(api string, r *http.Request) func(*http.Response, error) {
	began, sent := time.Now(), r.ContentLength
	return func(answer *http.Response, err error) { t.metrics.called(api, sent, answer, err, time.Since(began)) }
}

func (t *Telemetry) transform(context.Context) func(error) {
	began := time.Now()
	return func(err error) { t.metrics.transformed(err, time.Since(began)) }
}
