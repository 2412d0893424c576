package actions

import (
	"context"
	"errors"
	"strings"
	"time"

	"hasura-storage/graphql"
)

// unlessInsertedTwice returns nil if the rows that an insert found were written by
// itself, the request having been sent twice on the way. Otherwise it returns
// conflict, or why it cannot tell: then nothing may be taken back.
func (s *Storage) unlessInsertedTwice(ctx context.Context, caller graphql.Caller, drafts []graphql.UploadValues, files []CreateUpload, conflict error) error {
	written, err := s.uploads(ctx, drafts)
	if err != nil {
		return cannotTell(err)
	}
	for i, u := range written {
		itself, err := s.insertedFor(ctx, caller, drafts[i], files[i], u)
		if err != nil {
			return cannotTell(err)
		}
		if !itself {
			return conflict
		}
	}
	return nil
}

// insertedFor reports whether an upload's file row was inserted for it: it is
// younger than the upload, is as it was sent and the caller's own, and no other
// upload is or was for it. Who creates a file writes his upload first, so a row of
// somebody else's has one, unless he inserts it by Hasura itself.
func (s *Storage) insertedFor(ctx context.Context, caller graphql.Caller, draft graphql.UploadValues, in CreateUpload, u upload) (bool, error) {
	f := u.File
	if f == nil || deref(f.IsUploaded) || f.CreatedAt.Before(u.Created_at) ||
		deref(f.Name) != deref(draft.Name) || int64(deref(f.Size)) != draft.Size || in.BucketID != nil && *in.BucketID != f.BucketId {
		return false, nil
	}
	// Admin: uploads are the service's own.
	all, err := graphql.UploadsOfFile(ctx, s.hasura.Admin(), f.Id)
	if err != nil || len(all.Uploads) != 1 {
		return false, err
	}
	if !draft.ChosenID { // nobody else can have it
		return true, nil
	}
	return s.isOwn(ctx, caller, f)
}

// cannotTell hides what went wrong: it is no answer to the insert, whatever it says.
func cannotTell(err error) error {
	return Errorf(HasuraUnavailable, "whether the file was created is unknown, try again").Because(errors.New(err.Error()))
}

// isOwn reports whether a row that stands where a create was to write its own is
// the work of the same caller. Anybody who may insert by Hasura itself can choose
// the same id first, and would get the bytes. A row that names its owner tells,
// where it is known who asks. Otherwise the caller has to see it and, if his role
// may update files, to be allowed this one; a caller who does not see it may have
// written it all the same, and nobody can tell.
func (s *Storage) isOwn(ctx context.Context, caller graphql.Caller, f *graphql.File) (bool, error) {
	id, known := caller.UserID()
	if owner := f.UploadedByUserId; owner != nil && known && (id == "" || strings.EqualFold(*owner, id)) {
		return id != "", nil
	}
	may, err := s.visible(ctx, caller, []string{f.Id})
	if has(err, NotAllowed) || err == nil && !may[f.Id] {
		return false, cannotTell(errUnseen)
	}
	if err != nil {
		return false, err
	}
	err = mayReplace(ctx, caller, f, graphql.FileChanges{})
	if has(err, NotAllowed) {
		return !errors.Is(err, errNoRowToUpdate), nil
	}
	return err == nil, err
}

var errUnseen = errors.New("a row with the file's id is there, which the caller does not see")

// isFor reports whether an open or committed upload's file is its own: its row was
// read back once it had been inserted, or is the caller's.
func (s *Storage) isFor(ctx context.Context, caller graphql.Caller, u upload) (bool, error) {
	if u.Bucket_id != nil { // which place wrote
		return true, nil
	}
	return s.isOwn(ctx, caller, u.File)
}

// repeated finds the open upload that an identical create of the same session
// began: its answer was lost on the way, so it is given again with fresh URLs. A
// stranger could say what anybody without a name has said, so those get none.
func (s *Storage) repeated(ctx context.Context, caller graphql.Caller, u graphql.UploadValues, in CreateUpload) (ticket Upload, ok bool, err error) {
	if in.ID == nil || s.nameless(u.Session) {
		return Upload{}, false, nil
	}
	other, err := s.creationOf(ctx, u.FileID)
	if err != nil || other == nil || other.Kind != kindCreate || !other.isOpen() || deref(other.Session_key) != u.SessionKey {
		return Upload{}, false, err
	}
	sameBucket := in.BucketID == nil || *in.BucketID == other.File.BucketId
	if !sameBucket || deref(other.Name) != in.Name || other.size() != u.Size {
		return Upload{}, false, nil
	}
	if own, err := s.isFor(ctx, caller, *other); err != nil || !own {
		return Upload{}, false, err
	}
	ticket, err = s.ticket(ctx, *other)
	return ticket, err == nil, err
}

// creationOf returns the upload that creates, or created, a file that exists; nil
// if there is none any more. Of several calls that create the same file one wins,
// and the others withdraw their uploads: until they have, nobody can tell them apart.
func (s *Storage) creationOf(ctx context.Context, fileID string) (*upload, error) {
	const looks, pause = 20, 100 * time.Millisecond
	for range looks {
		// Admin: uploads are the service's own.
		all, err := graphql.UploadsOfFile(ctx, s.hasura.Admin(), fileID)
		if err != nil {
			return nil, hasuraError(err)
		}
		var found []upload
		for _, row := range all.Uploads {
			u := upload{row}
			creates := u.Kind != kindReplace && u.File != nil
			if creates && (u.State == stateCommitted || u.isOpen() && !deref(u.File.IsUploaded)) {
				found = append(found, u)
			}
		}
		switch len(found) {
		case 0:
			return nil, nil
		case 1:
			return &found[0], nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, Errorf(Busy, "the request was given up").Because(ctx.Err())
		}
	}
	return nil, Errorf(Busy, "several calls create the file at once, try again")
}
