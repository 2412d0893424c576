package triggers

import (
	"context"
	"fmt"
	"time"

	"hasura-storage/graphql/localhasura/store"
)

// The engine's tables. Their names are Hasura's, so that what is known about
// those holds here; event_capture is ours.
const tables = `
CREATE TABLE IF NOT EXISTS "hdb_catalog.event_capture"(
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	table_name TEXT NOT NULL, op TEXT NOT NULL,
	old_key TEXT, new_key TEXT, old TEXT, new TEXT, session TEXT);
CREATE TABLE IF NOT EXISTS "hdb_catalog.event_log"(
	id TEXT PRIMARY KEY, schema_name TEXT NOT NULL, table_name TEXT NOT NULL, trigger_name TEXT NOT NULL,
	payload TEXT NOT NULL, delivered INTEGER NOT NULL DEFAULT 0, error INTEGER NOT NULL DEFAULT 0,
	tries INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, locked TEXT, next_retry_at TEXT,
	archived INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS "hdb_catalog.event_log_pending" ON "hdb_catalog.event_log"(created_at)
	WHERE delivered = 0 AND error = 0 AND archived = 0;
CREATE TABLE IF NOT EXISTS "hdb_catalog.event_invocation_logs"(
	id TEXT PRIMARY KEY, trigger_name TEXT, event_id TEXT, status INTEGER,
	request TEXT, response TEXT, created_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS "hdb_catalog.event_invocation_logs_event" ON "hdb_catalog.event_invocation_logs"(event_id);
CREATE TABLE IF NOT EXISTS "hdb_catalog.hdb_cron_events"(
	id TEXT PRIMARY KEY, trigger_name TEXT NOT NULL, schedule TEXT NOT NULL, scheduled_time TEXT NOT NULL,
	status TEXT NOT NULL DEFAULT 'scheduled', tries INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL,
	next_retry_at TEXT, UNIQUE(trigger_name, scheduled_time));
CREATE INDEX IF NOT EXISTS "hdb_catalog.hdb_cron_events_due" ON "hdb_catalog.hdb_cron_events"(status, scheduled_time);
CREATE TABLE IF NOT EXISTS "hdb_catalog.hdb_cron_event_invocation_logs"(
	id TEXT PRIMARY KEY, event_id TEXT, status INTEGER, request TEXT, response TEXT, created_at TEXT NOT NULL);
`

func (e *Engine) createTables(ctx context.Context) error {
	if err := e.db.Write(ctx, "", func(tx *store.Tx) error { return tx.Script(ctx, tables) }); err != nil {
		return fmt.Errorf("triggers: create tables: %w", err)
	}
	return nil
}

// unlock frees what a process that died was about to deliver. No other
// process works on this database, so every lock is stale.
func (e *Engine) unlock(ctx context.Context) error {
	_, err := e.exec(ctx, `UPDATE "hdb_catalog.event_log" SET locked = NULL WHERE locked IS NOT NULL`)
	if err == nil {
		_, err = e.exec(ctx, `UPDATE "hdb_catalog.hdb_cron_events" SET status = 'scheduled' WHERE status = 'locked'`)
	}
	if err != nil {
		return fmt.Errorf("triggers: unlock: %w", err)
	}
	return nil
}

// stored is the form of times in the engine's tables: UTC, of one width, so
// that they sort as text.
const stored = "2006-01-02T15:04:05.000000"

func text(at time.Time) string { return at.UTC().Format(stored) }

// clock reads a stored time back; a text that is none becomes the zero time.
func clock(text string) time.Time {
	at, err := time.Parse(stored, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
