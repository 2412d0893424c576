package images

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Pool bounds the memory that transforms use together, in bytes, and how many wait for it.
type Pool struct {
	budget  int64
	room    *semaphore.Weighted
	queue   int64
	waiting atomic.Int64
	used    atomic.Int64
}

// NewPool makes a Pool of budget bytes for which at most queue transforms wait.
func NewPool(budget int64, queue int) *Pool {
	return &Pool{budget: budget, room: semaphore.NewWeighted(budget), queue: int64(queue)}
}

// Do runs work once cost bytes are free. It fails with ErrBusy if too many wait already, with ErrTooLarge if the budget
// can never hold the cost, and with the context's error if its turn does not come in time: a caller who leaves frees his place.
func (p *Pool) Do(ctx context.Context, cost int64, work func() error) error {
	if cost > p.budget {
		return fmt.Errorf("%w: it would need %d bytes of memory, %d are set aside", ErrTooLarge, cost, p.budget)
	}
	if !p.room.TryAcquire(cost) {
		if p.waiting.Add(1) > p.queue {
			p.waiting.Add(-1)
			return ErrBusy
		}
		err := p.room.Acquire(ctx, cost)
		p.waiting.Add(-1)
		if err != nil {
			return err
		}
	}
	p.used.Add(cost)
	defer func() {
		p.used.Add(-cost)
		p.room.Release(cost)
	}()
	return work()
}

// Load is what is going on now: the bytes that are in use, and how many wait.
func (p *Pool) Load() (used, waiting int64) { return p.used.Load(), p.waiting.Load() }
