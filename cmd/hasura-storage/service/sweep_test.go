package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// counter counts sweeps; nothing else is asked of it.
type counter struct {
	handlers.Service
	sweeps chan struct{}
	err    error
}

func (c counter) Sweep(context.Context) (actions.Swept, error) {
	c.sweeps <- struct{}{}
	return actions.Swept{}, c.err
}

func TestTheTimerSweepsWhenNobodyElseDoes(t *testing.T) {
	begin := time.Now()
	for name, tc := range map[string]struct {
		after time.Duration // the tick, since the last sweep
		err   error
		want  int
	}{
		"cron has just called":     {time.Minute, nil, 0},
		"cron is a little late":    {4*time.Minute + 59*time.Second, nil, 0},
		"cron does not call":       {5 * time.Minute, nil, 1},
		"a sweep that fails, once": {5 * time.Minute, errors.New("away"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := counter{sweeps: make(chan struct{}, 9), err: tc.err}
			s := newSwept(c, begin)
			ctx, cancel := context.WithCancel(t.Context())
			ticks, ended := make(chan time.Time), make(chan struct{})
			go func() {
				defer close(ended)
				s.follow(ctx, ticks, zap.NewNop())
			}()
			ticks <- begin.Add(tc.after)
			ticks <- begin // taken only after the sweep; too early for another
			cancel()
			<-ended
			if got := len(c.sweeps); got != tc.want {
				t.Errorf("swept %d times, want %d", got, tc.want)
			}
		})
	}
}

func TestCronResetsTheTimer(t *testing.T) {
	c := counter{sweeps: make(chan struct{}, 9)}
	s := newSwept(c, time.Now().Add(-time.Hour))
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if idle := time.Since(time.Unix(0, s.last.Load())); idle > time.Minute {
		t.Errorf("the last sweep was %s ago", idle)
	}
}
