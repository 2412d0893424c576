package triggers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/store"
)

const (
	// staleLock is after how long a locked event is taken again.
	staleLock = 30 * time.Minute
	// unknownDelay is how long an event waits whose trigger is not usable.
	unknownDelay = time.Minute
)

// queued is one event of the log that is about to be delivered.
type queued struct {
	id, trigger   string
	schema, table string
	payload       string
	created       string
	tries         int
}

// deliverEvents claims what is due and delivers it side by side, in no order.
func (e *Engine) deliverEvents(ctx context.Context) error {
	if len(e.config.Load().events) == 0 {
		return nil
	}
	claimed, err := e.claimEvents(ctx, e.freeSlots())
	if err != nil {
		return err
	}
	for _, q := range claimed {
		if !e.spawn(func() { e.deliverEvent(q) }) { //nolint:contextcheck // a delivery outlives the round that begins it
			if err := e.release(ctx, q.id); err != nil {
				return err
			}
		}
	}
	return nil
}

const pending = `delivered = 0 AND error = 0 AND archived = 0`

// moment are the parameters of what is due: the time, the time of stale
// locks, and the names of paused triggers.
func (e *Engine) moment() []any {
	now := e.now()
	return []any{text(now), text(now.Add(-staleLock)), e.paused.json()}
}

// dueEvents takes the parameters of moment.
const dueEvents = `SELECT id FROM "hdb_catalog.event_log" WHERE ` + pending + `
	AND (locked IS NULL OR locked < ?2) AND (next_retry_at IS NULL OR next_retry_at <= ?1)
	AND trigger_name NOT IN (SELECT value FROM json_each(?3))`

func (e *Engine) claimEvents(ctx context.Context, limit int) ([]queued, error) {
	args := e.moment()
	if due, err := e.any(ctx, dueEvents, args...); err != nil || !due {
		return nil, err
	}
	var out []queued
	err := e.db.Write(ctx, "", func(tx *store.Tx) error {
		rows, err := tx.QueryContext(ctx, `UPDATE "hdb_catalog.event_log" SET locked = ?1 WHERE id IN (`+dueEvents+`
			ORDER BY locked NULLS FIRST, next_retry_at NULLS FIRST, created_at LIMIT ?4)
			RETURNING id, trigger_name, schema_name, table_name, payload, created_at, tries`, append(args, limit)...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // only read
		for rows.Next() {
			var q queued
			if err := rows.Scan(&q.id, &q.trigger, &q.schema, &q.table, &q.payload, &q.created, &q.tries); err != nil {
				return err
			}
			out = append(out, q)
		}
		return rows.Err()
	})
	return out, err
}

func (e *Engine) release(ctx context.Context, id string) error {
	_, err := e.exec(ctx, `UPDATE "hdb_catalog.event_log" SET locked = NULL WHERE id = ?`, id)
	return err
}

// deliverEvent posts one event and records what came of it. A delivery that
// Close cut is no try: the event stays locked until the next Open.
func (e *Engine) deliverEvent(q queued) {
	t := e.config.Load().events[q.trigger]
	if t == nil {
		e.record(newStatement(`UPDATE "hdb_catalog.event_log" SET locked = NULL, next_retry_at = ? WHERE id = ?`,
			text(e.now().Add(unknownDelay)), q.id))
		return
	}
	body, err := q.body(t)
	if err != nil {
		e.log.Error("triggers: cannot encode an event", zap.String("event", q.id), zap.Error(err))
		return
	}
	o := e.post(e.ctx, t.target, body)
	if e.ctx.Err() != nil && !o.ok() {
		return
	}
	e.record(e.invocation(q, body, o), e.settlement(q, t, o))
}

// body is what the webhook reads.
func (q queued) body(t *eventTrigger) ([]byte, error) {
	type delivery struct {
		CurrentRetry int `json:"current_retry"`
		MaxRetries   int `json:"max_retries"`
	}
	type name struct {
		Name string `json:"name"`
	}
	return jsontext.Encode(struct {
		ID       string             `json:"id"`
		Created  string             `json:"created_at"`
		Delivery delivery           `json:"delivery_info"`
		Trigger  name               `json:"trigger"`
		Table    metadata.TableName `json:"table"`
		Event    json.RawMessage    `json:"event"`
	}{q.id, clock(q.created).Format("2006-01-02T15:04:05.999999"), delivery{q.tries, t.retries}, name{q.trigger},
		metadata.TableName{Schema: q.schema, Name: q.table}, json.RawMessage(q.payload)})
}

// settlement writes what becomes of an event after a try.
func (e *Engine) settlement(q queued, t *eventTrigger, o outcome) statement {
	const set = `UPDATE "hdb_catalog.event_log" SET locked = NULL, tries = tries + 1, `
	if o.ok() {
		return newStatement(set+`delivered = 1, next_retry_at = NULL WHERE id = ?`, q.id)
	}
	at, again := o.next(t.target, q.tries, e.now())
	e.log.Warn("triggers: a delivery failed", zap.String("trigger", q.trigger), zap.String("event", q.id),
		zap.Int("try", q.tries), zap.Int("status", o.status), zap.NamedError("cause", o.err), zap.Bool("again", again))
	if again {
		return newStatement(set+`next_retry_at = ? WHERE id = ?`, text(at), q.id)
	}
	return newStatement(set+`error = 1, next_retry_at = NULL WHERE id = ?`, q.id)
}

// invocation writes a try into the log of invocations.
func (e *Engine) invocation(q queued, body []byte, o outcome) statement {
	status, response := o.logged()
	return newStatement(`INSERT INTO "hdb_catalog.event_invocation_logs"(id, trigger_name, event_id, status, request, response, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, newID(), q.trigger, q.id, status, loggedRequest(body), string(response), text(e.now()))
}

// statement is SQL with its parameters.
type statement struct {
	query string
	args  []any
}

func newStatement(query string, args ...any) statement { return statement{query, args} }

// record writes the end of a delivery in one transaction, also while the
// engine is closing: what was delivered must not be forgotten.
func (e *Engine) record(list ...statement) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), recordLimit)
	defer cancel()
	err := e.db.Write(ctx, "", func(tx *store.Tx) error {
		for _, s := range list {
			if _, err := tx.Exec(ctx, s.query, s.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		e.log.Error("triggers: cannot record a delivery", zap.Error(err))
	}
}

// recordLimit bounds the wait for the database.
const recordLimit = 10 * time.Second

// errNoEvent words a missing event.
func errNoEvent(id string) error { return fmt.Errorf("event with id %q does not exist", id) }
