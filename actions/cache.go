package actions

import (
	"container/list"
	"strings"
	"sync"
	"time"
)

// cache keeps finished pictures in memory, the least recently used going first
// once they hold more than limit bytes together.
type cache struct {
	limit int64
	now   func() time.Time

	mu     sync.Mutex
	used   int64
	hits   int64
	misses int64
	recent *list.List // of *picture, the latest used in front
	byKey  map[string]*list.Element
}

// picture is a finished variant, or the reason why there is none.
type picture struct {
	key         string
	bytes       []byte
	contentType string
	err         error     // of bytes that cannot be decoded
	freshUntil  time.Time // afterwards the store is asked again
}

// pictureLife is how long a picture is served without asking the store.
const pictureLife = time.Minute

// overhead is what an entry costs besides its bytes, roughly.
const overhead = 512

func newCache(limit int64, now func() time.Time) *cache {
	return &cache{limit: limit, now: now, recent: list.New(), byKey: map[string]*list.Element{}}
}

// get returns the fresh picture at key, or nil.
func (c *cache) get(key string) *picture {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		c.misses++
		return nil
	}
	p := e.Value.(*picture)
	if !c.now().Before(p.freshUntil) {
		c.misses++
		c.drop(e)
		return nil
	}
	c.hits++
	c.recent.MoveToFront(e)
	return p
}

func (c *cache) stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Hits: c.hits, Misses: c.misses, Bytes: c.used, Limit: c.limit}
}

// put keeps a picture, unless it alone would take more than an eighth of the room.
func (c *cache) put(p *picture) {
	if p.cost() > c.limit/8 {
		return
	}
	p.freshUntil = c.now().Add(pictureLife)
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byKey[p.key]; old != nil {
		c.drop(old)
	}
	c.byKey[p.key] = c.recent.PushFront(p)
	c.used += p.cost()
	for c.used > c.limit {
		c.drop(c.recent.Back())
	}
}

// forget drops everything below prefix but what stands below keep.
func (c *cache) forget(prefix, keep string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.byKey {
		if strings.HasPrefix(key, prefix) && (keep == "" || !strings.HasPrefix(key, keep)) {
			c.drop(e)
		}
	}
}

func (c *cache) drop(e *list.Element) {
	p := c.recent.Remove(e).(*picture)
	delete(c.byKey, p.key)
	c.used -= p.cost()
}

func (p *picture) cost() int64 { return int64(len(p.bytes)) + overhead }
