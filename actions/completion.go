package actions

import (
	"context"
	"errors"
	"time"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

const (
	leaseTime = time.Minute // how long a claim holds without being renewed
	// lateCopy is how long a copy that a dead claim began may go on inside the
	// store: its key is worked off as garbage only afterwards.
	lateCopy = time.Hour
)

// complete brings an open upload to its end: committed, or closed as aborted
// when what arrived can never pass. Any other error leaves it open.
func (s *Storage) complete(ctx context.Context, u upload, parts []UploadedPart) error {
	if u.isLeased(s.now()) {
		return s.unclaimed(ctx, u)
	}
	claimed, err := s.claim(ctx, u)
	if err != nil {
		return err
	}
	if claimed.Id == "" {
		return s.unclaimed(ctx, u)
	}
	return s.completeClaimed(ctx, claimed, parts)
}

// unclaimed looks why an upload could not be claimed: it is closed, which is no
// error here, or another instance holds its lease.
func (s *Storage) unclaimed(ctx context.Context, u upload) error {
	now, err := s.upload(ctx, u.Id)
	if err != nil || !now.isOpen() {
		return err
	}
	return now.completing()
}

// completeClaimed does the work under the lease of a claim.
func (s *Storage) completeClaimed(ctx context.Context, u upload, parts []UploadedPart) error {
	stop := s.keepLease(ctx, u)
	defer stop()
	object, err := s.assemble(ctx, u, parts)
	if err != nil {
		return s.failed(ctx, u, err)
	}
	known, err := s.inspect(ctx, u, object)
	if err == nil {
		u, known, err = s.stripped(ctx, u, known)
	}
	if err == nil && u.Kind == kindReplace {
		err = s.askAgain(ctx, u)
	}
	if err != nil {
		return s.failed(ctx, u, err)
	}
	return s.commit(ctx, u, known)
}

// claim takes the lease of an open upload and returns the row as claimed, or the
// zero upload if it may not be claimed now. A claim that copies gets a final key
// of its own: a late copy of a former claim can then never reach what this one commits,
// and becomes garbage here.
func (s *Storage) claim(ctx context.Context, u upload) (upload, error) {
	key, former := u.key(), []graphql.GarbageValues{}
	if !u.inParts() {
		key = s.keys.object(newVersion(), u.File_id)
		if u.Attempts > 0 {
			former = append(former, graphql.GarbageValues{FileID: u.File_id, ObjectKey: u.key(), CreatedAt: s.now().Add(lateCopy)})
		}
	}
	now := s.now()
	done, err := graphql.ClaimUpload(ctx, s.hasura.Admin(), u.Id, u.Attempts, now, now.Add(leaseTime), key, former)
	if err != nil && !errors.Is(err, graphql.ErrUnknownOutcome) {
		return upload{}, hasuraError(err)
	}
	if err != nil || done.Claimed.Affected_rows == 0 {
		return s.claimedAfterAll(ctx, u, key)
	}
	u.Object_key, u.Attempts = &key, u.Attempts+1
	return u, nil
}

// claimedAfterAll returns the row if it holds our key: the claim's answer was
// lost, or the request was sent twice. The key in parts is everybody's and tells nothing.
func (s *Storage) claimedAfterAll(ctx context.Context, u upload, key string) (upload, error) {
	now, err := s.upload(ctx, u.Id)
	if err != nil || !now.isOpen() || now.inParts() || now.key() != key {
		return upload{}, err
	}
	return now, nil
}

// keepLease renews the lease until stop is called. Losing it does no harm: the
// commit names the claim's key.
func (s *Storage) keepLease(ctx context.Context, u upload) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(leaseTime / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _ = graphql.RenewLease(ctx, s.hasura.Admin(), u.Id, u.key(), s.now().Add(leaseTime))
			}
		}
	}()
	return cancel
}

// assemble makes the final object, where no client can write, of what arrived.
func (s *Storage) assemble(ctx context.Context, u upload, parts []UploadedPart) (s3.Object, error) {
	if err := readableType(u.Mime_type); err != nil { // the store could not be told it
		return s3.Object{}, err
	}
	switch {
	case u.Kind == kindCopy:
		return s.copySource(ctx, u)
	case u.inParts():
		return s.assembleParts(ctx, u, parts)
	}
	const tries = 3 // a client may write again between looking and copying
	var err error
	for range tries {
		var object s3.Object
		object, err = s.copyStaged(ctx, u)
		if !errors.Is(err, s3.ErrPreconditionFailed) {
			return object, arrival(err)
		}
	}
	return s3.Object{}, Errorf(UploadIncomplete, "the file is still being written").Because(err)
}

// copyStaged copies exactly the object that was looked at.
func (s *Storage) copyStaged(ctx context.Context, u upload) (s3.Object, error) {
	staged, err := s.store.Stat(ctx, deref(u.Staging_key))
	if err != nil {
		return s3.Object{}, err
	}
	if err := sized(u, staged); err != nil {
		return s3.Object{}, err
	}
	_, err = s.store.Copy(ctx, staged.Key, u.key(), s3.CopyOptions{IfMatch: staged.ETag, ContentType: u.contentType(), Size: staged.Size})
	if err != nil {
		return s3.Object{}, err
	}
	return s.store.Stat(ctx, u.key())
}

// arrival words a store's answer about bytes that the client owes.
func arrival(err error) error {
	var done *Error
	switch {
	case err == nil, errors.As(err, &done), errors.Is(err, s3.ErrPreconditionFailed):
		return err
	case errors.Is(err, s3.ErrNotFound):
		return Errorf(UploadIncomplete, "the file has not arrived").Because(err)
	default:
		return storeError(err)
	}
}

func sized(u upload, o s3.Object) error {
	if o.Size == u.size() {
		return nil
	}
	return Errorf(SizeMismatch, "%d bytes were declared, %d arrived", u.size(), o.Size).
		With("declared", u.size()).With("arrived", o.Size)
}

// final are the codes of what can never pass, however often it is tried.
var final = []Code{
	SizeMismatch, ChecksumMismatch, MimeTypeNotAllowed, NotAnImage, ImageTooLarge,
	FileTooBig, FileTooSmall, QuotaExceeded, NotAllowed, Conflict, FileNotFound, BadRequest,
}

// failed ends a claim that did not commit: what can never pass is closed and
// cleaned, anything else is left open for the next try.
func (s *Storage) failed(ctx context.Context, u upload, cause error) error {
	switch {
	case has(cause, VirusFound):
		s.quarantine(ctx, u, infected(u, cause))
	case has(cause, final...):
		s.abandon(ctx, u)
	default:
		s.release(ctx, u)
	}
	return cause
}

// release gives the lease back. If that fails, the lease runs out by itself.
func (s *Storage) release(ctx context.Context, u upload) {
	ctx, cancel := detached(ctx)
	defer cancel()
	_, _ = graphql.ReleaseUpload(ctx, s.hasura.Admin(), u.Id, u.Attempts, s.nextCheck(u))
}

// nextCheck doubles the pause between two looks: 1, 2, 4 … 30 minutes.
func (s *Storage) nextCheck(u upload) time.Time {
	const longest = 30 * time.Minute
	now := s.now()
	return now.Add(min(max(now.Sub(u.Created_at), firstCheck), longest))
}
