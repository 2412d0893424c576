package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"hasura-storage/handlers"
)

// traces are what OpenTelemetry is told. A nil one tells nothing. As in metrics,
// no id, name, role or address is told.
type traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	w3c      propagation.TraceContext
}

// newTraces sends to endpoint by OTLP over HTTP, a batch at a time; it talks to
// nobody before there is something to tell. What else OpenTelemetry's variables
// say, of sampling, headers or certificates, its own library reads.
func newTraces(ctx context.Context, endpoint, version string, log *zap.Logger) (*traces, error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "hasura-storage"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are lost", zap.Error(err)) }))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &traces{provider: provider, tracer: provider.Tracer("hasura-storage", trace.WithInstrumentationVersion(version))}, nil
}

// close sends what is left.
func (t *traces) close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// span is one that has begun; the zero span is none.
type span struct{ trace.Span }

// request begins the span of a request, below that of its sender if there is
// one. Probes have none.
func (t *traces) request(r *http.Request) (context.Context, span) {
	ctx := r.Context()
	if t == nil || strings.HasSuffix(r.URL.Path, "/healthz") || strings.HasSuffix(r.URL.Path, "/readyz") {
		return ctx, span{}
	}
	ctx, s := t.tracer.Start(t.w3c.Extract(ctx, propagation.HeaderCarrier(r.Header)), "HTTP", trace.WithSpanKind(trace.SpanKindServer))
	return ctx, span{s}
}

func (s span) answered(a handlers.Answered) {
	if s.Span == nil {
		return
	}
	s.SetName(strings.TrimSpace(a.Method + " " + a.Route))
	s.SetAttributes(attribute.String("http.request.method", a.Method), attribute.String("http.route", a.Route),
		attribute.Int("http.response.status_code", a.Status), attribute.Int64("http.response.body.size", a.Bytes))
	if a.Failed {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// call begins the span of something that is asked of somebody else, who is told
// by header. Only what belongs to a request has one.
func (t *traces) call(ctx context.Context, name string, header http.Header, about ...attribute.KeyValue) span {
	if t == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return span{}
	}
	ctx, s := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(about...))
	t.w3c.Inject(ctx, propagation.HeaderCarrier(header))
	return span{s}
}

// work begins the span of work of our own.
func (t *traces) work(ctx context.Context, name string) span {
	if t == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return span{}
	}
	_, s := t.tracer.Start(ctx, name)
	return span{s}
}

// ended tells the outcome, in our own words: an error's text may quote a caller.
func (s span) ended(outcome string) {
	if s.Span == nil {
		return
	}
	s.SetAttributes(attribute.String("outcome", outcome))
	if outcome == unavailable || outcome == failed {
		s.SetStatus(codes.Error, outcome)
	}
	s.End()
}
