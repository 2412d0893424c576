package api

import (
	"encoding/json"
	"slices"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
	"hasura-storage/graphql/localhasura/triggers"
)

// eventArgs is the flat form of pg_create_event_trigger.
type eventArgs struct {
	onTable
	metadata.EventTrigger
	metadata.TriggerOperations
	Replace bool `json:"replace"`
}

// UnmarshalJSON reads the members level by level: the trigger has an
// UnmarshalJSON of its own, which embedding would take for all of them.
func (a *eventArgs) UnmarshalJSON(raw []byte) error {
	var rest struct {
		Replace bool `json:"replace"`
	}
	for _, into := range []any{&a.onTable, &a.EventTrigger, &a.TriggerOperations, &rest} {
		if err := json.Unmarshal(raw, into); err != nil {
			return err
		}
	}
	a.Definition = a.TriggerOperations
	a.Replace = rest.Replace
	return nil
}

func createEvent(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a eventArgs
	if err := args(raw, &a, "name", "table"); err != nil {
		return nil, err
	}
	if err := triggers.CheckEvent(&a.EventTrigger); err != nil {
		return nil, failf(qerr.ParseFailed, "%s", err)
	}
	if err := metadata.CheckHeaders(a.Headers, "$.args.headers"); err != nil {
		return nil, err
	}
	if _, err := a.find(w.draft); err != nil {
		return nil, err
	}
	at := eventTable(w.draft, a.source(), a.Name)
	if at != nil && !a.Replace {
		return nil, already("event trigger", a.Name)
	}
	if at == nil && a.Replace {
		return nil, missing("event trigger", a.Name)
	}
	return success, w.change("event_trigger", func(m *metadata.Metadata) {
		dropEvent(m, a.source(), a.Name)
		t := a.tableIn(m)
		t.EventTriggers = append(t.EventTriggers, a.EventTrigger)
	})
}

// eventTable is the table that has the event trigger, nil if none has.
func eventTable(m *metadata.Metadata, source, name string) *metadata.Table {
	s := m.Source(source)
	if s == nil {
		return nil
	}
	for i := range s.Tables {
		for _, t := range s.Tables[i].EventTriggers {
			if t.Name == name {
				return &s.Tables[i]
			}
		}
	}
	return nil
}

func dropEvent(m *metadata.Metadata, source, name string) {
	if t := eventTable(m, source, name); t != nil {
		t.EventTriggers = slices.DeleteFunc(t.EventTriggers, func(e metadata.EventTrigger) bool { return e.Name == name })
	}
}

type eventName struct {
	onTable
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload"`
}

func (w *work) knownEvent(raw json.RawMessage) (eventName, *qerr.Error) {
	var a eventName
	if err := args(raw, &a, "name"); err != nil {
		return a, err
	}
	if err := a.existing(w.draft); err != nil {
		return a, err
	}
	if eventTable(w.draft, a.source(), a.Name) == nil {
		return a, missing("event trigger", a.Name)
	}
	return a, nil
}

func deleteEvent(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := w.knownEvent(raw)
	if err != nil {
		return nil, err
	}
	return success, w.change("", func(m *metadata.Metadata) { dropEvent(m, a.source(), a.Name) })
}

func invokeEvent(w *work, raw json.RawMessage) (any, *qerr.Error) {
	a, err := w.knownEvent(raw)
	if err != nil {
		return nil, err
	}
	id, err := w.triggers.Invoke(w.ctx, a.Name, a.Payload, w.request.session.Vars)
	if err != nil {
		return nil, err.At("$.args")
	}
	return map[string]string{"event_id": id}, nil
}

func redeliverEvent(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		ID string `json:"event_id"`
	}
	if err := args(raw, &a, "event_id"); err != nil {
		return nil, err
	}
	if err := w.triggers.Redeliver(w.ctx, a.ID); err != nil {
		return nil, err.At("$.args")
	}
	return success, nil
}

func createCron(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var replace struct {
		Replace bool `json:"replace"`
	}
	var t metadata.CronTrigger
	if err := args(raw, &t, "name", "webhook", "schedule", "include_in_metadata"); err != nil {
		return nil, err
	}
	if err := args(raw, &replace); err != nil {
		return nil, err
	}
	if _, err := triggers.ParseSchedule(t.Schedule); err != nil {
		return nil, qerr.New(qerr.ParseFailed, err.Error()).At("$.args.schedule")
	}
	if cronOf(w.draft, t.Name) >= 0 && !replace.Replace {
		return nil, failf(qerr.AlreadyExists, "cron trigger with name: %s already exists", t.Name)
	}
	return success, w.change("cron_trigger", func(m *metadata.Metadata) {
		dropCron(m, t.Name)
		m.CronTriggers = append(m.CronTriggers, t)
	})
}

func cronOf(m *metadata.Metadata, name string) int {
	return slices.IndexFunc(m.CronTriggers, func(t metadata.CronTrigger) bool { return t.Name == name })
}

func dropCron(m *metadata.Metadata, name string) {
	m.CronTriggers = slices.DeleteFunc(m.CronTriggers, func(t metadata.CronTrigger) bool { return t.Name == name })
}

func deleteCron(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var a struct {
		Name string `json:"name"`
	}
	if err := args(raw, &a, "name"); err != nil {
		return nil, err
	}
	if cronOf(w.draft, a.Name) < 0 {
		return nil, failf(qerr.NotExists, "cron trigger with name: %q does not exist", a.Name)
	}
	return success, w.change("", func(m *metadata.Metadata) { dropCron(m, a.Name) })
}

func getCrons(w *work, _ json.RawMessage) (any, *qerr.Error) {
	return map[string]any{"cron_triggers": list(w.draft.CronTriggers)}, nil
}
