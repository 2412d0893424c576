package actions

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql"
)

const (
	garbageAge  = time.Minute // what is younger is left to the event that reports it
	garbagePage = 200
)

// FileGone works off the garbage of one file: its row was deleted or names
// another object now. The event only says where to look; what to delete is
// decided by what is in the tables now, so events may be late, doubled or lost.
func (s *Storage) FileGone(ctx context.Context, e FileEvent) error {
	id, err := validID("id", e.ID)
	if err != nil {
		return err
	}
	for {
		// Admin: garbage is the service's own.
		page, err := graphql.FileGarbage(ctx, s.hasura.Admin(), id, s.now(), garbagePage)
		if err != nil {
			return hasuraError(err)
		}
		if err := s.workOff(ctx, page.Garbage); err != nil || len(page.Garbage) < garbagePage {
			return err
		}
	}
}

// workOff deletes the objects and variants that the rows report, as far as
// nobody names them, and then the rows.
func (s *Storage) workOff(ctx context.Context, rows []graphql.Garbage) error {
	if len(rows) == 0 {
		return nil
	}
	var ids, keys, files []string
	owners := map[string]string{}
	for _, row := range rows {
		file := row.File_id
		key := s.keys.of(file, row.Object_key)
		ids, keys, files = append(ids, row.Id), append(keys, key), append(files, file)
		owners[key] = file
	}
	named, err := s.namedKeys(ctx, keys, files)
	if err != nil {
		return err
	}
	doomed, err := s.staleVariants(ctx, files, named)
	if err != nil {
		return err
	}
	for key, file := range owners {
		if !named.has(key) && s.keys.owns(key, file) {
			doomed = append(doomed, key)
		}
	}
	if err := s.store.Delete(ctx, doomed...); err != nil {
		return storeError(err)
	}
	if err := s.purgeCaches(ctx, files); err != nil {
		return err
	}
	done, err := graphql.DropGarbage(ctx, s.hasura.Admin(), ids)
	if err != nil {
		return hasuraError(err)
	}
	s.counts.garbage(done.Dropped.Affected_rows)
	return nil
}

// purgeCaches tells caches to forget the files. The garbage stays until they
// have confirmed, so that a cache that was away is told later.
func (s *Storage) purgeCaches(ctx context.Context, files []string) error {
	if s.purge == nil {
		return nil
	}
	ids := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(files))), func(id string) bool { return id == "" })
	if err := s.purge(ctx, ids); err != nil {
		return Errorf(StorageUnavailable, "a cache could not be purged").Because(err)
	}
	return nil
}

// staleVariants lists the pictures made of any version of the files but the present one.
func (s *Storage) staleVariants(ctx context.Context, files []string, named named) ([]string, error) {
	var stale []string
	seen := map[string]bool{}
	for _, id := range files {
		if seen[id] {
			continue
		}
		seen[id] = true
		s.variants.forget(id, named.versions[id])
		for o, err := range s.store.List(ctx, s.keys.variants(id), "") {
			if err != nil {
				return nil, storeError(err)
			}
			if s.keys.variantVersion(o.Key, id) != named.versions[id] {
				stale = append(stale, o.Key)
			}
		}
	}
	return stale, nil
}

// named is what rows and open uploads say of keys and files at one moment.
type named struct {
	keys     map[string]bool
	versions map[string]string // of the uploaded files, by id
}

func (n named) has(key string) bool { return n.keys[key] }

func (s *Storage) namedKeys(ctx context.Context, keys, files []string) (named, error) {
	// Admin: what may be deleted depends on every row, not on what a caller sees.
	open, err := graphql.OpenKeys(ctx, s.hasura.Admin(), keys)
	if err != nil {
		return named{}, hasuraError(err)
	}
	n := newNamed()
	for _, u := range open.Uploads {
		n.keys[deref(u.Object_key)] = true
	}
	return n, s.addFiles(ctx, n, keys, files)
}

// addFiles notes what rows of files name. It comes after the uploads were read:
// what these no longer name, the files name by then.
func (s *Storage) addFiles(ctx context.Context, n named, keys, files []string) error {
	// Admin: as above.
	found, err := graphql.FilesNaming(ctx, s.hasura.Admin(), keys, files)
	if err != nil {
		return hasuraError(err)
	}
	for _, f := range found.Files {
		if !deref(f.IsUploaded) { // names nothing yet, nhost's key neither
			continue
		}
		n.keys[s.keys.of(f.Id, f.ObjectKey)] = true
		n.versions[f.Id] = s.keys.version(&graphql.File{ObjectKey: f.ObjectKey, Etag: f.Etag})
	}
	return nil
}

func newNamed() named { return named{keys: map[string]bool{}, versions: map[string]string{}} }

// goneSoon works off the garbage of a file without keeping anybody waiting: a
// service alone gets no events. What fails is left to the event and the sweep.
func (s *Storage) goneSoon(ctx context.Context, id string) {
	s.background.run(ctx, time.Minute, func(ctx context.Context) error { return s.FileGone(ctx, FileEvent{ID: id}) }, func(err error) {
		if err != nil {
			s.log.Warn("garbage is left to the sweep", zap.String("file_id", id), zap.Error(err))
		}
	})
}
