package actions

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql"
)

// commit is the switch: in one transaction the upload is closed for a nonce of
// ours and the file's row names the object. The counts of its steps tell what happened.
func (s *Storage) commit(ctx context.Context, u upload, f facts) error {
	nonce, now := newID(), s.now()
	// Admin: a role needs no update permission to upload; what it may was judged
	// when the upload was opened, and again before this for a replace.
	done, err := graphql.CommitUpload(ctx, s.hasura.Admin(), u.Id, nonce, now, now.Add(closedCheck), u.File_id, u.condition(),
		f.key, f.etag, f.size, f.mimeType, f.sha256, f.width, f.height, f.placeholder)
	switch {
	case err == nil && done.Committed.Affected_rows == 1:
		s.counts.upload(u.Kind, UploadCompleted)
		u.State = stateCommitted
		s.cleanSoon(ctx, u)
		return nil
	case err == nil && done.Closed.Affected_rows == 1:
		return s.unswitched(ctx, u)
	case err == nil:
		return s.lost(ctx, u, nonce)
	case graphql.Refused(err):
		return s.failed(ctx, u, hasuraError(err))
	default:
		return s.uncertain(ctx, u, nonce, err)
	}
}

// condition is what the file's row must be like for the switch.
func (u upload) condition() graphql.Condition {
	switch {
	case u.Kind != kindReplace:
		return graphql.Condition{"isUploaded": equals(false)}
	case u.If_match != nil:
		return graphql.Condition{"etag": equals(*u.If_match)}
	}
	return graphql.Condition{}
}

func equals(value any) map[string]any { return map[string]any{"_eq": value} }

// unswitched words a commit that found no file row to switch: the upload is
// closed as aborted, and the object, which nobody names, goes.
func (s *Storage) unswitched(ctx context.Context, u upload) error {
	s.counts.upload(u.Kind, UploadAborted)
	u.State = stateAborted
	s.cleanSoon(ctx, u)
	f, err := s.file(ctx, u.File_id)
	switch {
	case err != nil:
		return err
	case f == nil:
		return errDeletedMeanwhile
	case u.Kind == kindReplace && u.If_match != nil:
		return errNotTheVersion
	}
	return Errorf(Conflict, "the file has changed, its upload no longer fits")
}

var (
	errDeletedMeanwhile = Errorf(FileNotFound, "the file was deleted before its upload was completed")
	errNotTheVersion    = Errorf(Conflict, "the file is no longer the version that ifMatch names")
)

// lost handles a commit that found its upload closed or claimed by another, or
// by itself, if the request was sent twice on the way.
func (s *Storage) lost(ctx context.Context, u upload, nonce string) error {
	now, err := s.upload(ctx, u.Id)
	if err != nil {
		return err
	}
	if deref(now.Closed_by) == nonce {
		return s.closedByUs(ctx, now)
	}
	s.discard(ctx, u) // the object of this claim is nobody's
	if now.isOpen() {
		return u.completing()
	}
	return nil
}

// closedByUs tells what a commit of ours came to, whose answer did not say.
func (s *Storage) closedByUs(ctx context.Context, u upload) error {
	if u.State == stateAborted {
		return s.unswitched(ctx, u)
	}
	s.counts.upload(u.Kind, UploadCompleted)
	s.cleanSoon(ctx, u)
	return nil
}

// uncertain handles a commit whose answer is missing: the state tells, if it
// can be read. While it does not show our nonce nothing is deleted, since the
// commit may still be on its way; the lease is given back, and the next complete
// or sweep reads again. It claims another key, which a late commit does not name.
func (s *Storage) uncertain(ctx context.Context, u upload, nonce string, cause error) error {
	now, err := s.upload(ctx, u.Id)
	if err == nil && deref(now.Closed_by) == nonce {
		return s.closedByUs(ctx, now)
	}
	s.release(ctx, u)
	return hasuraError(cause)
}

// abort closes an upload that is still open and as still says, and reports
// whether it was this call that did.
func (s *Storage) abort(ctx context.Context, u upload, still graphql.Condition) (bool, error) {
	// Admin: uploads are the service's own.
	done, err := graphql.AbortUpload(ctx, s.hasura.Admin(), u.Id, newID(), s.now().Add(closedCheck), still)
	if err != nil {
		return false, hasuraError(err)
	}
	if done.Closed.Affected_rows != 1 {
		return false, nil
	}
	s.counts.upload(u.Kind, UploadAborted)
	return true, nil
}

// unclaimedSince holds as long as nobody has claimed the upload after it was read or claimed.
func (u upload) unclaimedSince() graphql.Condition {
	return graphql.Condition{"attempts": equals(u.Attempts)}
}

// isLeased reports whether a claim of the upload was under way when it was read.
func (u upload) isLeased(now time.Time) bool {
	return u.Leased_until != nil && u.Leased_until.After(now)
}

// abandon closes an upload that can never pass and removes what it left, even
// if the client has gone, and reports whether it did. What fails here is done by the sweep.
func (s *Storage) abandon(ctx context.Context, u upload) (closed bool) {
	if closed = s.closeUnclaimed(ctx, u); closed {
		u.State = stateAborted
		s.cleanNow(ctx, u)
	}
	return closed
}

