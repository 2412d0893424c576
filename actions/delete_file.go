package actions

import (
	"context"
	"errors"

	"hasura-storage/graphql"
)

// DeleteFile deletes a file's row as the sender of the request; its bytes go
// with it. permits, if not nil, is asked about the version that would go.
func (s *Storage) DeleteFile(ctx context.Context, as Headers, id string, permits Precondition) error {
	id, err := validID("id", id)
	if err != nil {
		return err
	}
	caller := s.hasura.Forward(as)
	where := graphql.Condition{"id": equals(id)}
	if permits != nil {
		f, err := s.fileFor(ctx, caller, id)
		if err != nil {
			return restError(err, "select on files")
		}
		if err := permits(versionIn(f)); err != nil {
			return err
		}
		where["etag"] = equals(deref(f.Etag))
	}
	deleted, err := deleteAs(ctx, caller, where)
	if err != nil {
		return restError(hasuraError(err), "delete on files")
	}
	if deleted == 0 {
		return errNoFile
	}
	s.goneSoon(ctx, id)
	return nil
}

// deleteAs deletes what the condition finds. A role that may not select etag
// cannot name it either: then the look just before must do.
func deleteAs(ctx context.Context, caller graphql.Caller, where graphql.Condition) (int, error) {
	done, err := graphql.DeleteWhere(ctx, caller, where)
	if _, byVersion := where["etag"]; byVersion && errors.Is(err, graphql.ErrNotAllowed) {
		done, err = graphql.DeleteWhere(ctx, caller, graphql.Condition{"id": where["id"]})
	}
	if err != nil {
		return 0, err
	}
	return done.Deleted.Affected_rows, nil
}
