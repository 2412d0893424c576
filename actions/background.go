package actions

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
)

// background runs work that must outlive the request that asked for it, because
// bytes or rows would be left behind. Each piece has its own limit of time.
type background struct {
	log  *zap.Logger
	ctx  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	closing bool
	running sync.WaitGroup
}

func newBackground(log *zap.Logger) *background {
	ctx, stop := context.WithCancel(context.Background())
	return &background{log: log, ctx: ctx, stop: stop}
}

// run starts work in a goroutine, and calls ended with what came of it; or it
// reports false if the service is stopping. The work's context ends
// without from, and has nothing of it but the span, so that traces see where it
// belongs: the request, its body and its answer are let go of. A panic is logged,
// and the work's error.
func (b *background) run(from context.Context, limit time.Duration, work func(context.Context) error, ended func(error)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		return false
	}
	span := trace.SpanContextFromContext(from)
	b.running.Go(func() {
		ctx, cancel := context.WithTimeout(trace.ContextWithSpanContext(b.ctx, span), limit)
		defer cancel()
		ended(b.guarded(ctx, work))
	})
	return true
}

// guarded lets no panic of work end the process.
func (b *background) guarded(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			b.log.Error("detached work broke off", zap.Error(err), zap.ByteString("stack", debug.Stack()))
		}
	}()
	return work(ctx)
}

// close lets running work end until ctx is done, then cancels it.
func (b *background) close(ctx context.Context) error {
	b.mu.Lock()
	b.closing = true
	b.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		b.running.Wait()
		close(ended)
	}()
	defer b.stop()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	b.stop()
	<-ended
	return ctx.Err()
}
