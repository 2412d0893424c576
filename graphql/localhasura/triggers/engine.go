// Package triggers delivers event and cron triggers as Hasura does: from a
// durable log, at least once, with retries.
//
// SQLite triggers note every change of a watched table in the mutation's own
// transaction (capture.go). Flush, called after each statement, turns the
// notes into events (flush.go). A loop posts what is due (deliver.go). So an
// event exists exactly if the change was committed, and survives a kill.
package triggers

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/store"
	"hasura-storage/graphql/localhasura/webhook"
)

// Options of an Engine; DB and Env are needed.
type Options struct {
	// DB is where the tables of the metadata live; the engine's own tables
	// are made there as well. It must have the table hdb_catalog.hasura_user.
	DB *store.DB
	// Env expands templates in webhook addresses and headers.
	Env metadata.Env
	// Log gets one line per failed delivery; nil logs nothing.
	Log *zap.Logger
	// Now is the clock of schedules and retries; nil is the real one.
	Now func() time.Time
	// Interval is how often due work is looked for without being woken;
	// 0 = one second, Hasura's own for events.
	Interval time.Duration
	// Concurrency limits deliveries at the same time; 0 = 100, as in Hasura.
	Concurrency int
}

// Engine keeps the log and delivers from it. It is safe for concurrent use.
type Engine struct {
	db       *store.DB
	env      metadata.Env
	log      *zap.Logger
	now      func() time.Time
	interval time.Duration
	// stringify makes texts of numbers that JavaScript cannot hold, as
	// HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES says.
	stringify bool
	client    *http.Client
	planned   atomic.Pointer[time.Time] // when cron events were planned last; nil = plan now

	config  atomic.Pointer[config]
	paused  names // of triggers whose delivery waits
	slots   chan struct{}
	wake    chan struct{}
	running sync.WaitGroup // deliveries
	loop    sync.WaitGroup
	ctx     context.Context //nolint:containedctx // of deliveries, which outlive requests; ends with Close
	cancel  context.CancelFunc
	stop    chan struct{}
	once    sync.Once
}

// Open makes the engine's tables where they are missing and takes up again
// what an earlier process left in the middle. Nothing is delivered before
// Start.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{
		db: o.DB, env: o.Env, log: o.Log, now: o.Now, interval: o.Interval,
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
		stringify: o.Env("HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES") == "true",
	}
	e.defaults(o)
	e.config.Store(&config{})
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := e.createTables(ctx); err != nil {
		return nil, err
	}
	return e, e.unlock(ctx)
}

func (e *Engine) defaults(o Options) {
	if e.log == nil {
		e.log = zap.NewNop()
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.interval == 0 {
		e.interval = time.Second
	}
	if o.Concurrency == 0 {
		o.Concurrency = 100
	}
	e.slots = make(chan struct{}, o.Concurrency)
	e.client = webhook.NewClient(o.Concurrency)
}

// Start begins to deliver.
func (e *Engine) Start() {
	e.loop.Go(func() {
		tick := time.NewTicker(e.interval)
		defer tick.Stop()
		for {
			e.round(e.ctx)
			select {
			case <-e.stop:
				return
			case <-e.wake:
			case <-tick.C:
			}
		}
	})
}

// Wake makes the loop look for due work at once: call it after a commit.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default: // it is awake already
	}
}

// patience is how long Close waits for deliveries that are under way.
const patience = 2 * time.Second

// Close stops. Deliveries that do not end within two seconds are cut and
// happen again after the next Open.
func (e *Engine) Close() {
	e.once.Do(func() {
		close(e.stop)
		e.loop.Wait()
		cut := time.AfterFunc(patience, e.cancel)
		e.running.Wait()
		cut.Stop()
		e.cancel()
		e.client.CloseIdleConnections()
	})
}

// round does what is due now. A failure is logged; the next round tries again.
// Usually nothing is due, which one query tells: rounds follow every mutation.
func (e *Engine) round(ctx context.Context) {
	if err := e.planCron(ctx); err != nil && ctx.Err() == nil {
		e.log.Error("triggers: cannot plan cron events", zap.Error(err))
	}
	if due, err := e.any(ctx, anyNotes+" UNION ALL "+dueEvents+" UNION ALL "+dueCron, e.moment()...); err == nil && !due {
		return
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"flush changes", e.flushAll},
		{"deliver events", e.deliverEvents},
		{"deliver cron events", e.deliverCron},
	}
	for _, s := range steps {
		if err := s.do(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("triggers: cannot "+s.name, zap.Error(err))
		}
	}
}

// spawn runs a delivery in a slot; false when all slots are taken.
func (e *Engine) spawn(deliver func()) bool {
	select {
	case e.slots <- struct{}{}:
	default:
		return false
	}
	e.running.Go(func() {
		defer func() {
			<-e.slots
			e.Wake() // there may be more than there were slots
		}()
		deliver()
	})
	return true
}

// exec runs one statement in a transaction of its own and tells how many rows
// it changed.
func (e *Engine) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var n int64
	err := e.db.Write(ctx, "", func(tx *store.Tx) error {
		var err error
		n, err = tx.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

// any asks whether a query has a row, without disturbing who writes.
func (e *Engine) any(ctx context.Context, query string, args ...any) (bool, error) {
	found, err := e.db.Text(ctx, "SELECT CASE WHEN EXISTS("+query+") THEN 'yes' END", args)
	return found == "yes", err
}

func (e *Engine) freeSlots() int { return cap(e.slots) - len(e.slots) }
