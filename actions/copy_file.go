package actions

import (
	"context"
	"errors"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// CopyFile makes a new file of the bytes of one that the session may select,
// inside the store. A copy that takes longer than the call goes on; a repeat
// with the same newId, or completing its uploadId, joins it.
func (s *Storage) CopyFile(ctx context.Context, as Session, in CopyFile) (File, error) {
	caller, err := s.as(as)
	if err != nil {
		return File{}, err
	}
	source, err := s.copySourceOf(ctx, as, in)
	if err != nil {
		return File{}, err
	}
	if err := s.scanner.admit(int64(deref(source.Size))); err != nil {
		return File{}, err
	}
	u, create, err := s.draftCopy(as, source, in)
	if err != nil {
		return File{}, err
	}
	drafts := []graphql.UploadValues{u}
	if err := s.openUploads(ctx, drafts); err != nil {
		return File{}, err
	}
	if err := s.insertFiles(ctx, caller, drafts, []CreateUpload{create}); err != nil {
		return s.copyRefused(ctx, as, caller, u, err)
	}
	if _, err := s.tickets(ctx, drafts); err != nil {
		return File{}, err
	}
	return s.CompleteUpload(ctx, as, CompleteUpload{UploadID: u.ID})
}

func (s *Storage) copySourceOf(ctx context.Context, as Session, in CopyFile) (*graphql.File, error) {
	id, err := validID("id", in.ID)
	if err != nil {
		return nil, err
	}
	if in.Name != nil {
		if err := validName(*in.Name); err != nil {
			return nil, err
		}
	}
	return s.visibleFile(ctx, as, id)
}

// draftCopy makes the upload of a copy, and what the caller inserts for it.
func (s *Storage) draftCopy(as Session, source *graphql.File, in CopyFile) (graphql.UploadValues, CreateUpload, error) {
	id := newID()
	if in.NewID != nil {
		var err error
		if id, err = validID("newId", *in.NewID); err != nil {
			return graphql.UploadValues{}, CreateUpload{}, err
		}
	}
	create := CreateUpload{BucketID: in.BucketID, Name: deref(source.Name), MimeType: source.MimeType}
	if create.MimeType != nil && !isMediaType(*create.MimeType) { // an old row may have anything
		create.MimeType = nil
	}
	if in.Name != nil {
		create.Name = *in.Name
	}
	key := s.keys.of(source.Id, source.ObjectKey)
	u := s.newUpload(as, kindCopy, id, nil)
	u.BucketID, u.Name, u.Size, u.MimeType = create.BucketID, &create.Name, int64(deref(source.Size)), create.MimeType
	if in.NewID != nil {
		u.ChosenID, u.BucketID = true, nil
	}
	u.SHA256, u.SourceID, u.SourceKey, u.IfMatch = source.Sha256, &source.Id, &key, source.Etag
	return u, create, nil
}

// copyRefused ends a copy whose row was not written. One with the same newId
// and source that is under way is joined.
func (s *Storage) copyRefused(ctx context.Context, as Session, caller graphql.Caller, u graphql.UploadValues, cause error) (File, error) {
	if !graphql.Undone(cause) && !has(cause, NotAllowed) {
		return File{}, hasuraError(cause)
	}
	s.withdraw(ctx, []graphql.UploadValues{u})
	if !errors.Is(cause, graphql.ErrConflict) {
		return File{}, hasuraError(cause)
	}
	before, err := s.copyUnderWay(ctx, caller, u)
	switch {
	case err != nil:
		return File{}, err
	case before != "":
		return s.CompleteUpload(ctx, as, CompleteUpload{UploadID: before})
	}
	return File{}, s.conflictOfCreate(ctx, []graphql.UploadValues{u}, cause)
}

// copyUnderWay returns the id of the upload that the same call began before, "" if
// there is none.
func (s *Storage) copyUnderWay(ctx context.Context, caller graphql.Caller, u graphql.UploadValues) (string, error) {
	if !u.ChosenID || s.nameless(u.Session) {
		return "", nil
	}
	other, err := s.creationOf(ctx, u.FileID)
	if err != nil || other == nil || other.Kind != kindCopy {
		return "", err
	}
	if deref(other.Session_key) != u.SessionKey || deref(other.Source_key) != *u.SourceKey {
		return "", nil
	}
	if own, err := s.isFor(ctx, caller, *other); err != nil || !own {
		return "", err
	}
	return other.Id, nil
}

// copySource copies the version that was the source when the copy was asked for.
func (s *Storage) copySource(ctx context.Context, u upload) (s3.Object, error) {
	_, err := s.store.Copy(ctx, deref(u.Source_key), u.key(), s3.CopyOptions{
		IfMatch: deref(u.If_match), ContentType: u.contentType(), Size: u.size(),
	})
	if gone(err) {
		return s3.Object{}, Errorf(Conflict, "the source was replaced or deleted while it was copied").Because(err)
	}
	if err != nil {
		return s3.Object{}, storeError(err)
	}
	o, err := s.store.Stat(ctx, u.key())
	if err != nil {
		return s3.Object{}, storeError(err)
	}
	return o, sized(u, o)
}
