package triggers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/store"
)

// ahead is how many events of a cron trigger are planned in advance at most,
// so that those of a time when nothing ran are still found. Hasura plans as
// many; here they are filled up when half of them are left.
const ahead = 100

// planInterval is how often the plan is looked at: far less than the hours
// or minutes that it reaches ahead.
const planInterval = 30 * time.Second

// planCron writes the events to come.
func (e *Engine) planCron(ctx context.Context) error {
	now := e.now()
	if last := e.planned.Load(); last != nil && now.Sub(*last).Abs() < planInterval {
		return nil
	}
	e.planned.Store(&now)
	for _, t := range e.config.Load().crons {
		if err := e.planTrigger(ctx, t); err != nil {
			return fmt.Errorf("cron trigger %q: %w", t.Name, err)
		}
	}
	return nil
}

func (e *Engine) planTrigger(ctx context.Context, t *cronTrigger) error {
	now := e.now()
	enough, err := e.any(ctx, upcoming+` LIMIT 1 OFFSET ?`, t.Name, text(now), ahead/2)
	if err != nil || enough {
		return err
	}
	last, err := e.db.Text(ctx, upcoming+` ORDER BY scheduled_time DESC LIMIT 1`, []any{t.Name, text(now)})
	if err != nil {
		return err
	}
	from := now
	if at := clock(last); !at.IsZero() {
		from = at
	}
	return e.db.Write(ctx, "", func(tx *store.Tx) error { return e.insertCron(ctx, tx, t, from) })
}

const upcoming = `SELECT scheduled_time FROM "hdb_catalog.hdb_cron_events"
	WHERE trigger_name = ? AND status = 'scheduled' AND scheduled_time > ?`

func (e *Engine) insertCron(ctx context.Context, tx *store.Tx, t *cronTrigger, from time.Time) error {
	for range ahead / 2 {
		if from = t.schedule.Next(from.UTC()); from.IsZero() {
			break // such as the 30th of February
		}
		_, err := tx.Exec(ctx, `INSERT OR IGNORE INTO "hdb_catalog.hdb_cron_events"(id, trigger_name, schedule, scheduled_time, created_at)
			VALUES (?, ?, ?, ?, ?)`, newID(), t.Name, t.Schedule, text(from), text(e.now()))
		if err != nil {
			return err
		}
	}
	return nil
}

// cronEvent is one event that is about to be delivered.
type cronEvent struct {
	id, trigger, scheduled string
	tries                  int
}

func (e *Engine) deliverCron(ctx context.Context) error {
	if len(e.config.Load().crons) == 0 {
		return nil
	}
	claimed, err := e.claimCron(ctx, e.freeSlots())
	if err != nil {
		return err
	}
	for _, c := range claimed {
		if !e.spawn(func() { e.deliverOneCron(c) }) { //nolint:contextcheck // a delivery outlives the round that begins it
			e.record(setCron(c.id, "scheduled", nil, 0)) //nolint:contextcheck // as record says
		}
	}
	return nil
}

func (e *Engine) claimCron(ctx context.Context, limit int) ([]cronEvent, error) {
	args := e.moment()
	if due, err := e.any(ctx, dueCron, args...); err != nil || !due {
		return nil, err
	}
	var out []cronEvent
	err := e.db.Write(ctx, "", func(tx *store.Tx) error {
		rows, err := tx.QueryContext(ctx, `UPDATE "hdb_catalog.hdb_cron_events" SET status = 'locked'
			WHERE id IN (`+dueCron+` ORDER BY scheduled_time LIMIT ?4)
			RETURNING id, trigger_name, scheduled_time, tries`, append(args, limit)...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // only read
		for rows.Next() {
			var c cronEvent
			if err := rows.Scan(&c.id, &c.trigger, &c.scheduled, &c.tries); err != nil {
				return err
			}
			out = append(out, c)
		}
		return rows.Err()
	})
	return out, err
}

// dueCron takes the parameters of moment.
const dueCron = `SELECT id FROM "hdb_catalog.hdb_cron_events" WHERE status = 'scheduled' AND scheduled_time <= ?1
	AND (next_retry_at IS NULL OR next_retry_at <= ?1) AND trigger_name NOT IN (SELECT value FROM json_each(?3))`

// deliverOneCron posts an event, unless it is older than the tolerance.
func (e *Engine) deliverOneCron(c cronEvent) {
	t := e.config.Load().crons[c.trigger]
	now := e.now()
	if t == nil {
		next := now.Add(unknownDelay)
		e.record(setCron(c.id, "scheduled", &next, 0))
		return
	}
	if now.Sub(clock(c.scheduled)) > time.Duration(t.tolerance)*time.Second {
		e.record(setCron(c.id, "dead", nil, 0))
		return
	}
	body, err := c.body(t)
	if err != nil {
		e.log.Error("triggers: cannot encode a cron event", zap.Error(err))
		return
	}
	o := e.post(e.ctx, t.target, body)
	if e.ctx.Err() != nil && !o.ok() {
		return
	}
	e.record(e.cronInvocation(c, body, o), e.cronSettlement(c, t, o))
}

func (c cronEvent) body(t *cronTrigger) ([]byte, error) {
	payload := t.Payload
	if payload == nil {
		payload = json.RawMessage("null")
	}
	return jsontext.Encode(struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Scheduled string          `json:"scheduled_time"`
		Payload   json.RawMessage `json:"payload"`
		Comment   *string         `json:"comment,omitempty"`
	}{c.id, c.trigger, clock(c.scheduled).Format("2006-01-02T15:04:05.999999Z"), payload, t.Comment})
}

// cronSettlement writes what becomes of an event after a try.
func (e *Engine) cronSettlement(c cronEvent, t *cronTrigger, o outcome) statement {
	if o.ok() {
		return setCron(c.id, "delivered", nil, 1)
	}
	at, again := o.next(t.target, c.tries, e.now())
	e.log.Warn("triggers: a cron delivery failed", zap.String("trigger", c.trigger), zap.Int("try", c.tries),
		zap.Int("status", o.status), zap.NamedError("cause", o.err), zap.Bool("again", again))
	if again {
		return setCron(c.id, "scheduled", &at, 1)
	}
	return setCron(c.id, "error", nil, 1)
}

func setCron(id, status string, next *time.Time, tried int) statement {
	var at any
	if next != nil {
		at = text(*next)
	}
	return newStatement(`UPDATE "hdb_catalog.hdb_cron_events" SET status = ?, next_retry_at = ?, tries = tries + ? WHERE id = ?`, status, at, tried, id)
}

// cronInvocation writes a try into the log of invocations.
func (e *Engine) cronInvocation(c cronEvent, body []byte, o outcome) statement {
	status, response := o.logged()
	return newStatement(`INSERT INTO "hdb_catalog.hdb_cron_event_invocation_logs"(id, event_id, status, request, response, created_at)
		VALUES (?, ?, ?, ?, ?, ?)`, newID(), c.id, status, loggedRequest(body), string(response), text(e.now()))
}
