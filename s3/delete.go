package s3

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"
)

const (
	deleteBatch     = 1000 // S3's limit of one multi-delete
	deletesAtATime  = 8
	multiDeleteFrom = 2 // one key is cheaper by itself
)

// Delete removes objects; one that is absent counts as removed. It goes on
// after a failure, removes what it can, and then tells how many keys failed
// and the first reason. On a versioned bucket it leaves delete markers.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	var failed failures
	for batch := range slices.Chunk(keys, deleteBatch) {
		if err := ctx.Err(); err != nil {
			return translate("delete", batch[0], err)
		}
		s.deleteBatch(ctx, batch, &failed)
	}
	return failed.err(len(keys))
}

func (s *Store) deleteBatch(ctx context.Context, keys []string, failed *failures) {
	if len(keys) < multiDeleteFrom || s.singleDeletes.Load() {
		s.deleteSingly(ctx, keys, failed)
		return
	}
	var missing bool
	for result := range s.multiDelete(ctx, keys) {
		switch {
		case result.Err == nil:
		case notImplemented(result.Err):
			missing = true
		default:
			failed.add(result.ObjectName, result.Err)
		}
	}
	if missing {
		s.singleDeletes.Store(true)
		s.deleteSingly(ctx, keys, failed)
	}
}

// multiDelete sends one request; the library adds the Content-MD5 that stores
// demand there.
func (s *Store) multiDelete(ctx context.Context, keys []string) func(func(minio.RemoveObjectResult) bool) {
	objects := func(yield func(minio.ObjectInfo) bool) {
		for _, key := range keys {
			if !yield(minio.ObjectInfo{Key: key}) {
				return
			}
		}
	}
	results, err := s.core.RemoveObjectsWithIter(ctx, s.bucket, objects, minio.RemoveObjectsOptions{})
	if err != nil {
		return func(yield func(minio.RemoveObjectResult) bool) {
			yield(minio.RemoveObjectResult{ObjectName: keys[0], Err: err})
		}
	}
	return results
}

func (s *Store) deleteSingly(ctx context.Context, keys []string, failed *failures) {
	var group errgroup.Group
	group.SetLimit(deletesAtATime)
	for _, key := range keys {
		group.Go(func() error {
			failed.add(key, s.deleteOne(ctx, key))
			return nil
		})
	}
	_ = group.Wait() // failures are collected, not returned
}

func (s *Store) deleteOne(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{})
}

// failures gathers what could not be deleted.
type failures struct {
	mu    sync.Mutex
	count int
	first error
}

func (f *failures) add(key string, err error) {
	if err == nil {
		return
	}
	err = translate("delete", key, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(err, ErrNotFound) {
		return
	}
	if f.count++; f.first == nil {
		f.first = err
	}
}

func (f *failures) err(of int) error {
	if f.first == nil || of == 1 {
		return f.first
	}
	return fmt.Errorf("s3: %d of %d keys were not deleted, first: %w", f.count, of, f.first)
}
