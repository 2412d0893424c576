package triggers

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/store"
)

// Invoke makes an event of the kind MANUAL. vars are the session variables of
// whoever asks; payload is the event's "new". It returns the event's id.
func (e *Engine) Invoke(ctx context.Context, name string, payload json.RawMessage, vars map[string]string) (string, *qerr.Error) {
	t := e.config.Load().events[name]
	if t == nil {
		return "", qerr.Newf(qerr.NotExists, "event trigger with name %q does not exist", name)
	}
	if !t.Definition.EnableManual {
		return "", qerr.New(qerr.NotSupported, "manual mode is not enabled for event trigger")
	}
	session, err := json.Marshal(vars)
	if err != nil {
		return "", qerr.Internalf(err, "internal error")
	}
	id := newID()
	event := &eventBody{Op: "MANUAL", Variables: session, Data: eventData{New: payload}}
	err = e.db.Write(ctx, "", func(tx *store.Tx) error { return e.insertEvent(ctx, tx, id, t, event) })
	if err != nil {
		return "", qerr.Internalf(err, "internal error")
	}
	e.Wake()
	return id, nil
}

// Redeliver posts an event once more, whatever became of it, with all its
// retries. It is how tests make a duplicate.
func (e *Engine) Redeliver(ctx context.Context, id string) *qerr.Error {
	n, err := e.exec(ctx, `UPDATE "hdb_catalog.event_log"
		SET delivered = 0, error = 0, archived = 0, tries = 0, next_retry_at = NULL WHERE id = ?`, id)
	if err != nil {
		return qerr.Internalf(err, "internal error")
	}
	if n == 0 {
		return qerr.New(qerr.NotExists, errNoEvent(id).Error())
	}
	e.Wake()
	return nil
}

// Pause holds back the deliveries of an event or cron trigger; its events are
// kept in the log. Deliveries under way go on.
func (e *Engine) Pause(name string) { e.paused.set(name, true) }

// Resume ends Pause.
func (e *Engine) Resume(name string) {
	e.paused.set(name, false)
	e.Wake()
}

// names is a set of names.
type names struct {
	mu sync.Mutex
	in map[string]bool
}

func (n *names) set(name string, member bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.in == nil {
		n.in = map[string]bool{}
	}
	n.in[name] = true
	if !member {
		delete(n.in, name)
	}
}

// json lists the names as a JSON array.
func (n *names) json() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return jsonText(slices.AppendSeq([]string{}, maps.Keys(n.in)))
}

// Lose drops the pending events of a trigger, as if the webhook had never
// been called, and tells how many there were.
func (e *Engine) Lose(ctx context.Context, name string) (int, error) {
	if err := e.flushAll(ctx); err != nil {
		return 0, err
	}
	n, err := e.exec(ctx, `UPDATE "hdb_catalog.event_log" SET archived = 1 WHERE trigger_name = ? AND `+pending, name)
	return int(n), err
}

// Event is one line of the event log.
type Event struct {
	ID        string          `json:"id"`
	Trigger   string          `json:"trigger_name"`
	Payload   json.RawMessage `json:"payload"`
	Delivered bool            `json:"delivered"`
	Error     bool            `json:"error"`
	Archived  bool            `json:"archived"`
	Tries     int             `json:"tries"`
	CreatedAt string          `json:"created_at"`
}

// Events lists the log of a trigger, oldest first.
func (e *Engine) Events(ctx context.Context, trigger string) ([]Event, error) {
	rows, err := e.db.QueryContext(ctx, `SELECT id, trigger_name, payload, delivered, error, archived, tries, created_at
		FROM "hdb_catalog.event_log" WHERE trigger_name = ? ORDER BY created_at, rowid`, trigger)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // only read
	out := []Event{}
	for rows.Next() {
		var v Event
		var payload string
		if err := rows.Scan(&v.ID, &v.Trigger, &payload, &v.Delivered, &v.Error, &v.Archived, &v.Tries, &v.CreatedAt); err != nil {
			return nil, err
		}
		v.Payload = json.RawMessage(payload)
		out = append(out, v)
	}
	return out, rows.Err()
}

// Idle waits until nothing is due or under way, or ctx ends.
func (e *Engine) Idle(ctx context.Context) error {
	for {
		busy, err := e.busy(ctx)
		if err != nil || !busy {
			return err
		}
		e.Wake()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (e *Engine) busy(ctx context.Context) (bool, error) {
	now, paused := text(e.now()), e.paused.json()
	if len(e.slots) > 0 {
		return true, nil
	}
	return e.any(ctx, `SELECT 1 FROM "hdb_catalog.event_capture" UNION ALL
		SELECT 1 FROM "hdb_catalog.event_log" WHERE `+pending+`
			AND (next_retry_at IS NULL OR next_retry_at <= ?1) AND trigger_name NOT IN (SELECT value FROM json_each(?2)) UNION ALL
		SELECT 1 FROM "hdb_catalog.hdb_cron_events" WHERE status IN ('scheduled', 'locked') AND scheduled_time <= ?1
			AND (next_retry_at IS NULL OR next_retry_at <= ?1) AND trigger_name NOT IN (SELECT value FROM json_each(?2))`,
		now, paused)
}
