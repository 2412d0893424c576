package actions

import (
	"context"
	"sync"
	"time"
)

// background runs work that must outlive the request that asked for it, because
// bytes or rows would be left behind. Each piece has its own limit of time.
type background struct {
	ctx  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	closing bool
	running sync.WaitGroup
}

func newBackground() *background {
	ctx, stop := context.WithCancel(context.Background())
	return &background{ctx: ctx, stop: stop}
}

// run starts work in a goroutine, or reports false if the service is stopping.
// The work's context has from's values, so that traces see where it belongs, and
// ends without it.
func (b *background) run(from context.Context, limit time.Duration, work func(context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		return false
	}
	b.running.Add(1)
	go func() {
		defer b.running.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(from), limit)
		defer cancel()
		defer context.AfterFunc(b.ctx, cancel)()
		work(ctx)
	}()
	return true
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
