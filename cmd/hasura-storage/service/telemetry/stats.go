package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hasura-storage/actions"
)

// Follow adds what the service counts itself. lastSweep is when the sweep was
// last begun here.
func (t *Telemetry) Follow(stats func() actions.Stats, lastSweep func() time.Time) {
	if t == nil || t.metrics == nil {
		return
	}
	t.metrics.registry.MustRegister(&follower{stats: stats, lastSweep: lastSweep})
}

// follower reads the counts when it is asked for them.
type follower struct {
	stats     func() actions.Stats
	lastSweep func() time.Time
}

var (
	uploads     = described("uploads_total", "Uploads by kind and event: opened, completed, aborted, withdrawn, infected; swept is counted besides.", "kind", "event")
	garbage     = described("garbage_removed_total", "Rows of garbage whose bytes are gone.")
	expired     = described("files_expired_total", "Files that the sweep deleted, since their time was over.")
	lastSwept   = described("last_sweep_timestamp_seconds", "When a sweep was last begun here, or the start.")
	imageMemory = described("image_memory_bytes", "Memory that transforms use now, of IMAGE_MEMORY.")
	imageQueue  = described("image_queue", "Transforms that wait for memory.")
	cacheUses   = described("cache_requests_total", "Look-ups in memory by cache (files, variants) and result (hit, miss).", "cache", "result")
	cacheBytes  = described("cache_bytes", "Memory that a cache uses.", "cache")
	cacheLimit  = described("cache_limit_bytes", "Memory that a cache may use.", "cache")
)

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (f *follower) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{uploads, garbage, expired, lastSwept, imageMemory, imageQueue, cacheUses, cacheBytes, cacheLimit} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (f *follower) Collect(out chan<- prometheus.Metric) {
	say := func(d *prometheus.Desc, kind prometheus.ValueType, value int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, float64(value), labels...)
	}
	s := f.stats()
	for of, n := range s.Uploads {
		say(uploads, prometheus.CounterValue, n, of.Kind, of.Event)
	}
	say(garbage, prometheus.CounterValue, s.GarbageRemoved)
	say(expired, prometheus.CounterValue, s.FilesExpired)
	say(lastSwept, prometheus.GaugeValue, f.lastSweep().Unix())
	say(imageMemory, prometheus.GaugeValue, s.ImageMemory)
	say(imageQueue, prometheus.GaugeValue, s.ImageQueue)
	for name, c := range map[string]actions.CacheStats{"files": s.Files, "variants": s.Variants} {
		say(cacheUses, prometheus.CounterValue, c.Hits, name, "hit")
		say(cacheUses, prometheus.CounterValue, c.Misses, name, "miss")
		say(cacheBytes, prometheus.GaugeValue, c.Bytes, name)
		say(cacheLimit, prometheus.GaugeValue, c.Limit, name)
	}
}
