package actions

import (
	"context"

	"hasura-storage/graphql"
)

// visible tells which of the files the caller may select. It is asked anew for
// every request: no decision outlives the one that it was made for.
func (s *Storage) visible(ctx context.Context, caller graphql.Caller, ids []string) (map[string]bool, error) {
	may, err := s.loader.Visible(ctx, caller, ids)
	return may, hasuraError(err)
}

// fileFor returns the row of a file that the caller may select, whatever its
// state. Whether he may is asked as the caller, what it is as admin, at the same time.
func (s *Storage) fileFor(ctx context.Context, caller graphql.Caller, id string) (*graphql.File, error) {
	row, err := s.loader.VisibleFile(ctx, caller, id)
	switch {
	case err != nil:
		return nil, hasuraError(err)
	case row == nil:
		return nil, errNoFile
	default:
		return row, nil
	}
}

// file returns a file's row, nil if there is none. Whoever calls it has another
// reason to let the row be read.
func (s *Storage) file(ctx context.Context, id string) (*graphql.File, error) {
	rows, err := s.loader.Files(ctx, []string{id})
	return rows[id], hasuraError(err)
}
