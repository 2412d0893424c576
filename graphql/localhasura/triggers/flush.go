package triggers

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/store"
)

// change is what one statement did to one row.
type change struct {
	seq            int64
	table, op      string
	oldKey, newKey string
	old, new       json.RawMessage // nil where the row was not
	session        json.RawMessage // nil outside Hasura
}

// Flush turns the changes noted so far into events. Call it in the
// transaction of a mutation after each statement: what the table's own
// triggers did to a row within the statement counts as part of it, as it would
// if they were Postgres's BEFORE triggers. Without the call the delivery loop
// does it, with everything since taken for one statement.
func (e *Engine) Flush(ctx context.Context, tx *store.Tx) error {
	c := e.config.Load()
	if len(c.byTable) == 0 {
		return nil
	}
	if some, err := tx.Text(ctx, anyNotes, nil); err != nil || some == "null" {
		return err
	}
	notes, err := readNotes(ctx, tx)
	if err != nil || len(notes) == 0 {
		return err
	}
	for _, change := range merge(notes) {
		for _, t := range c.byTable[change.table] {
			if event := t.event(change, c.columns[change.table]); event != nil {
				if err := e.insertEvent(ctx, tx, newID(), t, event); err != nil {
					return err
				}
			}
		}
	}
	_, err = tx.Exec(ctx, `DELETE FROM "hdb_catalog.event_capture" WHERE seq <= ?`, notes[len(notes)-1].seq)
	return err
}

const anyNotes = `SELECT 'yes' FROM "hdb_catalog.event_capture"`

// flushAll is Flush in a transaction of its own.
func (e *Engine) flushAll(ctx context.Context) error {
	if some, err := e.db.Text(ctx, anyNotes, nil); err != nil || some == "null" {
		return err
	}
	return e.db.Write(ctx, "", func(tx *store.Tx) error { return e.Flush(ctx, tx) })
}

func newID() string { return uuid.NewString() }

func readNotes(ctx context.Context, tx *store.Tx) ([]change, error) {
	rows, err := tx.QueryContext(ctx, `SELECT seq, table_name, op, coalesce(old_key, ''), coalesce(new_key, ''), old, new, session
		FROM "hdb_catalog.event_capture" ORDER BY seq`)
	if err != nil {
		return nil, fmt.Errorf("triggers: read changes: %w", err)
	}
	defer rows.Close() //nolint:errcheck // only read
	var notes []change
	for rows.Next() {
		var n change
		var before, after, session sql.NullString
		if err := rows.Scan(&n.seq, &n.table, &n.op, &n.oldKey, &n.newKey, &before, &after, &session); err != nil {
			return nil, fmt.Errorf("triggers: read changes: %w", err)
		}
		n.old, n.new, n.session = raw(before), raw(after), raw(session)
		notes = append(notes, n)
	}
	return notes, rows.Err()
}

func raw(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// merge joins the steps of a row: an update that follows an insert or update
// of the same row within the statement only changes its result.
func merge(notes []change) []change {
	type row struct{ table, key string }
	var out []change
	open := map[row]int{}
	for _, n := range notes {
		before := row{n.table, n.oldKey}
		at, known := open[before]
		if n.op != "INSERT" {
			delete(open, before)
		}
		if known && n.op == "UPDATE" {
			out[at].new, out[at].newKey = n.new, n.newKey
		} else {
			at = len(out)
			out = append(out, n)
		}
		if n.op != "DELETE" {
			open[row{n.table, n.newKey}] = at
		}
	}
	return out
}

// eventBody is the "event" member of a delivery.
type eventBody struct {
	Op        string          `json:"op"`
	Variables json.RawMessage `json:"session_variables"`
	Data      eventData       `json:"data"`
	Trace     json.RawMessage `json:"trace_context"`
}

type eventData struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// event is what the trigger makes of a change, nil if it does not listen.
func (t *eventTrigger) event(c change, columns []string) *eventBody {
	spec := t.spec(c.op)
	if spec == nil {
		return nil
	}
	before, after := members(c.old), members(c.new)
	if c.op == "UPDATE" && !differ(before, after, listed(&spec.Columns, columns)) {
		return nil
	}
	show := listed(spec.Payload, columns)
	return &eventBody{
		Op:        c.op,
		Variables: c.session,
		Data:      eventData{Old: object(before, show), New: object(after, show)},
	}
}

func (t *eventTrigger) spec(op string) *metadata.OperationSpec {
	switch op {
	case "INSERT":
		return t.Definition.Insert
	case "UPDATE":
		return t.Definition.Update
	}
	return t.Definition.Delete
}

// listed are the columns of a table, in its order, that a list names; a nil
// list names all.
func listed(c *metadata.Columns, all []string) []string {
	if c == nil || c.All {
		return all
	}
	named := map[string]bool{}
	for _, name := range c.Names {
		named[name] = true
	}
	var out []string
	for _, name := range all {
		if named[name] {
			out = append(out, name)
		}
	}
	return out
}

// members parts a row; nil stays nil.
func members(row json.RawMessage) map[string]json.RawMessage {
	if row == nil {
		return nil
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(row, &out); err != nil {
		return nil // SQLite's json_object made it
	}
	return out
}

// differ compares the texts: both images were written by the same function.
func differ(before, after map[string]json.RawMessage, columns []string) bool {
	for _, name := range columns {
		if string(before[name]) != string(after[name]) {
			return true
		}
	}
	return false
}

// object writes the columns in their order; nil for a row that was not there.
func object(row map[string]json.RawMessage, columns []string) json.RawMessage {
	if row == nil {
		return nil
	}
	out := []byte{'{'}
	for i, name := range columns {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			continue
		}
		value := row[name]
		if value == nil {
			value = json.RawMessage("null")
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}')
}

func (e *Engine) insertEvent(ctx context.Context, tx *store.Tx, id string, t *eventTrigger, event *eventBody) error {
	body, err := jsontext.Encode(event)
	if err != nil {
		return fmt.Errorf("triggers: encode event: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO "hdb_catalog.event_log"(id, schema_name, table_name, trigger_name, payload, created_at)
		VALUES (?, ?, ?, ?, ?, ?)`, id, t.table.Schema, t.table.Name, t.Name, string(body), text(e.now()))
	if err != nil {
		return fmt.Errorf("triggers: write event: %w", err)
	}
	return nil
}
