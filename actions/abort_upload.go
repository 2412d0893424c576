package actions

import (
	"context"

	"hasura-storage/graphql"
)

// AbortUpload ends an upload and removes what arrived, with the row of a create.
// Whoever holds the ticket may abort; an upload that has ended already answers
// aborted: false.
func (s *Storage) AbortUpload(ctx context.Context, as Session, in AbortUpload) (Aborted, error) {
	if _, err := s.as(as); err != nil {
		return Aborted{}, err
	}
	id, err := validID("uploadId", in.UploadID)
	if err != nil {
		return Aborted{}, err
	}
	u, err := s.upload(ctx, id)
	if err != nil {
		return Aborted{}, err
	}
	if !u.isOpen() {
		return Aborted{UploadID: id}, nil
	}
	closed, err := s.abort(ctx, u, graphql.Condition{})
	if err != nil {
		return Aborted{}, err
	}
	if closed {
		u.State = stateAborted
		s.cleanNow(ctx, u)
	}
	return Aborted{UploadID: id, Aborted: closed}, nil
}
