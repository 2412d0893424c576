package service

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

const (
	sweepCheck    = time.Minute
	sweepPatience = 5 * time.Minute  // without a call by Hasura's cron trigger
	sweepTime     = 55 * time.Second // as the cron trigger allows
)

// swept is the service with a memory of when it was last swept, by whomever.
type swept struct {
	handlers.Service
	last     atomic.Int64 // Unix nanoseconds
	check    time.Duration
	patience time.Duration
}

func newSwept(s handlers.Service, now time.Time) *swept {
	w := &swept{Service: s, check: sweepCheck, patience: sweepPatience}
	w.last.Store(now.UnixNano())
	return w
}

// Sweep passes a call on and remembers it.
func (s *swept) Sweep(ctx context.Context) (actions.Swept, error) {
	s.last.Store(time.Now().UnixNano())
	return s.Service.Sweep(ctx)
}

// lastSweep is when a sweep was last begun here, or the start.
func (s *swept) lastSweep() time.Time { return time.Unix(0, s.last.Load()) }

// every replaces the times that newSwept sets.
func (s *swept) every(check, patience time.Duration) *swept {
	s.check, s.patience = check, patience
	return s
}

// watch looks again and again, until ctx ends, whether a sweep is due: a lost
// cron trigger must not leave bytes behind.
func (s *swept) watch(ctx context.Context, log *zap.Logger) {
	ticker := time.NewTicker(s.check)
	defer ticker.Stop()
	s.follow(ctx, ticker.C, log)
}

// follow sweeps at those ticks that find the last sweep too long ago.
func (s *swept) follow(ctx context.Context, ticks <-chan time.Time, log *zap.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks:
			if now.UnixNano()-s.last.Load() >= int64(s.patience) {
				s.sweepNow(ctx, log)
			}
		}
	}
}

func (s *swept) sweepNow(ctx context.Context, log *zap.Logger) {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	done, err := s.Sweep(ctx)
	if err != nil {
		log.Error("sweep failed", zap.Error(err))
		return
	}
	log.Info("swept, since no cron trigger called", zap.Any("counts", done))
}
