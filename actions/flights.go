package actions

import (
	"context"
	"sync"
	"time"
)

// flights let everybody who wants the same picture wait for one piece of work.
// The work is cancelled once nobody waits for it any more.
type flights struct {
	background *background
	limit      time.Duration

	mu  sync.Mutex
	all map[string]*flight
}

type flight struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{} // closed at the end
	picture *picture
	err     error
}

func newFlights(b *background, limit time.Duration) *flights {
	return &flights{background: b, limit: limit, all: map[string]*flight{}}
}

// do returns what work makes for key, joining the flight that is under way.
func (f *flights) do(ctx context.Context, key string, work func(context.Context) (*picture, error)) (*picture, error) {
	one, err := f.board(ctx, key, work)
	if err != nil {
		return nil, err
	}
	select {
	case <-one.done:
		return one.picture, one.err
	case <-ctx.Done():
		f.leave(key, one)
		return nil, ctx.Err()
	}
}

func (f *flights) board(ctx context.Context, key string, work func(context.Context) (*picture, error)) (*flight, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.all[key]; one != nil {
		one.waiting++
		return one, nil
	}
	abandoned, cancel := context.WithCancel(context.Background())
	one := &flight{waiting: 1, cancel: cancel, done: make(chan struct{})}
	started := f.background.run(ctx, f.limit, func(ctx context.Context) (err error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(abandoned, stop)()
		one.picture, err = work(ctx)
		return err
	}, func(err error) {
		one.err = err
		f.land(key, one)
	})
	if !started {
		return nil, Errorf(Busy, "the service is stopping, try again")
	}
	f.all[key] = one
	return one, nil
}

func (f *flights) land(key string, one *flight) {
	f.mu.Lock()
	if f.all[key] == one {
		delete(f.all, key)
	}
	f.mu.Unlock()
	close(one.done)
}

// leave takes one waiter off; the last one ends the work, and whoever comes
// later starts anew.
func (f *flights) leave(key string, one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.waiting--
	if one.waiting == 0 && f.all[key] == one {
		delete(f.all, key)
		one.cancel()
	}
}
