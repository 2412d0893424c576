package graphql

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	maxGathered = 100    // ids in one request
	maxFlights  = 8      // requests of one group on their way at once
	maxWaiting  = 10_000 // callers waiting together
)

// ErrBusy refuses a question because too many wait for their answer already.
var ErrBusy = errors.New("too many requests wait for hasura")

// gatherer asks for many ids together, as databases gather commits: while a
// request of a group is on its way, later arrivals wait for the next one. Nobody
// gets an answer to a question that was asked before his own, nothing is kept,
// and the more come at a time, the less each costs.
type gatherer[V any] struct {
	patience time.Duration // longest that a batch may take
	crew     crew

	mu      sync.Mutex
	groups  map[string]*group[V]
	waiting int
}

// fetch asks once for some ids; those without a value are missing in its answer.
// It must not hold on to ids.
type fetch[V any] func(ctx context.Context, ids []string) (map[string]V, error)

// group are the callers who may share an answer. It lives while a request of
// theirs is on its way.
type group[V any] struct {
	flights int
	next    *batch[V] // collects arrivals; nil if there are none
}

// batch is one request to be, and then its answer.
type batch[V any] struct {
	ctx    context.Context //nolint:containedctx // with the values of the first caller's alone, for traces
	ids    []string
	known  map[string]bool
	done   chan struct{} // closed when values and err stand
	values map[string]V
	err    error
}

func newGatherer[V any](patience time.Duration) *gatherer[V] {
	return &gatherer[V]{patience: patience, crew: make(crew), groups: map[string]*group[V]{}}
}

// get returns the values of ids as fetch finds them for the group named key, all
// members of which must be able to use each other's fetch. A caller whose ctx
// ends leaves alone; the others get their answer.
func (g *gatherer[V]) get(ctx context.Context, key string, ids []string, ask fetch[V]) (map[string]V, error) {
	b, err := g.join(ctx, key, ids, ask)
	if err != nil {
		return nil, err
	}
	return g.wait(ctx, b)
}

// wait is for who has joined b.
func (g *gatherer[V]) wait(ctx context.Context, b *batch[V]) (map[string]V, error) {
	defer g.leave()
	select {
	case <-b.done:
		return b.values, b.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join puts ids into the batch that collects, and lets it go at once if nothing
// of the group is on its way, or if it is full.
func (g *gatherer[V]) join(ctx context.Context, key string, ids []string, ask fetch[V]) (*batch[V], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting >= maxWaiting {
		return nil, ErrBusy
	}
	g.waiting++
	members := g.groups[key]
	if members == nil {
		members = &group[V]{}
		g.groups[key] = members
	}
	if members.next == nil {
		members.next = &batch[V]{ctx: context.WithoutCancel(ctx), known: map[string]bool{}, done: make(chan struct{})}
	}
	b := members.next
	b.add(ids)
	if members.flights == 0 || len(b.ids) >= maxGathered && members.flights < maxFlights {
		members.next = nil
		members.flights++
		g.crew.run(func() { g.fly(key, members, b, ask) })
	}
	return b, nil
}

func (b *batch[V]) add(ids []string) {
	for _, id := range ids {
		if !b.known[id] {
			b.known[id] = true
			b.ids = append(b.ids, id)
		}
	}
}

// fly asks for a batch, and then for what has come together meanwhile.
func (g *gatherer[V]) fly(key string, members *group[V], b *batch[V], ask fetch[V]) {
	for b != nil {
		ctx, cancel := context.WithTimeout(b.ctx, g.patience)
		b.values, b.err = inChunks(ctx, b.ids, ask)
		cancel()
		close(b.done)
		b = g.land(key, members)
	}
}

// inChunks asks for at most maxGathered ids at a time.
func inChunks[V any](ctx context.Context, ids []string, ask fetch[V]) (map[string]V, error) {
	if len(ids) <= maxGathered {
		return ask(ctx, ids)
	}
	all := make(map[string]V, len(ids))
	for chunk := range slices.Chunk(ids, maxGathered) {
		values, err := ask(ctx, chunk)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, values)
	}
	return all, nil
}

// land returns the next batch to ask for, or nil after ending the flight.
func (g *gatherer[V]) land(key string, members *group[V]) *batch[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	next := members.next
	members.next = nil
	if next == nil {
		if members.flights--; members.flights == 0 {
			delete(g.groups, key)
		}
	}
	return next
}

func (g *gatherer[V]) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
}
