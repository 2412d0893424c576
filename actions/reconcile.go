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
)

// Reconciling is the answer to the daily cron trigger.
type Reconciling struct {
	Started bool `json:"started"` // false if a run is under way already
}

// Reconcile starts to compare the store with the rows, both ways, and returns:
// a large store takes longer than Hasura waits. What nobody has named for a day
// is removed, parts of forgotten uploads included; rows whose object is missing,
// keys that are not ours and objects in nhost's layout are counted in the log
// and never touched.
func (s *Storage) Reconcile(ctx context.Context) (Reconciling, error) {
	if !s.reconciling.TryLock() {
		return Reconciling{}, nil
	}
	started := s.background.run(ctx, reconcileLimit, func(ctx context.Context) error {
		s.reconcile(ctx)
		return nil
	}, func(error) { s.reconciling.Unlock() })
	if !started {
		s.reconciling.Unlock()
		return Reconciling{}, Errorf(Busy, "the service is stopping, try again")
	}
	return Reconciling{Started: true}, nil
}

func (s *Storage) reconcile(ctx context.Context) {
	gone, err := s.removeStrays(ctx)
	aborted, partsErr := s.abortStrayParts(ctx)
	missing, brokenErr := s.logBroken(ctx)
	log := s.log.Info
	failures := nonNil(err, partsErr, brokenErr)
	if len(failures) > 0 || gone.heldBack > 0 {
		log = s.log.Error
	}
	log("reconciled store and rows",
		zap.Int("objects_removed", gone.objects), zap.Int("uploads_in_parts_removed", aborted),
		zap.Int("rows_without_object", missing), zap.Int("foreign_keys", gone.foreign),
		zap.Int("unnamed_in_former_layout", gone.legacy), zap.Int("unnamed_but_too_many", gone.heldBack),
		zap.Errors("errors", failures))
}

func nonNil(errs ...error) (list []error) {
	for _, err := range errs {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

// removed counts what became of the strays.
type removed struct {
	objects  int // deleted
	foreign  int // not of our grammar
	legacy   int // in nhost's layout: left to whoever runs the service
	heldBack int // too many at once to be believed
}

// removeStrays deletes what nobody names, page by page. Where most of a page
// seems to be abandoned, the rows are rather those of another database (a copy,
// an old backup, another project with the same bucket and root folder): nothing
// of it is touched.
func (s *Storage) removeStrays(ctx context.Context) (r removed, err error) {
	const many = inventoryPage / 4
	for page, err := range s.strayPages(ctx, reconcileAge) {
		if err != nil {
			return r, err
		}
		var ours []string
		for _, one := range page.found {
			switch one.place {
			case foreign:
				r.foreign++
			case legacyObject:
				r.legacy++
			default:
				ours = append(ours, one.key)
			}
		}
		if len(ours) >= many && 2*len(ours) > page.objects {
			r.heldBack += len(ours)
			continue
		}
		if err := s.store.Delete(ctx, ours...); err != nil {
			return r, storeError(err)
		}
		r.objects += len(ours)
	}
	return r, nil
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
