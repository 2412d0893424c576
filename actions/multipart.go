package actions

import (
	"context"
	"errors"

	"hasura-storage/s3"
)

// assembleParts completes an upload in parts at its final key. If an earlier
// try got that far, the object is there already and the parts are gone.
func (s *Storage) assembleParts(ctx context.Context, u upload, named []UploadedPart) (s3.Object, error) {
	if object, err := s.store.Stat(ctx, u.key()); err == nil {
		return object, sized(u, object)
	} else if !errors.Is(err, s3.ErrNotFound) {
		return s3.Object{}, storeError(err)
	}
	parts, err := s.arrivedParts(ctx, u, named)
	if err != nil {
		return s3.Object{}, err
	}
	_, refused := s.store.CompleteMultipart(ctx, u.key(), deref(u.Multipart_id), parts)
	switch {
	case errors.Is(refused, s3.ErrInvalid):
		return s3.Object{}, Errorf(UploadIncomplete, "the store does not accept the parts").Because(refused)
	case refused != nil && !errors.Is(refused, s3.ErrNotFound):
		return s3.Object{}, arrival(refused)
	}
	// The upload is not found where it was aborted, and where it was completed but
	// the answer was lost and the request repeated: the object tells.
	object, err := s.store.Stat(ctx, u.key())
	if refused != nil && errors.Is(err, s3.ErrNotFound) {
		return s3.Object{}, arrival(refused)
	}
	if err != nil {
		return s3.Object{}, storeError(err)
	}
	return object, sized(u, object)
}

// arrivedParts lists the parts at the store, every one with its right size. The
// ETags that a client names must be theirs.
func (s *Storage) arrivedParts(ctx context.Context, u upload, named []UploadedPart) ([]s3.Part, error) {
	if u.Multipart_id == nil {
		return nil, Errorf(UploadIncomplete, "no part has arrived")
	}
	arrived, err := s.partsOf(ctx, u)
	if err != nil {
		return nil, err
	}
	if len(arrived) != u.partCount() {
		return nil, Errorf(UploadIncomplete, "%d of %d parts have arrived", len(arrived), u.partCount()).
			With("arrived", len(arrived)).With("partCount", u.partCount())
	}
	for _, n := range named {
		if n.PartNumber < 1 || n.PartNumber > len(arrived) || !sameETag(arrived[n.PartNumber-1].ETag, n.ETag) {
			return nil, Errorf(UploadIncomplete, "part %d with ETag %s has not arrived", n.PartNumber, n.ETag)
		}
	}
	return arrived, nil
}

// partsOf lists the parts of the right size; one of a wrong size has not arrived.
func (s *Storage) partsOf(ctx context.Context, u upload) ([]s3.Part, error) {
	all, err := s.store.ListParts(ctx, u.key(), deref(u.Multipart_id))
	if err != nil {
		return nil, arrival(err)
	}
	right := all[:0]
	for _, p := range all {
		if p.Number <= u.partCount() && p.Size == u.lengthOf(p.Number) {
			right = append(right, p)
		}
	}
	return right, nil
}

// sameETag compares two ETags with or without their quotes.
func sameETag(a, b string) bool { return unquoted(a) == unquoted(b) }

func unquoted(etag string) string {
	if len(etag) >= 2 && etag[0] == '"' && etag[len(etag)-1] == '"' {
		return etag[1 : len(etag)-1]
	}
	return etag
}
