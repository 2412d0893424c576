package service

import (
	"context"
	"time"

	"go.uber.org/zap"
)

const (
	readyPause = 3 * time.Second
	readyTime  = 10 * time.Second // for one try
)

// untilReady asks whether Hasura and the store answer, until they do or ctx
// ends, and logs each new reason why not. The service serves meanwhile: both may
// come later than it.
func untilReady(ctx context.Context, ask func(context.Context) error, pause time.Duration, log *zap.Logger) {
	said := ""
	for {
		err := try(ctx, ask)
		if err == nil {
			log.Info("ready: Hasura and the store answer")
			return
		}
		if reason := err.Error(); reason != said && ctx.Err() == nil {
			said = reason
			log.Warn("not ready yet", zap.String("error", reason))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func try(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	return ask(ctx)
}
