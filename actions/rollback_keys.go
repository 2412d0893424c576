package actions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// KeyRollback is a file whose object goes back to the key at which nhost's
// hasura-storage looks for it.
type KeyRollback struct {
	ID, From, To string
	// Left says why the file stayed as it is; "" if it did not.
	Left string
}

// ListKeyRollbacks yields the files that RollbackKeys would move, and changes nothing.
func (s *Storage) ListKeyRollbacks(ctx context.Context) iter.Seq2[KeyRollback, error] {
	return s.eachKeyed(ctx, func(context.Context, *graphql.File) (string, error) { return "", nil })
}

// RollbackKeys copies each file's object to `<root>/<id>` and lets the row name
// it there; the former object is left to garbage. A file that is replaced
// meanwhile is copied anew. It may be stopped and started again at any time, but
// must not run twice at once: the key is always the same, so a late copy would
// replace a newer one. Nor must it run beside DeleteOrphans. An error is the last
// thing it yields.
func (s *Storage) RollbackKeys(ctx context.Context) iter.Seq2[KeyRollback, error] {
	return s.eachKeyed(ctx, s.rollback)
}

const (
	rollbacksAtATime = 8
	rollbackTries    = 3
)

// eachKeyed walks the files at keys of ours and yields what settle did with
// them: why it left one, or "".
func (s *Storage) eachKeyed(ctx context.Context, settle func(context.Context, *graphql.File) (string, error)) iter.Seq2[KeyRollback, error] {
	return func(yield func(KeyRollback, error) bool) {
		for after := uuid.Nil.String(); ; {
			// Admin: whoever runs the service asked for it.
			page, err := graphql.KeyedFiles(ctx, s.hasura.Admin(), after, inventoryPage)
			if err != nil {
				yield(KeyRollback{}, hasuraError(err))
				return
			}
			done, err := s.settleKeyed(ctx, page.Files, settle)
			for _, one := range done {
				if !yield(one, nil) {
					return
				}
			}
			if err != nil {
				yield(KeyRollback{}, err)
				return
			}
			if len(page.Files) < inventoryPage {
				return
			}
			after = page.Files[inventoryPage-1].Id
		}
	}
}

// settleKeyed settles a page of files, some at a time, and returns those that it
// has settled, beside an error too. One whose former object at the same key is
// still to be deleted is left: whoever deletes it might do so after the copy.
func (s *Storage) settleKeyed(ctx context.Context, files []graphql.File, settle func(context.Context, *graphql.File) (string, error)) ([]KeyRollback, error) {
	ids := make([]string, len(files))
	for i := range files {
		ids[i] = files[i].Id
	}
	// Admin: garbage is the service's own.
	former, err := graphql.FormerObjects(ctx, s.hasura.Admin(), ids)
	if err != nil {
		return nil, hasuraError(err)
	}
	doomed := map[string]bool{}
	for _, g := range former.Garbage {
		doomed[g.File_id] = true
	}
	done := make([]KeyRollback, len(files))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(rollbacksAtATime)
	for i := range files {
		f := &files[i]
		one := KeyRollback{ID: f.Id, From: deref(f.ObjectKey), To: s.keys.below(f.Id)}
		switch {
		case doomed[f.Id]:
			one.Left = "a former object at that key is still to be deleted, try again in some minutes"
			done[i] = one
		case !s.keys.owns(one.From, f.Id):
			one.Left = "its object_key does not lie below S3_ROOT_FOLDER as keys of this service do"
			done[i] = one
		default:
			work.Go(func() (err error) {
				if one.Left, err = settle(ctx, f); err != nil {
					one.Left, err = keptBack(ctx, err)
				}
				if err == nil {
					done[i] = one
				}
				return err
			})
		}
	}
	err = work.Wait()
	return slices.DeleteFunc(done, func(one KeyRollback) bool { return one.ID == "" }), err
}

// keptBack says why one file stays. What would keep every other one back too
// stays an error.
func keptBack(ctx context.Context, err error) (left string, _ error) {
	if ctx.Err() != nil || has(err, HasuraUnavailable, Busy) || errors.Is(err, s3.ErrUnavailable) {
		return "", err
	}
	return err.Error(), nil
}

// rollback copies one file's object back and switches its row, as long as it
// is what it was when it was copied.
func (s *Storage) rollback(ctx context.Context, f *graphql.File) (left string, err error) {
	id := f.Id
	for range rollbackTries {
		former := *f.ObjectKey
		copied, err := s.copyBack(ctx, f)
		missing := gone(err)
		if err != nil && !missing {
			return "", err
		}
		if !missing {
			// Admin: whoever runs the service asked for it.
			done, err := graphql.RollbackKey(ctx, s.hasura.Admin(), id, former, copied.ETag)
			if err != nil {
				return "", hasuraError(err)
			}
			if done.RolledBack.Affected_rows == 1 {
				return "", nil
			}
		}
		f, err = s.file(ctx, id)
		switch {
		case err != nil:
			return "", err
		case f == nil: // deleted meanwhile
			return "", s.deleteUnnamed(ctx, id, s.keys.below(id))
		case !deref(f.IsUploaded) || f.ObjectKey == nil:
			return "", nil
		case missing && *f.ObjectKey == former:
			return "its object is missing", nil
		}
	}
	return "it is replaced again and again, try again", nil
}

// copyBack copies a file's object to nhost's key and looks at what stands there
// then. A copy of another size than the row's goes again.
func (s *Storage) copyBack(ctx context.Context, f *graphql.File) (s3.Object, error) {
	size, to := int64(deref(f.Size)), s.keys.below(f.Id)
	_, err := s.store.Copy(ctx, *f.ObjectKey, to, s3.CopyOptions{IfMatch: deref(f.Etag), ContentType: deref(f.MimeType), Size: size})
	if err != nil {
		return s3.Object{}, storeError(err)
	}
	o, err := s.store.Stat(ctx, to)
	if err != nil {
		return s3.Object{}, storeError(err)
	}
	if o.Size != size {
		if err := s.deleteUnnamed(ctx, f.Id, to); err != nil {
			return s3.Object{}, err
		}
		return s3.Object{}, fmt.Errorf("its object has %d bytes, not %d as its row says", o.Size, size)
	}
	return o, nil
}
