package actions

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/google/uuid"

	"hasura-storage/graphql"
)

// What follows is for whoever runs the service. Each walks all objects or all
// rows, a page at a time; an error is the last thing it yields. Nothing has to be
// of some age, since what is on its way has a row already, but for what
// RollbackKeys copies: an object at nhost's key is no orphan for an hour.

// Orphan is an object of the service's that nothing names.
type Orphan struct {
	Key string
	// Foreign says that the key is of no grammar of ours: somebody else put the
	// object there, and it is never deleted.
	Foreign bool
}

// ListOrphans yields the objects that no row and no upload names.
func (s *Storage) ListOrphans(ctx context.Context) iter.Seq2[Orphan, error] {
	return func(yield func(Orphan, error) bool) {
		for one, err := range s.strays(ctx, 0) {
			if !yield(Orphan{Key: one.key, Foreign: one.place == foreign}, err) || err != nil {
				return
			}
		}
	}
}

// DeleteOrphans deletes them and yields those that are gone, and the foreign ones,
// which stay. It must not run beside RollbackKeys: looking and deleting are two
// steps, and a row may come to name an object between them.
func (s *Storage) DeleteOrphans(ctx context.Context) iter.Seq2[Orphan, error] {
	return func(yield func(Orphan, error) bool) {
		for page, err := range s.strayPages(ctx, 0) {
			var done []stray
			if err == nil {
				done, err = s.deleteStrays(ctx, page.found)
			}
			if err != nil {
				yield(Orphan{}, err)
				return
			}
			for _, one := range done {
				if !yield(Orphan{Key: one.key, Foreign: one.place == foreign}, nil) {
					return
				}
			}
		}
	}
}

// deleteStrays deletes what is ours of one page, as far as it still is a stray,
// and returns that and what is foreign.
func (s *Storage) deleteStrays(ctx context.Context, found []stray) ([]stray, error) {
	isOurs := func(one stray) bool { return one.place != foreign }
	if !slices.ContainsFunc(found, isOurs) {
		return found, nil
	}
	found, err := s.stillStrays(ctx, found)
	if err != nil {
		return nil, err
	}
	var ours []string
	for _, one := range found {
		if isOurs(one) {
			ours = append(ours, one.key)
		}
	}
	return found, storeError(s.store.Delete(ctx, ours...))
}

// FileSummary is what the lists of rows tell of a file.
type FileSummary struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	BucketID   string `json:"bucketId"`
	IsUploaded bool   `json:"isUploaded"`
}

// ListBrokenMetadata yields the rows that say they are uploaded and whose object
// is not there.
func (s *Storage) ListBrokenMetadata(ctx context.Context) iter.Seq2[FileSummary, error] {
	return s.eachBroken(ctx, func(graphql.UploadedFilesFiles) (bool, error) { return true, nil })
}

// DeleteBrokenMetadata deletes them, and yields those that are gone. One that a
// row of the project's own refers to stays.
func (s *Storage) DeleteBrokenMetadata(ctx context.Context) iter.Seq2[FileSummary, error] {
	return s.eachBroken(ctx, func(f graphql.UploadedFilesFiles) (bool, error) {
		where := graphql.Condition{"id": equals(f.Id), "isUploaded": equals(true), "objectKey": map[string]any{"_is_null": true}}
		if f.ObjectKey != nil {
			where["objectKey"] = equals(*f.ObjectKey)
		}
		// Admin: whoever runs the service asked for it.
		done, err := graphql.DeleteWhere(ctx, s.hasura.Admin(), where)
		if errors.Is(err, graphql.ErrConflict) {
			return false, nil
		}
		if err != nil {
			return false, hasuraError(err)
		}
		return done.Deleted.Affected_rows == 1, nil
	})
}

// eachBroken yields the broken rows that settle says yes to.
func (s *Storage) eachBroken(ctx context.Context, settle func(graphql.UploadedFilesFiles) (bool, error)) iter.Seq2[FileSummary, error] {
	return func(yield func(FileSummary, error) bool) {
		for f, err := range s.broken(ctx, 0) {
			told := false
			if err == nil {
				told, err = settle(f)
			}
			if err != nil {
				yield(FileSummary{}, err)
				return
			}
			if told && !yield(FileSummary{ID: f.Id, Name: deref(f.Name), BucketID: f.BucketId, IsUploaded: true}, nil) {
				return
			}
		}
	}
}

// ListNotUploaded yields the rows whose bytes have not arrived, in the order of
// their ids.
func (s *Storage) ListNotUploaded(ctx context.Context) iter.Seq2[FileSummary, error] {
	return func(yield func(FileSummary, error) bool) {
		for after := uuid.Nil.String(); ; {
			// Admin: whoever runs the service asked for it.
			page, err := graphql.NotUploaded(ctx, s.hasura.Admin(), after, inventoryPage)
			if err != nil {
				yield(FileSummary{}, hasuraError(err))
				return
			}
			for _, f := range page.Files {
				if !yield(FileSummary{ID: f.Id, Name: deref(f.Name), BucketID: f.BucketId}, nil) {
					return
				}
				after = f.Id
			}
			if len(page.Files) < inventoryPage {
				return
			}
		}
	}
}
