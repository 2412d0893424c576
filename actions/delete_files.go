package actions

import (
	"context"

	"hasura-storage/graphql"
)

// DeleteFiles deletes rows as the caller. The bytes go with the rows: triggers
// report them as garbage in the same transaction.
func (s *Storage) DeleteFiles(ctx context.Context, as Session, in DeleteFiles) (Deleted, error) {
	caller, err := s.as(as)
	if err != nil {
		return Deleted{}, err
	}
	ids, err := validIDs("ids", in.IDs)
	if err != nil {
		return Deleted{}, err
	}
	answer := Deleted{Deleted: []string{}, NotFound: []string{}}
	if len(ids) == 0 {
		return answer, nil
	}
	done, err := graphql.DeleteFiles(ctx, caller, ids)
	if err != nil {
		return Deleted{}, hasuraError(err)
	}
	gone := map[string]bool{}
	for _, f := range done.Deleted.Returning {
		gone[f.Id] = true
	}
	for _, id := range ids {
		if gone[id] {
			answer.Deleted = append(answer.Deleted, id)
		} else {
			answer.NotFound = append(answer.NotFound, id)
		}
	}
	return answer, nil
}
