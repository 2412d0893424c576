package actions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// stripLimit is the largest picture, in bytes, whose metadata is removed.
const stripLimit = 64 << 20

func tooLargeToStrip(b *graphql.Bucket, size int64) error {
	return Errorf(FileTooBig, "the picture has %d bytes, bucket %q removes metadata and takes pictures of at most %d", size, b.Id, stripLimit).
		With("size", size).With("maxSize", stripLimit)
}

// stripped removes the metadata of a picture where the bucket says so. The
// object that was checked is not touched: what is left of it is written under a
// version of its own, to which the upload is moved before, so that whatever
// crashes between leaves nothing that nobody names.
func (s *Storage) stripped(ctx context.Context, u upload, known facts) (upload, facts, error) {
	if !u.File.Bucket.StripMetadata {
		return u, known, nil
	}
	o := s3.Object{Key: known.key, ETag: known.etag, Size: int64(known.size)}
	head, err := s.head(ctx, o)
	if err != nil || !images.Strippable(images.Sniff(head)) {
		return u, known, err
	}
	if o.Size > stripLimit {
		return u, known, tooLargeToStrip(&u.File.Bucket, o.Size)
	}
	// The whole picture and its copy lie in memory, within the bounds of all pictures.
	err = s.variants.reading(ctx, o, func(whole []byte) error {
		return s.variants.within(ctx, o.Size, func() (failed error) {
			u, known, failed = s.strip(ctx, u, whole, known)
			return failed
		})
	})
	return u, known, err
}

func (s *Storage) strip(ctx context.Context, u upload, whole []byte, known facts) (upload, facts, error) {
	bare, err := images.StripMetadata(whole)
	if err != nil {
		return u, known, imageError(err)
	}
	if bytes.Equal(bare, whole) {
		return u, known, nil
	}
	if u, err = s.move(ctx, u); err != nil {
		return u, known, err
	}
	defer s.keepLease(ctx, u)()
	written, err := s.store.Put(ctx, u.key(), bytes.NewReader(bare), int64(len(bare)), deref(known.mimeType))
	if err != nil {
		return u, known, storeError(err)
	}
	sum := sha256.Sum256(bare)
	digest := hex.EncodeToString(sum[:])
	known.key, known.etag, known.size, known.sha256 = written.Key, written.ETag, graphql.Bigint(written.Size), &digest
	return u, known, nil
}

// move gives a claim one more final key. The object at the former one becomes
// what the upload comes from, or garbage if it came from a client's PUT: that
// still has the bytes, should this claim die.
func (s *Storage) move(ctx context.Context, u upload) (upload, error) {
	former, key, staging := u.key(), s.keys.object(newVersion(), u.File_id), u.Staging_key
	garbage := []graphql.GarbageValues{}
	if staging == nil {
		staging = &former
	} else {
		garbage = append(garbage, graphql.GarbageValues{FileID: u.File_id, ObjectKey: former})
	}
	// Admin: uploads and garbage are the service's own.
	done, err := graphql.MoveUpload(ctx, s.hasura.Admin(), u.Id, former, key, staging, s.now().Add(leaseTime), garbage)
	if err != nil && !errors.Is(err, graphql.ErrUnknownOutcome) {
		return u, hasuraError(err)
	}
	if err != nil || done.Moved.Affected_rows == 0 { // sent twice, answered once, or not at all?
		now, again := s.upload(ctx, u.Id)
		if again != nil || !now.isOpen() || now.key() != key {
			return u, u.completing()
		}
	}
	u.Object_key, u.Staging_key = &key, staging
	return u, nil
}

// pass lets what was received by REST become a file: without a virus, and
// without metadata where the bucket says so.
func (r *restUploads) pass(ctx context.Context, u *restUpload, known facts) (facts, error) {
	err := r.scan(ctx, u.object)
	if has(err, VirusFound) {
		found := infected(u.upload, err)
		found.filename = u.name
		if owner := u.File.UploadedByUserId; owner != nil {
			found.session["x-hasura-user-id"] = *owner
		}
		u.finished = true
		r.quarantine(ctx, u.upload, found)
		return known, Public(err).With("file", u.name)
	}
	if err != nil {
		return known, judged(err, u.name)
	}
	u.upload, known, err = r.stripped(ctx, u.upload, known)
	u.object.Key = known.key
	return known, err
}
