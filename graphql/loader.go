package graphql

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Loader answers the two questions of every download, for many requests
// together: may this caller see these files, and what are they. No decision is
// older than the request that uses it; there is no cache of permissions.
type Loader struct {
	client  *Client
	visible *gatherer[bool]
	files   *gatherer[*File]
	seen    *gatherer[*File] // files that the caller may select

	mu    sync.Mutex
	byKey map[string]bool // groups whose role has only file(id:)
}

// maxByKey bounds what is remembered of roles; the rest finds out again.
const maxByKey = 10_000

// NewLoader makes a Loader that asks c. All requests for one batch of callers
// together take no longer than c gives one.
func NewLoader(c *Client) *Loader {
	return &Loader{
		client: c, visible: newGatherer[bool](c.timeout), files: newGatherer[*File](c.timeout), seen: newGatherer[*File](c.timeout),
		byKey: map[string]bool{},
	}
}

// Visible tells which of the files the caller may select. Callers share a
// request only if all of their headers are equal. Errors are those of the
// generated functions, ErrBusy, and ctx's own.
func (l *Loader) Visible(ctx context.Context, caller Caller, ids []string) (map[string]bool, error) {
	key := caller.Key()
	return l.visible.get(ctx, key, ids, l.asker(key, caller))
}

func (l *Loader) asker(key string, caller Caller) fetch[bool] {
	return func(ctx context.Context, ids []string) (map[string]bool, error) { return l.ask(ctx, key, caller, ids) }
}

// VisibleFile returns the row of a file that the caller may select, whatever its
// state; nil for any other. Both questions are on their way at the same time.
// Errors are those of Visible and Files.
func (l *Loader) VisibleFile(ctx context.Context, caller Caller, id string) (*File, error) {
	key := caller.Key()
	rows, err := l.seen.get(ctx, key, []string{id}, func(ctx context.Context, ids []string) (map[string]*File, error) {
		return l.seenRows(ctx, key, caller, ids)
	})
	return rows[id], err
}

// seenRows asks both questions for the same ids at the same time. The rows may
// come with those that others ask for; the decision is the caller's own.
func (l *Loader) seenRows(ctx context.Context, key string, caller Caller, ids []string) (map[string]*File, error) {
	asked, err := l.files.join(ctx, "", ids, l.rows) // on its way from here on
	if err != nil {
		return nil, err
	}
	visible, notSeen := l.ask(ctx, key, caller, ids)
	rows, err := l.files.wait(ctx, asked)
	if err := cmp.Or(notSeen, err); err != nil {
		return nil, err
	}
	both := make(map[string]*File, len(rows))
	for id, row := range rows {
		if visible[id] {
			both[id] = row
		}
	}
	return both, nil
}

// Files returns the rows of files, whoever asks; those that do not exist are
// missing. The rows are shared: do not change them.
func (l *Loader) Files(ctx context.Context, ids []string) (map[string]*File, error) {
	return l.files.get(ctx, "", ids, l.rows)
}

func (l *Loader) rows(ctx context.Context, ids []string) (map[string]*File, error) {
	// Admin: what a file is decides nothing about who may have it.
	found, err := GetFiles(ctx, l.client.Admin(), ids)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]*File, len(found.Files))
	for i := range found.Files {
		rows[found.Files[i].Id] = &found.Files[i]
	}
	return rows, nil
}

// ask finds out by the root field that the role has, and remembers which one
// that is. A decision is never remembered.
func (l *Loader) ask(ctx context.Context, key string, caller Caller, ids []string) (map[string]bool, error) {
	first, second := askTogether, askSingly
	if l.remembered(key) {
		first, second = askSingly, askTogether
	}
	seen, err := first(ctx, caller, ids)
	if !errors.Is(err, ErrNotAllowed) {
		return seen, err
	}
	other, otherErr := second(ctx, caller, ids)
	if otherErr != nil {
		return nil, err
	}
	l.remember(key)
	return other, nil
}

func (l *Loader) remembered(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byKey[key]
}

// remember turns round which field is tried first.
func (l *Loader) remember(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey[key] {
		delete(l.byKey, key)
		return
	}
	if len(l.byKey) >= maxByKey {
		clear(l.byKey)
	}
	l.byKey[key] = true
}

// askTogether asks by files(where:). A permission's row limit may cut the answer
// short, so what is missing is asked for again until nothing new comes.
func askTogether(ctx context.Context, caller Caller, ids []string) (map[string]bool, error) {
	seen := make(map[string]bool, len(ids))
	missing := ids
	for len(missing) > 0 {
		answer, err := VisibleFiles(ctx, caller, missing)
		if err != nil {
			return nil, err
		}
		if len(answer.Files) == 0 {
			break
		}
		for _, f := range answer.Files {
			seen[f.Id] = true
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(id string) bool { return seen[id] })
	}
	return seen, nil
}

// askSingly asks by file(id:), some at a time.
func askSingly(ctx context.Context, caller Caller, ids []string) (map[string]bool, error) {
	found := make([]bool, len(ids))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(maxFlights)
	for i, id := range ids {
		work.Go(func() error {
			answer, err := VisibleFile(ctx, caller, id)
			found[i] = err == nil && answer.File != nil
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		seen[id] = found[i]
	}
	maps.DeleteFunc(seen, func(_ string, may bool) bool { return !may })
	return seen, nil
}
