// Package telemetry tells from outside what the service does: metrics for
// Prometheus and traces for OpenTelemetry, at each boundary, which are requests,
// Hasura, the store, and work on pictures. Start at New, whose Hooks the parts call.
package telemetry

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"hasura-storage/handlers"
)

// Telemetry is what watches. A nil one watches nothing.
type Telemetry struct {
	metrics *metrics
	traces  *traces
}

// Options say what is wanted.
type Options struct {
	Version string // of the service
	Metrics bool
	Traces  string // URL of an OTLP receiver by HTTP, without /v1/traces; "" is none
	Log     *zap.Logger
}

// New makes a Telemetry, or nil if nothing is wanted; Close it at the end. It
// talks to nobody.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	if !o.Metrics && o.Traces == "" {
		return nil, nil //nolint:nilnil // a nil one watches nothing
	}
	t := &Telemetry{}
	if o.Metrics {
		t.metrics = newMetrics(o.Version)
	}
	if o.Traces == "" {
		return t, nil
	}
	var err error
	t.traces, err = newTraces(ctx, o.Traces, o.Version, o.Log)
	return t, err
}

// Close sends the traces that are left.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.traces.close(ctx)
}

// Hooks are for the options of the same names of the parts: handlers.Options.Watch,
// graphql.Options.Watch, s3.Options.Watch and actions.Options.WatchTransform.
type Hooks struct {
	Request   func(r *http.Request) (context.Context, func(handlers.Answered))
	Hasura    func(ctx context.Context, operation string, header http.Header) func(error)
	Store     func(api string, r *http.Request) func(*http.Response, error)
	Transform func(ctx context.Context) func(error)
}

// Hooks are all set, or none of a nil Telemetry.
func (t *Telemetry) Hooks() Hooks {
	if t == nil {
		return Hooks{}
	}
	return Hooks{Request: t.request, Hasura: t.hasura, Store: t.store, Transform: t.transform}
}

func (t *Telemetry) request(r *http.Request) (context.Context, func(handlers.Answered)) {
	t.metrics.begun()
	ctx, span := t.traces.request(r)
	return ctx, func(a handlers.Answered) {
		t.metrics.answered(a)
		span.answered(a)
	}
}

func (t *Telemetry) hasura(ctx context.Context, operation string, header http.Header) func(error) {
	began := time.Now()
	span := t.traces.call(ctx, operation, header, attribute.String("graphql.operation.name", operation))
	return func(err error) {
		outcome := asked(err)
		t.metrics.asked(operation, outcome, time.Since(began))
		span.ended(outcome)
	}
}

func (t *Telemetry) store(api string, r *http.Request) func(*http.Response, error) {
	began, sent := time.Now(), r.ContentLength
	span := t.traces.call(r.Context(), api, r.Header, attribute.String("rpc.service", "S3"), attribute.String("rpc.method", api))
	return func(answer *http.Response, err error) {
		outcome := called(answer, err)
		t.metrics.called(api, outcome, time.Since(began))
		if outcome == okay {
			t.metrics.moved(api, sent, answer)
		}
		span.ended(outcome)
	}
}

func (t *Telemetry) transform(ctx context.Context) func(error) {
	began := time.Now()
	span := t.traces.work(ctx, "image transform")
	return func(err error) {
		outcome := worked(err)
		t.metrics.transformed(outcome, time.Since(began))
		span.ended(outcome)
	}
}
