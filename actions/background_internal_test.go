package actions

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// TestDetachedWorkLetsGoOfItsRequest: a request's context holds its body and its
// answer, and the work may last for hours.
func TestDetachedWorkLetsGoOfItsRequest(t *testing.T) {
	type request struct{}
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	ctx, leave := context.WithCancel(trace.ContextWithSpanContext(context.WithValue(t.Context(), request{}, "held"), span))
	leave()
	ended := make(chan error, 1)
	newBackground(zap.NewNop()).run(ctx, time.Minute, func(ctx context.Context) error {
		if held := ctx.Value(request{}); held != nil {
			t.Errorf("it holds %v", held)
		}
		if got := trace.SpanContextFromContext(ctx); !got.Equal(span) {
			t.Errorf("its span is %v", got)
		}
		return ctx.Err()
	}, func(err error) { ended <- err })
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestACompletionThatPanicsEnds, with an error for those who wait, and does not
// keep the next from trying.
func TestACompletionThatPanicsEnds(t *testing.T) {
	core, logs := observer.New(zapcore.ErrorLevel)
	c := newCompletions(newBackground(zap.New(core)))
	begin := make(chan struct{})
	first, err := c.join(t.Context(), "a", func(context.Context) error {
		<-begin
		panic("out of bounds")
	})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := c.join(t.Context(), "a", func(context.Context) error { return nil })
	if err != nil || joined != first {
		t.Fatalf("joined another: %v", err)
	}
	close(begin)
	select {
	case <-joined.done:
	case <-time.After(10 * time.Second):
		t.Fatal("whoever waits is not released")
	}
	if joined.err == nil || Public(joined.err).Code != Internal {
		t.Errorf("it ended with %v", joined.err)
	}
	if told := logs.TakeAll(); len(told) != 1 || told[0].ContextMap()["error"] != "panic: out of bounds" || told[0].ContextMap()["stack"] == nil {
		t.Errorf("logged: %v", told)
	}
	next, err := c.join(t.Context(), "a", func(context.Context) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if <-next.done; next == first || next.err != nil {
		t.Errorf("the next ended with %v", next.err)
	}
}
