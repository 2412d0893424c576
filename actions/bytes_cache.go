package actions

import (
	"container/list"
	"context"
	"hash/maphash"
	"io"
	"sync"
	"time"
)

const (
	defaultFileCache = 32 << 20
	// admission is how soon a version must be asked for again to be kept.
	admission = time.Minute
	// sightings are remembered of that many versions, roughly.
	sightings = 4096
)

// bytesCache keeps the bytes of small files that are asked for again and again,
// the least recently used going first. What it keeps is one version, which
// never changes: a hit is always right, and who may have it was asked before.
//
// It holds at most twice its limit: what is kept, and what left while it was
// still being sent to slow clients. Beyond that, bytes are streamed as those of
// large files are.
type bytesCache struct {
	limit   int64
	largest int64 // size of a file that may be kept
	now     func() time.Time

	mu     sync.Mutex
	byKey  map[version]*list.Element
	recent *list.List // of *keptBytes, the latest used in front
	used   int64      // bytes that are kept
	lent   int64      // bytes that are read now, kept or not, each once
	hits   int64
	misses int64
	begun  time.Time
	seed   maphash.Seed
	seen   []sighting
}

// version names bytes that never change. The ETag is needed where other tools
// write objects in place.
type version struct{ key, etag string }

// keptBytes are those of one version.
type keptBytes struct {
	version version
	size    int64
	bytes   []byte // nil while they are loaded
	readers int
}

// sighting is that a version was asked for, by the hash of its key.
type sighting struct {
	hash uint64
	at   time.Duration // since the cache began
}

// newBytesCache returns a cache of limit bytes; one of none, or of fewer, keeps nothing.
func newBytesCache(limit int64, now func() time.Time) *bytesCache {
	return &bytesCache{
		limit: limit, largest: limit / 8, now: now, byKey: map[version]*list.Element{}, recent: list.New(),
		begun: now(), seed: maphash.MakeSeed(), seen: make([]sighting, sightings),
	}
}

// opener opens length bytes of an object from offset on; a length of 0 is to its end.
type opener = func(ctx context.Context, offset, length int64) (Body, error)

// open returns bytes of a version, which has size of them. What is
// not kept comes from fetch; the second use within a minute loads it whole.
func (c *bytesCache) open(ctx context.Context, v version, size, offset, length int64, fetch opener) (Body, error) {
	if size <= 0 || size > c.largest {
		return fetch(ctx, offset, length)
	}
	kept, load := c.find(v, size)
	if kept == nil {
		return fetch(ctx, offset, length)
	}
	if load {
		content, err := readWhole(ctx, size, fetch)
		c.loaded(kept, content)
		if err != nil {
			c.release(kept)
			return nil, err
		}
	}
	l := &lending{cache: c, kept: kept}
	l.Reset(part(kept.bytes, offset, length))
	return l, nil
}

// find lends what is kept. For a version that deserves it, it returns a new
// entry that the caller must load; while that lasts, others get nil.
func (c *bytesCache) find(v version, size int64) (kept *keptBytes, load bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[v]; e != nil {
		kept, _ = e.Value.(*keptBytes)
		if kept.bytes == nil {
			c.misses++
			return nil, false
		}
		c.recent.MoveToFront(e)
		c.lend(kept)
		c.hits++
		return kept, false
	}
	c.misses++
	if !c.again(v) || c.lent+size > c.limit {
		return nil, false
	}
	kept = &keptBytes{version: v, size: size}
	c.byKey[v] = c.recent.PushFront(kept)
	c.lend(kept)
	return kept, true
}

func (c *bytesCache) stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Hits: c.hits, Misses: c.misses, Bytes: c.used, Limit: max(c.limit, 0)}
}

// again notes a use, and reports whether there was one shortly before.
func (c *bytesCache) again(v version) bool {
	hash, at := maphash.Comparable(c.seed, v), c.now().Sub(c.begun)
	s := &c.seen[hash%sightings]
	known := s.hash == hash && at-s.at < admission
	*s = sighting{hash, at}
	return known
}

func (c *bytesCache) lend(kept *keptBytes) {
	if kept.readers++; kept.readers == 1 {
		c.lent += kept.size
	}
}

// loaded keeps what was loaded, and makes room for it; nil takes the entry away.
func (c *bytesCache) loaded(kept *keptBytes, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept.bytes = content
	e := c.byKey[kept.version]
	if content == nil {
		c.recent.Remove(e)
		delete(c.byKey, kept.version)
		return
	}
	c.used += int64(len(content)) + overhead
	for e := c.recent.Back(); e != nil && c.used > c.limit; {
		before := e.Prev()
		c.drop(e)
		e = before
	}
}

// drop takes an entry out; one that is being loaded stays.
func (c *bytesCache) drop(e *list.Element) {
	kept, _ := e.Value.(*keptBytes)
	if kept.bytes == nil {
		return
	}
	c.recent.Remove(e)
	delete(c.byKey, kept.version)
	c.used -= int64(len(kept.bytes)) + overhead
}

func (c *bytesCache) release(kept *keptBytes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept.readers--; kept.readers == 0 {
		c.lent -= kept.size
	}
}

// readWhole loads size bytes.
func readWhole(ctx context.Context, size int64, fetch opener) ([]byte, error) {
	body, err := fetch(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	content := make([]byte, size)
	if _, err := io.ReadFull(body, content); err != nil {
		return nil, Errorf(StorageUnavailable, "the file could not be read").Because(err)
	}
	return content, nil
}

// lending is a reader of kept bytes, for one goroutine.
type lending struct {
	memory
	cache *bytesCache
	kept  *keptBytes // nil once they are given back
}

// Close gives the bytes back.
func (l *lending) Close() error {
	if l.kept != nil {
		l.cache.release(l.kept)
		l.kept = nil
	}
	return nil
}
