package s3

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	readyTimeout = 3 * time.Second
	// maxSkew is well below the fifteen minutes at which AWS refuses every
	// request, and still far from any clock that is kept.
	maxSkew = 5 * time.Minute
)

// Ready asks the store for the bucket, within three seconds. It fails if the
// store does not answer, denies us the bucket or has none of that name, and if
// the clocks differ by more than five minutes, since URLs signed then are
// refused as expired or not yet valid.
func (s *Store) Ready(ctx context.Context) error {
	clock, err := s.probe(ctx)
	if clock.known && clock.by.Abs() > maxSkew {
		return fmt.Errorf("s3: %w: our clock and the store's differ by %s, at most %s is allowed",
			ErrUnavailable, clock.by.Abs().Round(time.Second), maxSkew)
	}
	return err
}

// Skew is the store's clock minus ours, to about a second. It is known even
// when the store refuses the request.
func (s *Store) Skew(ctx context.Context) (time.Duration, error) {
	clock, err := s.probe(ctx)
	if clock.known {
		return clock.by, nil
	}
	if err == nil {
		err = fmt.Errorf("s3: %w: the store's answers carry no date", ErrInvalid)
	}
	return 0, err
}

// probe is one real request. The library's own health check asks for the
// bucket's location, which it already knows, and so reports a dead endpoint as
// alive.
func (s *Store) probe(ctx context.Context) (*skew, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ctx, clock := withSkew(ctx)
	exists, err := s.core.BucketExists(ctx, s.bucket)
	if err == nil && !exists {
		err = fmt.Errorf("s3: bucket %q: %w", s.bucket, ErrNotFound)
		return clock, err
	}
	return clock, translate("bucket", s.bucket, ignoreCancel(err))
}

// ignoreCancel keeps our own short deadline from looking like the caller's.
func ignoreCancel(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", readyTimeout)
	}
	return err
}
