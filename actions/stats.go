package actions

import (
	"maps"
	"sync"
)

// Stats are what a Storage has done since New, and what it holds now.
type Stats struct {
	// Uploads counts what became of uploads. What several instances do, each
	// counts for itself.
	Uploads map[UploadEvent]int64
	// GarbageRemoved and FilesExpired count rows that were worked off.
	GarbageRemoved, FilesExpired int64

	Variants, Files CacheStats
	// ImageMemory is what transforms use now, in bytes, ImageQueue how many wait for it.
	ImageMemory, ImageQueue int64
}

// UploadEvent is something that happened to an upload. Kind is create, replace
// or copy, and rest where one that a request by REST had begun was given up.
type UploadEvent struct{ Kind, Event string }

// The events of uploads. Each opened one sees one of the next four, at whichever
// instance; swept is counted besides where it was the sweep that ended it.
const (
	UploadOpened    = "opened"
	UploadCompleted = "completed"
	UploadAborted   = "aborted"
	UploadWithdrawn = "withdrawn" // Hasura refused the file's row
	UploadInfected  = "infected"
	UploadSwept     = "swept"
)

// CacheStats are of one cache in memory. Bytes and Limit are in bytes.
type CacheStats struct{ Hits, Misses, Bytes, Limit int64 }

// Stats is cheap and may be called at any time.
func (s *Storage) Stats() Stats {
	stats := s.counts.read()
	stats.Variants, stats.Files = s.variants.cache.stats(), s.small.stats()
	stats.ImageMemory, stats.ImageQueue = s.variants.pool.Load()
	_, animations := s.variants.slow.Load()
	stats.ImageQueue += animations
	return stats
}

// counts are of what does not happen for every download.
type counts struct {
	mu  sync.Mutex
	all Stats
}

func newCounts() *counts { return &counts{all: Stats{Uploads: map[UploadEvent]int64{}}} }

func (c *counts) upload(kind, event string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Uploads[UploadEvent{kind, event}]++
}

func (c *counts) garbage(rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.GarbageRemoved += int64(rows)
}

func (c *counts) expired(files int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.FilesExpired += int64(files)
}

func (c *counts) read() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := c.all
	stats.Uploads = maps.Clone(stats.Uploads)
	return stats
}
