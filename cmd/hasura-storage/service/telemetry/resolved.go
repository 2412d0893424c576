package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// resolved remembers the series of each combination of labels: to find one by
// its labels again costs more than to count. There must be few combinations.
type resolved[K comparable, V any] struct {
	find  func(K) V
	known atomic.Pointer[map[K]V] // replaced, never changed

	adding sync.Mutex
}

func newResolved[K comparable, V any](find func(K) V) *resolved[K, V] {
	r := &resolved[K, V]{find: find}
	r.known.Store(&map[K]V{})
	return r
}

func (r *resolved[K, V]) at(labels K) V {
	if v, ok := (*r.known.Load())[labels]; ok {
		return v
	}
	return r.add(labels)
}

func (r *resolved[K, V]) add(labels K) V {
	r.adding.Lock()
	defer r.adding.Unlock()
	known := maps.Clone(*r.known.Load())
	v := r.find(labels)
	known[labels] = v
	r.known.Store(&known)
	return v
}
