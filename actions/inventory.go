package actions

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// inventoryPage is how many keys or rows are looked up at a time: what a store
// or a table holds never has to fit into memory.
const inventoryPage = 200

// rollbackAge spares what is younger at nhost's key: RollbackKeys copies an object
// there first and lets the row name it then.
const rollbackAge = time.Hour

// place is what a key is by the grammar of keys.
type place int

const (
	foreign place = iota // not of our grammar: reported, never touched
	object
	legacyObject // in nhost's layout: RollbackKeys alone writes there
	staging
	variantOf
)

// stray is something at the store that no row and no upload names.
type stray struct {
	key   string
	place place
}

// strays are those of one page, and how many objects the page has.
type strays struct {
	found   []stray
	objects int
}

// placeOf takes a key apart.
func (k keys) placeOf(key string) (p place, id, version string) {
	if rest, ok := strings.CutPrefix(key, k.beside("-variants/")); ok {
		parts := strings.Split(rest, "/")
		if len(parts) == 3 && isID(parts[0]) {
			return variantOf, parts[0], parts[1]
		}
		return foreign, "", ""
	}
	if rest, ok := strings.CutPrefix(key, k.beside("-staging/")); ok {
		if isVersion(rest) {
			return staging, "", rest
		}
		return foreign, "", ""
	}
	id = key[strings.LastIndexByte(key, '/')+1:]
	switch {
	case !isID(id) || !k.owns(key, id):
		return foreign, "", ""
	case key == k.below(id):
		return legacyObject, id, ""
	}
	return object, id, ""
}

func isID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }

// prefixes are where the service keeps anything. Without a root folder the first
// is the whole bucket and holds the others.
func (k keys) prefixes() []string {
	if k.root == "" {
		return []string{""}
	}
	return []string{k.below(""), k.beside("-staging/"), k.beside("-variants/")}
}

// strays walks the store and yields what nobody names, as far as it is older
// than age, and every foreign key. An error ends the walk.
func (s *Storage) strays(ctx context.Context, age time.Duration) iter.Seq2[stray, error] {
	return func(yield func(stray, error) bool) {
		for page, err := range s.strayPages(ctx, age) {
			if err != nil {
				yield(stray{}, err)
				return
			}
			for _, one := range page.found {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// strayPages does so a page at a time, so that what is found can be dealt with
// while it is true.
func (s *Storage) strayPages(ctx context.Context, age time.Duration) iter.Seq2[strays, error] {
	return func(yield func(strays, error) bool) {
		before := s.now().Add(-age)
		for _, prefix := range s.keys.prefixes() {
			for page, err := range pages(s.store.List(ctx, prefix, "")) {
				if err != nil {
					yield(strays{}, storeError(err))
					return
				}
				found, err := s.straysOf(ctx, page, before)
				if !yield(strays{found: found, objects: len(page)}, err) || err != nil {
					return
				}
			}
		}
	}
}

// pages gathers objects. An error comes alone, as the last thing.
func pages(objects iter.Seq2[s3.Object, error]) iter.Seq2[[]s3.Object, error] {
	return func(yield func([]s3.Object, error) bool) {
		var page []s3.Object
		for o, err := range objects {
			if err != nil {
				yield(nil, err)
				return
			}
			if page = append(page, o); len(page) == inventoryPage {
				if !yield(page, nil) {
					return
				}
				page = nil
			}
		}
		if len(page) > 0 {
			yield(page, nil)
		}
	}
}

// straysOf picks from one page what nobody names.
func (s *Storage) straysOf(ctx context.Context, page []s3.Object, before time.Time) ([]stray, error) {
	keys, files := []string{}, []string{} // never null
	for _, o := range page {
		keys = append(keys, o.Key)
		if _, id, _ := s.keys.placeOf(o.Key); id != "" {
			files = append(files, id)
		}
	}
	// Admin: what is abandoned depends on every row.
	uploads, err := graphql.KeysOfUploads(ctx, s.hasura.Admin(), keys)
	if err != nil {
		return nil, hasuraError(err)
	}
	n := newNamed()
	for _, u := range uploads.Uploads {
		n.keys[deref(u.Object_key)], n.keys[deref(u.Staging_key)] = true, true
	}
	if err := s.addFiles(ctx, n, keys, files); err != nil {
		return nil, err
	}
	var strays []stray
	for _, o := range page {
		p, id, version := s.keys.placeOf(o.Key)
		kept := n.has(o.Key) || p == variantOf && n.versions[id] == version
		if p == foreign || !kept && o.LastModified.Before(s.settledBefore(p, before)) {
			strays = append(strays, stray{key: o.Key, place: p})
		}
	}
	return strays, nil
}

// settledBefore is the time before which an unnamed object was written that is
// nobody's: before, and at nhost's keys rollbackAge ago at the latest.
func (s *Storage) settledBefore(p place, before time.Time) time.Time {
	if settled := s.now().Add(-rollbackAge); p == legacyObject && settled.Before(before) {
		return settled
	}
	return before
}

// stillStrays looks once more at what a walk has found, right before it is
// deleted: a rollback may have copied an object there anew, or let a row name it.
func (s *Storage) stillStrays(ctx context.Context, found []stray) ([]stray, error) {
	objects := make([]s3.Object, len(found)) // as old as can be: the walk has seen their age
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(16)
	for i, one := range found {
		objects[i].Key = one.key
		if one.place != legacyObject {
			continue
		}
		work.Go(func() error {
			o, err := s.store.Stat(workCtx, one.key)
			if errors.Is(err, s3.ErrNotFound) { // what comes now is young
				objects[i].LastModified = s.now()
				return nil
			}
			objects[i].LastModified = o.LastModified
			return storeError(err)
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	return s.straysOf(ctx, objects, s.now())
}

// broken walks the rows that say they are uploaded and yields those whose object
// is missing, as far as they have not changed for age.
func (s *Storage) broken(ctx context.Context, age time.Duration) iter.Seq2[graphql.UploadedFilesFiles, error] {
	return func(yield func(graphql.UploadedFilesFiles, error) bool) {
		before, after := s.now().Add(-age), uuid.Nil.String()
		for {
			// Admin: the inventory is of all rows.
			page, err := graphql.UploadedFiles(ctx, s.hasura.Admin(), after, before, inventoryPage)
			if err != nil {
				yield(graphql.UploadedFilesFiles{}, hasuraError(err))
				return
			}
			missing, err := s.missingOf(ctx, page.Files)
			if err != nil {
				yield(graphql.UploadedFilesFiles{}, err)
				return
			}
			for i, f := range page.Files {
				if missing[i] && !yield(f, nil) {
					return
				}
			}
			if len(page.Files) < inventoryPage {
				return
			}
			after = page.Files[len(page.Files)-1].Id
		}
	}
}

// missingOf tells for each row whether its object is missing.
func (s *Storage) missingOf(ctx context.Context, files []graphql.UploadedFilesFiles) ([]bool, error) {
	missing := make([]bool, len(files))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(16)
	for i, f := range files {
		work.Go(func() error {
			key := s.keys.of(f.Id, f.ObjectKey)
			_, err := s.store.Stat(ctx, key)
			if !errors.Is(err, s3.ErrNotFound) {
				return storeError(err)
			}
			now, err := s.file(ctx, f.Id) // a replace may have come between
			missing[i] = err == nil && now != nil && s.keys.of(now.Id, now.ObjectKey) == key
			return err
		})
	}
	return missing, work.Wait()
}
