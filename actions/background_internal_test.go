package actions

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

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
