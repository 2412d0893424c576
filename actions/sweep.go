package actions

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql"
)

const (
	// sweepBudget bounds one sweep; Hasura waits 55 s for the cron trigger's answer.
	sweepBudget = 45 * time.Second
	sweepPage   = 100
)

// Sweep finishes or removes what clients, lost events and dead instances left
// behind: open uploads that are due, closed ones whose closer died, garbage, and
// files past their expiry. One runs at a time in a process; several instances
// may sweep at once, since every step is conditional or repeatable.
func (s *Storage) Sweep(ctx context.Context) (Swept, error) {
	if !s.sweeping.TryLock() {
		return Swept{Running: true}, nil
	}
	defer s.sweeping.Unlock()
	ctx, cancel := context.WithTimeout(ctx, sweepBudget)
	defer cancel()
	var done Swept
	for _, step := range []func(context.Context, *Swept) error{s.sweepExpiredFiles, s.sweepUploads, s.sweepGarbage} {
		if err := step(ctx, &done); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return done, nil // the next sweep goes on
			}
			return done, err
		}
	}
	return done, nil
}

// sweepExpiredFiles deletes rows past their expires_at; their bytes become garbage.
func (s *Storage) sweepExpiredFiles(ctx context.Context, done *Swept) error {
	for {
		now := s.now()
		// Admin: the expiry was set under the permissions of whoever set it.
		page, err := graphql.ExpiredFiles(ctx, s.hasura.Admin(), now, sweepPage)
		if err != nil {
			return hasuraError(err)
		}
		ids := make([]string, 0, len(page.Files))
		for _, f := range page.Files {
			ids = append(ids, f.Id)
		}
		deleted, err := s.deleteExpired(ctx, ids, now)
		done.Expired += deleted
		if err != nil || deleted == 0 || len(ids) < sweepPage {
			return err
		}
	}
}

// deleteExpired deletes together, or one by one where a row of the project's own
// refers to one of them: that one stays.
func (s *Storage) deleteExpired(ctx context.Context, ids []string, now time.Time) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	done, err := graphql.DeleteExpiredFiles(ctx, s.hasura.Admin(), ids, now)
	if err == nil {
		return done.Deleted.Affected_rows, nil
	}
	if !errors.Is(err, graphql.ErrConflict) {
		return 0, hasuraError(err)
	}
	deleted := 0
	for _, id := range ids {
		done, err := graphql.DeleteExpiredFiles(ctx, s.hasura.Admin(), []string{id}, now)
		if err != nil && !errors.Is(err, graphql.ErrConflict) {
			return deleted, hasuraError(err)
		}
		if err == nil {
			deleted += done.Deleted.Affected_rows
		}
	}
	return deleted, nil
}

// sweepUploads looks once at each upload that is due.
func (s *Storage) sweepUploads(ctx context.Context, done *Swept) error {
	looked := map[string]bool{}
	for {
		page, err := graphql.DueUploads(ctx, s.hasura.Admin(), s.now(), sweepPage)
		if err != nil {
			return hasuraError(err)
		}
		fresh := 0
		for _, row := range page.Uploads {
			if looked[row.Id] {
				continue
			}
			looked[row.Id] = true
			fresh++
			if err := s.sweepUpload(ctx, upload{row}, done); err != nil {
				s.log.Warn("the sweep passes over an upload", zap.String("file_id", row.File_id), zap.Error(err))
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if fresh == 0 {
			return nil
		}
	}
}

// sweepUpload finishes one upload: a closed one is cleaned, an open one is
// completed if its bytes have arrived, and closed once it has expired.
func (s *Storage) sweepUpload(ctx context.Context, u upload, done *Swept) error {
	if !u.isOpen() {
		if !s.now().Before(u.Expires_at.Add(lastLook)) {
			done.Forgotten++
		}
		return s.settle(ctx, u)
	}
	if u.Kind == kindREST { // its request has died
		s.abandon(ctx, u)
		done.Aborted++
		return nil
	}
	expired := !s.now().Before(u.Expires_at)
	arrived, err := s.hasArrived(ctx, u)
	switch {
	case err != nil:
		return err
	case arrived:
		err = s.sweepComplete(ctx, u, done)
		if err == nil || !expired || !has(err, UploadIncomplete) {
			return err
		}
	case !expired:
		s.release(ctx, u)
		return nil
	}
	s.abandon(ctx, u)
	done.Aborted++
	return nil
}

func (s *Storage) sweepComplete(ctx context.Context, u upload, done *Swept) error {
	run, err := s.completions.join(u.Id, func(ctx context.Context) error { return s.complete(ctx, u, nil) })
	if err != nil {
		return err
	}
	select {
	case <-run.done:
		if run.err == nil {
			done.Completed++
		}
		return run.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hasArrived reports whether it is worth claiming the upload: its bytes are
// there, or are past judging where they lie.
func (s *Storage) hasArrived(ctx context.Context, u upload) (bool, error) {
	if u.Kind == kindCopy {
		return true, nil
	}
	if u.inParts() {
		_, err := s.arrivedParts(ctx, u, nil)
		if has(err, UploadIncomplete) { // completed by one who died before the commit?
			_, err = s.store.Stat(ctx, u.key())
			err = arrival(err)
		}
		return err == nil, unless(err, UploadIncomplete)
	}
	o, err := s.store.Stat(ctx, deref(u.Staging_key))
	if err = arrival(err); err != nil {
		return false, unless(err, UploadIncomplete)
	}
	return o.Size == u.size(), nil
}

// unless returns err, or nil if it is of the code.
func unless(err error, code Code) error {
	if has(err, code) {
		return nil
	}
	return err
}

// sweepGarbage works off what no event has.
func (s *Storage) sweepGarbage(ctx context.Context, done *Swept) error {
	for {
		page, err := graphql.DueGarbage(ctx, s.hasura.Admin(), s.now().Add(-garbageAge), garbagePage)
		if err != nil {
			return hasuraError(err)
		}
		if err := s.workOff(ctx, page.Garbage); err != nil {
			return err
		}
		done.Garbage += len(page.Garbage)
		if len(page.Garbage) < garbagePage {
			return nil
		}
	}
}
