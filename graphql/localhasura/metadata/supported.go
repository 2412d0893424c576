package metadata

import (
	"encoding/json"
	"fmt"
	"strings"

	"hasura-storage/graphql/localhasura/qerr"
)

// Unsupported is nil when the local Hasura can do all that the metadata asks
// for. Otherwise it names the first feature that it cannot do and where that
// stands: a feature left out silently would make the answers wrong.
func (m *Metadata) Unsupported() *qerr.Error {
	if len(m.RemoteSchemas) > 0 {
		return qerr.Unsupported("remote schemas")
	}
	for i := range m.Sources {
		if err := m.Sources[i].unsupported(); err != nil {
			return err
		}
	}
	for i := range m.Actions {
		if err := m.Actions[i].Unsupported(); err != nil {
			return err
		}
	}
	for i := range m.CronTriggers {
		if err := m.CronTriggers[i].Unsupported(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) unsupported() *qerr.Error {
	if s.Kind != "" && s.Kind != "postgres" && s.Kind != "citus" && s.Kind != "cockroach" {
		return refuse("databases of kind "+s.Kind, "source %q", s.Name)
	}
	if len(s.Functions) > 0 {
		return refuse("functions", "source %q", s.Name)
	}
	if given(s.Customization) {
		return refuse("customization of a source", "source %q", s.Name)
	}
	for i := range s.Tables {
		if err := s.Tables[i].unsupported(); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) unsupported() *qerr.Error {
	switch {
	case len(t.ComputedFields) > 0:
		return refuse("computed fields", "table %q", t.Table.String())
	case len(t.RemoteRelationships) > 0:
		return refuse("remote relationships", "table %q", t.Table.String())
	}
	for i := range t.EventTriggers {
		if err := t.EventTriggers[i].Unsupported(); err != nil {
			return err
		}
	}
	return nil
}

// Unsupported names what the local Hasura cannot do of an action, or is nil.
func (a *Action) Unsupported() *qerr.Error {
	d := &a.Definition
	if d.Kind == Asynchronous {
		return refuse("asynchronous actions", "action %q", a.Name)
	}
	if given(d.RequestTransform) || given(d.ResponseTransform) {
		return refuse("request and response transforms", "action %q", a.Name)
	}
	return nil
}

// Unsupported names what the local Hasura cannot do of an event trigger, or
// is nil. A clean-up configuration is read and does nothing, as in Hasura CE.
func (t *EventTrigger) Unsupported() *qerr.Error {
	if given(t.RequestTransform) || given(t.ResponseTransform) {
		return refuse("request and response transforms", "event trigger %q", t.Name)
	}
	return nil
}

// Unsupported names what the local Hasura cannot do of a cron trigger, or is
// nil.
func (t *CronTrigger) Unsupported() *qerr.Error {
	if given(t.RequestTransform) || given(t.ResponseTransform) {
		return refuse("request and response transforms", "cron trigger %q", t.Name)
	}
	return nil
}

func refuse(feature, where string, args ...any) *qerr.Error {
	return qerr.Unsupported(fmt.Sprintf("%s (%s)", feature, fmt.Sprintf(where, args...)))
}

// given tells whether an optional member has a value.
func given(raw json.RawMessage) bool {
	text := strings.TrimSpace(string(raw))
	return text != "" && text != "null" && text != "{}"
}