// abandonSoon does the same without waiting for the store, which may not answer.
func (s *Storage) abandonSoon(ctx context.Context, u upload) (closed bool) {
	if closed = s.closeUnclaimed(ctx, u); closed {
		u.State = stateAborted
		s.cleanSoon(ctx, u)
	}
	return closed
}

// closeUnclaimed aborts an upload unless somebody has claimed it since it was read.
func (s *Storage) closeUnclaimed(ctx context.Context, u upload) bool {
	ctx, cancel := detached(ctx)
	defer cancel()
	closed, err := s.abort(ctx, u, u.unclaimedSince())
	if err != nil {
		s.log.Warn("an upload that failed is left to the sweep", zap.Error(err))
	}
	return closed
}

// cleanNow removes what a closed upload left before the client is answered, even
// if he has gone.
func (s *Storage) cleanNow(ctx context.Context, u upload) {
	ctx, cancel := detached(ctx)
	defer cancel()
	if err := s.settle(ctx, u); err != nil {
		s.log.Warn("a closed upload is left to the sweep", zap.Error(err))
	}
}

// cleanSoon removes what a closed upload left without keeping the client waiting.
func (s *Storage) cleanSoon(ctx context.Context, u upload) {
	s.background.run(ctx, time.Minute, func(ctx context.Context) error { return s.settle(ctx, u) }, func(err error) {
		if err != nil {
			s.log.Warn("a closed upload is left to the sweep", zap.Error(err))
		}
	})
}

// settle cleans a closed upload. Its record stays until nothing that one of its
// URLs began can still arrive, and long enough to answer whoever completes it
// again: an hour after it expired or, if that is later, after this. Only one that
// was closed later than an hour after it expired, by a closer that died, does not
// stay: the next sweep forgets it.
func (s *Storage) settle(ctx context.Context, u upload) error {
	last := u.Expires_at
	if began := s.now(); began.After(last) { // what comes after it began may be missed
		last = began
	}
	if err := s.clean(ctx, u); err != nil {
		return err
	}
	// Admin: uploads are the service's own.
	_, err := graphql.SettleUpload(ctx, s.hasura.Admin(), u.Id, last.Add(lastLook))
	return hasuraError(err)
}

// forget is the last look at a closed upload: it is cleaned once more and its
// record goes.
func (s *Storage) forget(ctx context.Context, u upload) error {
	if err := s.clean(ctx, u); err != nil {
		return err
	}
	if u.Kind != kindReplace && u.State == stateCommitted { // an insert that arrived late may have brought a deleted row back
		if err := s.deleteUnfinished(ctx, u); err != nil {
			return err
		}
	}
	// Admin: uploads are the service's own.
	_, err := graphql.ForgetUpload(ctx, s.hasura.Admin(), u.Id)
	return hasuraError(err)
}

// clean removes everything of a closed upload that no file row names. It may run
// any number of times, by anybody.
func (s *Storage) clean(ctx context.Context, u upload) error {
	if u.Staging_key != nil {
		if err := s.store.Delete(ctx, *u.Staging_key); err != nil {
			return storeError(err)
		}
	}
	if u.isMultipart() || u.Kind == kindCopy { // a large copy is made in parts
		keys := []string{u.key()}
		if u.Staging_key != nil {
			keys = append(keys, *u.Staging_key)
		}
		for _, key := range keys {
			if err := s.store.AbortMultiparts(ctx, key); err != nil {
				return storeError(err)
			}
		}
	}
	if err := s.deleteUnnamed(ctx, u.File_id, u.key()); err != nil {
		return err
	}
	if u.Kind != kindReplace && u.State == stateAborted {
		return s.deleteUnfinished(ctx, u)
	}
	return nil
}

// deleteUnfinished removes the row of a new file whose upload failed. Where a row of the
// project's own refers to it, it stays, not uploaded. The upload's row was written
// before the file's: an older one is somebody else's.
func (s *Storage) deleteUnfinished(ctx context.Context, u upload) error {
	// Admin: the caller's session may not delete what it inserted.
	_, err := graphql.DeleteUnfinishedFile(ctx, s.hasura.Admin(), u.File_id, u.Created_at)
	if err != nil && !errors.Is(err, graphql.ErrConflict) {
		return hasuraError(err)
	}
	return nil
}

// discard deletes the object of a claim that did not commit, unless a row names it.
func (s *Storage) discard(ctx context.Context, u upload) {
	if err := s.deleteUnnamed(ctx, u.File_id, u.key()); err != nil {
		s.log.Warn("an object is left to the sweep", zap.Error(err))
	}
}

// deleteUnnamed deletes an object of a file unless a row or an open upload names it now.
func (s *Storage) deleteUnnamed(ctx context.Context, fileID, key string) error {
	named, err := s.namedKeys(ctx, []string{key}, []string{fileID})
	if err != nil {
		return err
	}
	if named.has(key) || !s.keys.owns(key, fileID) {
		return nil
	}
	return storeError(s.store.Delete(ctx, key))
}
