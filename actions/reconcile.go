package actions

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hasura-storage/s3"
)

const (
	// reconcileAge spares what is younger: it may be on its way.
	reconcileAge = 24 * time.Hour
	// reconcileLimit bounds one run; the next day's goes over the rest.
	reconcileLimit = 6 * time.Hour
	deleteBatch    = 500
)

// Reconciling is the answer to the daily cron trigger.
type Reconciling struct {
	Started bool `json:"started"` // false if a run is under way already
}

// Reconcile starts to compare the store with the rows, both ways, and returns:
// a large store takes longer than Hasura waits. What nobody has named for a day
// is removed, parts of forgotten uploads included; rows whose object is missing
// and keys that are not ours are counted in the log and never touched.
func (s *Storage) Reconcile(context.Context) (Reconciling, error) {
	if !s.reconciling.TryLock() {
		return Reconciling{}, nil
	}
	started := s.background.run(reconcileLimit, func(ctx context.Context) {
		defer s.reconciling.Unlock()
		s.reconcile(ctx)
	})
	if !started {
		s.reconciling.Unlock()
		return Reconciling{}, Errorf(Busy, "the service is stopping, try again")
	}
	return Reconciling{Started: true}, nil
}

func (s *Storage) reconcile(ctx context.Context) {
	removed, foreign, err := s.removeStrays(ctx)
	aborted, partsErr := s.abortStrayParts(ctx)
	missing, brokenErr := s.logBroken(ctx)
	log := s.log.Info
	failures := nonNil(err, partsErr, brokenErr)
	if len(failures) > 0 {
		log = s.log.Error
	}
	log("reconciled store and rows",
		zap.Int("objects_removed", removed), zap.Int("uploads_in_parts_removed", aborted),
		zap.Int("rows_without_object", missing), zap.Int("foreign_keys", foreign), zap.Errors("errors", failures))
}

func nonNil(errs ...error) (list []error) {
	for _, err := range errs {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

// removeStrays deletes what nobody names, in batches.
func (s *Storage) removeStrays(ctx context.Context) (removed, foreigners int, err error) {
	var batch []string
	flush := func() error {
		if err := s.store.Delete(ctx, batch...); err != nil {
			return storeError(err)
		}
		removed += len(batch)
		batch = batch[:0]
		return nil
	}
	for one, err := range s.strays(ctx, reconcileAge) {
		if err != nil {
			return removed, foreigners, err
		}
		if one.place == foreign {
			foreigners++
			continue
		}
		if batch = append(batch, one.key); len(batch) == deleteBatch {
			if err := flush(); err != nil {
				return removed, foreigners, err
			}
		}
	}
	return removed, foreigners, flush()
}

// abortStrayParts forgets uploads in parts, at keys of ours, that no upload names.
func (s *Storage) abortStrayParts(ctx context.Context) (aborted int, err error) {
	before := s.now().Add(-reconcileAge)
	for m, err := range s.store.ListMultiparts(ctx, s.keys.below("")) {
		if err != nil {
			return aborted, storeError(err)
		}
		if !m.Initiated.Before(before) {
			continue
		}
		// The upload's key stands for an object as old as the upload.
		found, err := s.straysOf(ctx, []s3.Object{{Key: m.Key, LastModified: m.Initiated}}, before)
		if err != nil {
			return aborted, err
		}
		if len(found) == 1 && found[0].place == object {
			if err := s.store.AbortMultipart(ctx, m.Key, m.ID); err != nil {
				return aborted, storeError(err)
			}
			aborted++
		}
	}
	return aborted, nil
}

// logBroken names the first rows whose object is missing.
func (s *Storage) logBroken(ctx context.Context) (missing int, err error) {
	const named = 100
	for f, err := range s.broken(ctx, reconcileAge) {
		if err != nil {
			return missing, err
		}
		if missing++; missing <= named {
			s.log.Warn("a file's object is missing", zap.String("file_id", f.Id))
		}
	}
	return missing, nil
}
