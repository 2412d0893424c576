package actions

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hasura-storage/graphql"
)

const (
	// sweepBudget bounds one sweep; Hasura waits 55 s for the cron trigger's answer.
	sweepBudget = 45 * time.Second
	sweepPage   = 100
	sweepAtOnce = 8
	// orphanAge is how old an upload is by which its file's row, which is written
	// right after it, has come or was deleted.
	orphanAge = 10 * time.Minute
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
	var failures []error
	// Garbage first: it is cheap, and completions may take all the time there is.
	for _, step := range []func(context.Context, *Swept) error{s.sweepGarbage, s.sweepExpiredFiles, s.sweepUploads} {
		err := step(ctx, &done)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			break // the next sweep goes on
		}
		failures = append(failures, err) // no step waits for another to succeed
	}
	return done, errors.Join(failures...)
}

// sweepExpiredFiles deletes rows past their expires_at; their bytes become garbage.
func (s *Storage) sweepExpiredFiles(ctx context.Context, done *Swept) error {
	now, stuck := s.now(), 0 // rows that stay are passed over
	for {
		// Admin: the expiry was set under the permissions of whoever set it.
		page, err := graphql.ExpiredFiles(ctx, s.hasura.Admin(), now, sweepPage, stuck)
		if err != nil {
			return hasuraError(err)
		}
		ids := make([]string, 0, len(page.Files))
		for _, f := range page.Files {
			ids = append(ids, f.Id)
		}
		deleted := s.deleteExpired(ctx, ids, now)
		done.Expired += deleted
		stuck += len(ids) - deleted
		if len(ids) < sweepPage || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// deleteExpired deletes together, or one by one where that fails: a row that
// something of the project's own holds on to stays, and keeps no other back.
func (s *Storage) deleteExpired(ctx context.Context, ids []string, now time.Time) (deleted int) {
	if len(ids) == 0 {
		return 0
	}
	// Admin: as above.
	done, err := graphql.DeleteExpiredFiles(ctx, s.hasura.Admin(), ids, now)
	if err == nil {
		s.counts.expired(done.Deleted.Affected_rows)
		return done.Deleted.Affected_rows
	}
	if len(ids) == 1 {
		s.log.Warn("an expired file cannot be deleted", zap.String("file_id", ids[0]), zap.Error(err))
		return 0
	}
	for _, id := range ids {
		deleted += s.deleteExpired(ctx, []string{id}, now)
	}
	return deleted
}

// sweepUploads looks once at each upload that is due, some at a time.
func (s *Storage) sweepUploads(ctx context.Context, done *Swept) error {
	looked := map[string]bool{}
	for ctx.Err() == nil {
		// Admin: uploads are the service's own.
		page, err := graphql.DueUploads(ctx, s.hasura.Admin(), s.now(), sweepPage)
		if err != nil {
			return hasuraError(err)
		}
		var counting sync.Mutex
		var work errgroup.Group
		work.SetLimit(sweepAtOnce)
		fresh := 0
		for _, row := range page.Uploads {
			if looked[row.Id] {
				continue
			}
			looked[row.Id] = true
			fresh++
			work.Go(func() error {
				one := s.lookAt(ctx, upload{row})
				counting.Lock()
				defer counting.Unlock()
				done.add(one)
				return nil
			})
		}
		_ = work.Wait() // what failed has been put off
		if fresh == 0 {
			return nil
		}
	}
	return ctx.Err()
}

// lookAt sweeps one upload. One that fails is put off, so that it keeps no other back.
func (s *Storage) lookAt(ctx context.Context, u upload) (one Swept) {
	if err := s.sweepUpload(ctx, u, &one); err != nil && ctx.Err() == nil {
		s.log.Warn("the sweep passes over an upload", zap.String("file_id", u.File_id), zap.Error(err))
		s.putOff(ctx, u)
	}
	return one
}

// putOff moves the next look at an upload.
func (s *Storage) putOff(ctx context.Context, u upload) {
	if u.isOpen() {
		s.release(ctx, u)
		return
	}
	// Admin: uploads are the service's own.
	_, _ = graphql.SettleUpload(ctx, s.hasura.Admin(), u.Id, s.now().Add(closedCheck))
}

func (d *Swept) add(one Swept) {
	d.Completed += one.Completed
	d.Aborted += one.Aborted
	d.Forgotten += one.Forgotten
}

// sweepUpload finishes one upload: a closed one is cleaned, an open one is
// completed if its bytes have arrived, and closed once it has expired or its
// file is gone.
func (s *Storage) sweepUpload(ctx context.Context, u upload, done *Swept) error {
	switch {
	case u.isOpen():
	case s.now().Before(u.Expires_at.Add(lastLook)): // its closer died
		return s.settle(ctx, u)
	default:
		err := s.forget(ctx, u)
		if err == nil {
			done.Forgotten++
		}
		return err
	}
	if u.Kind == kindREST || s.isOrphan(u) { // its request has died, or its file was deleted
		s.sweepAbandon(ctx, u, done)
		return nil
	}
	arrived, err := s.hasArrived(ctx, u)
	switch {
	case err != nil:
		return err
	case arrived:
		return s.sweepArrived(ctx, u, done)
	case s.now().Before(u.Expires_at):
		s.release(ctx, u)
	default:
		s.sweepAbandon(ctx, u, done)
	}
	return nil
}

// isOrphan reports whether an upload is for a file that does not exist. A row
// that is inserted later still goes when the upload is forgotten.
func (s *Storage) isOrphan(u upload) bool {
	return u.File == nil && s.now().Sub(u.Created_at) >= orphanAge
}

// sweepArrived completes an upload, or closes one that is hopeless. A completion
// that is under way when the sweep's time is over goes on, and is not judged.
func (s *Storage) sweepArrived(ctx context.Context, u upload, done *Swept) error {
	err := s.sweepComplete(ctx, u, done)
	if err == nil || ctx.Err() != nil || s.now().Before(u.Expires_at) {
		return err
	}
	tried, readErr := s.upload(ctx, u.Id) // it was claimed since u was read
	if readErr != nil || !s.givesUp(tried, err) {
		return err
	}
	s.sweepAbandon(ctx, tried, done)
	return nil
}

func (s *Storage) sweepAbandon(ctx context.Context, u upload, done *Swept) {
	if s.abandon(ctx, u) { // else somebody was faster, or the next sweep tries again
		s.counts.upload(u.Kind, UploadSwept)
		done.Aborted++
	}
}

// givesUp decides about an upload, as the try that failed with err has left it.
// One that has expired without its bytes is over. So is a copy that has failed
// again and again, since nobody but its source can be waited for, and anything
// else that goes on failing long after it expired, such as a commit that a
// project's trigger breaks off without a clear no: it holds its place in the quota
// and among its session's uploads. A commit that is still on its way may win
// against the closing, but never comes after it.
func (s *Storage) givesUp(u upload, err error) bool {
	const tries, patience = 10, 24 * time.Hour
	overdue := s.now().Sub(u.Expires_at)
	switch {
	case !u.isOpen(), u.isLeased(s.now()), overdue < 0:
		return false
	case has(err, UploadIncomplete):
		return true
	case has(err, Busy, UploadCompleting): // no fault of the upload's
		return false
	}
	return u.Attempts >= tries && (u.Kind == kindCopy || overdue >= patience)
}

func (s *Storage) sweepComplete(ctx context.Context, u upload, done *Swept) error {
	run, err := s.completions.join(ctx, u.Id, func(ctx context.Context) error { return s.complete(ctx, u, nil) })
	if err != nil {
		return err
	}
	select {
	case <-run.done:
		if run.err == nil {
			s.counts.upload(u.Kind, UploadSwept)
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

// sweepGarbage works off what no event has. Rows that cannot be worked off now
// are passed over.
func (s *Storage) sweepGarbage(ctx context.Context, done *Swept) error {
	before, stuck := s.now().Add(-garbageAge), 0
	var last error
	for {
		// Admin: garbage is the service's own.
		page, err := graphql.DueGarbage(ctx, s.hasura.Admin(), before, garbagePage, stuck)
		if err != nil {
			return hasuraError(err)
		}
		worked, err := s.workOffEach(ctx, page.Garbage)
		done.Garbage += worked
		stuck += len(page.Garbage) - worked
		last = errors.Join(last, err)
		if len(page.Garbage) < garbagePage || ctx.Err() != nil {
			return last
		}
	}
}

// workOffEach works rows off together, or one by one where that fails. It
// returns how many are done, and the last error of the others.
func (s *Storage) workOffEach(ctx context.Context, rows []graphql.Garbage) (done int, err error) {
	if err = s.workOff(ctx, rows); err == nil {
		return len(rows), nil
	}
	if has(err, HasuraUnavailable) || len(rows) < 2 {
		return 0, err
	}
	for _, row := range rows {
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		if rowErr := s.workOff(ctx, []graphql.Garbage{row}); rowErr != nil {
			err = rowErr
			continue
		}
		done++
	}
	if done == len(rows) {
		return done, nil
	}
	return done, err
}
