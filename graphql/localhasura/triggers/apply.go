package triggers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/robfig/cron/v3"

	"hasura-storage/graphql/localhasura/catalog"
	"hasura-storage/graphql/localhasura/metadata"
)

// config is the metadata as the engine needs it. It is replaced as a whole.
type config struct {
	events  map[string]*eventTrigger   // by name
	byTable map[string][]*eventTrigger // by SQLite table name, sorted as in the metadata
	crons   map[string]*cronTrigger    // by name
	columns map[string][]string        // of watched tables, by SQLite table name
}

// target is where and how a trigger is delivered.
type target struct {
	url     string
	headers http.Header
	retries int
	delay   int // seconds between tries
	timeout int // seconds
}

type eventTrigger struct {
	metadata.EventTrigger
	target
	table metadata.TableName
}

type cronTrigger struct {
	metadata.CronTrigger
	target
	tolerance int // seconds
	schedule  cron.Schedule
}

// Apply replaces the triggers by those of the metadata: it installs and drops
// SQLite triggers, archives pending events of triggers that are gone, and
// plans cron events anew where a schedule changed. A trigger that cannot work
// is left out and reported.
func (e *Engine) Apply(ctx context.Context, m *metadata.Metadata, tables *catalog.Catalog) ([]metadata.InconsistentObject, error) {
	c, watched, bad := e.build(m, tables)
	if err := e.install(ctx, watched); err != nil {
		return nil, err
	}
	if err := e.forget(ctx, m); err != nil {
		return nil, err
	}
	e.config.Store(c)
	e.planned.Store(nil)
	e.Wake()
	return bad, e.planCron(ctx)
}

// Check tells which triggers of the metadata cannot work, and changes nothing.
func (e *Engine) Check(m *metadata.Metadata, tables *catalog.Catalog) []metadata.InconsistentObject {
	_, _, bad := e.build(m, tables)
	return bad
}

func (e *Engine) build(m *metadata.Metadata, tables *catalog.Catalog) (*config, []*catalog.Table, []metadata.InconsistentObject) {
	c := &config{
		events: map[string]*eventTrigger{}, byTable: map[string][]*eventTrigger{},
		crons: map[string]*cronTrigger{}, columns: map[string][]string{},
	}
	var bad []metadata.InconsistentObject
	var watched []*catalog.Table
	for i := range m.Sources {
		for j := range m.Sources[i].Tables {
			t := &m.Sources[i].Tables[j]
			found := tables.Table(t.Table.Schema, t.Table.Name)
			if found == nil || len(t.EventTriggers) == 0 {
				continue // a missing table is reported as such
			}
			bad = append(bad, e.addEvents(c, t, found, m.Sources[i].Name)...)
			if len(c.byTable[found.SQLName]) > 0 {
				watched = append(watched, found)
			}
		}
	}
	return c, watched, append(bad, e.addCrons(c, m)...)
}

func (e *Engine) addEvents(c *config, t *metadata.Table, found *catalog.Table, source string) []metadata.InconsistentObject {
	var bad []metadata.InconsistentObject
	for _, trigger := range t.EventTriggers {
		event, err := e.newEvent(trigger, t.Table, found)
		if err == nil && c.events[trigger.Name] != nil {
			err = fmt.Errorf("event trigger with name %q already exists", trigger.Name)
		}
		if err != nil {
			bad = append(bad, metadata.Inconsistent("event_trigger",
				fmt.Sprintf("event_trigger %s in table %s in source %s", trigger.Name, t.Table, source), err.Error(),
				map[string]any{"source": source, "table": t.Table, "configuration": trigger}))
			continue
		}
		c.events[trigger.Name] = event
		if d := trigger.Definition; d.Insert != nil || d.Update != nil || d.Delete != nil {
			c.byTable[found.SQLName] = append(c.byTable[found.SQLName], event)
		}
	}
	for _, column := range found.Columns {
		c.columns[found.SQLName] = append(c.columns[found.SQLName], column.Name)
	}
	return bad
}

func (e *Engine) newEvent(t metadata.EventTrigger, name metadata.TableName, found *catalog.Table) (*eventTrigger, error) {
	if err := CheckEvent(&t); err != nil {
		return nil, err
	}
	if err := checkColumns(&t, found); err != nil {
		return nil, err
	}
	url, err := metadata.URL(t.Webhook, t.WebhookFromEnv, e.env)
	if err != nil {
		return nil, err
	}
	headers, qe := metadata.ResolveHeaders(t.Headers, e.env)
	if qe != nil {
		return nil, fmt.Errorf("%s", qe.Message)
	}
	to := target{url: url, headers: headers, retries: t.RetryConf.NumRetries, delay: t.RetryConf.IntervalSec, timeout: t.RetryConf.TimeoutSec}
	return &eventTrigger{EventTrigger: t, target: to, table: name}, nil
}

// Hasura's rules for names of event triggers.
var validName = regexp.MustCompile(`^[A-Za-z]+[A-Za-z0-9_\-]*$`)

const maxName = 42

// CheckEvent says what is wrong with an event trigger by itself, or nil.
func CheckEvent(t *metadata.EventTrigger) error {
	d := &t.Definition
	switch {
	case !validName.MatchString(t.Name):
		return errors.New("only alphanumeric and underscore and hyphens allowed")
	case len(t.Name) > maxName:
		return fmt.Errorf("event trigger name can be at most %d characters", maxName)
	case d.Insert == nil && d.Update == nil && d.Delete == nil && !d.EnableManual:
		return errors.New("atleast one amongst insert/update/delete/enable_manual spec must be provided")
	case t.Webhook != "" && t.WebhookFromEnv != "":
		return errors.New("only one of webhook or webhook_from_env should be given")
	case t.Webhook == "" && t.WebhookFromEnv == "":
		return errors.New("must provide webhook or webhook_from_env")
	}
	return nil
}

func checkColumns(t *metadata.EventTrigger, found *catalog.Table) error {
	for _, spec := range []*metadata.OperationSpec{t.Definition.Insert, t.Definition.Update, t.Definition.Delete} {
		if spec == nil {
			continue
		}
		names := spec.Columns.Names
		if spec.Payload != nil {
			names = append(slices.Clip(names), spec.Payload.Names...)
		}
		for _, name := range names {
			if found.Column(name) == nil {
				return fmt.Errorf("column %q does not exist", name)
			}
		}
	}
	return nil
}

func (e *Engine) addCrons(c *config, m *metadata.Metadata) []metadata.InconsistentObject {
	var bad []metadata.InconsistentObject
	for _, t := range m.CronTriggers {
		trigger, err := e.newCron(t)
		if err != nil {
			bad = append(bad, metadata.Inconsistent("cron_trigger", "cron_trigger "+t.Name, err.Error(), t))
			continue
		}
		c.crons[t.Name] = trigger
	}
	return bad
}

func (e *Engine) newCron(t metadata.CronTrigger) (*cronTrigger, error) {
	schedule, err := ParseSchedule(t.Schedule)
	if err != nil {
		return nil, err
	}
	url, err := metadata.Expand(t.Webhook, e.env)
	if err != nil {
		return nil, err
	}
	headers, qe := metadata.ResolveHeaders(t.Headers, e.env)
	if qe != nil {
		return nil, fmt.Errorf("%s", qe.Message)
	}
	r := t.Retry()
	to := target{url: url, headers: headers, retries: r.NumRetries, delay: r.RetryIntervalSeconds, timeout: r.TimeoutSeconds}
	return &cronTrigger{CronTrigger: t, target: to, tolerance: r.ToleranceSeconds, schedule: schedule}, nil
}

// ParseSchedule reads a cron line of five fields; it runs in UTC.
func ParseSchedule(line string) (cron.Schedule, error) {
	if strings.Contains(line, "TZ=") || len(strings.Fields(line)) != 5 {
		return nil, fmt.Errorf("cron schedule %q: expected five fields", line)
	}
	s, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse("TZ=UTC " + line)
	if err != nil {
		return nil, fmt.Errorf("cron schedule %q: %w", line, err)
	}
	return s, nil
}

// forget archives what triggers that the metadata no longer has left pending.
// A trigger that is only inconsistent keeps its events.
func (e *Engine) forget(ctx context.Context, m *metadata.Metadata) error {
	events, crons := []string{}, map[string]string{}
	for _, s := range m.Sources {
		for _, t := range s.Tables {
			for _, trigger := range t.EventTriggers {
				events = append(events, trigger.Name)
			}
		}
	}
	for _, t := range m.CronTriggers {
		crons[t.Name] = t.Schedule
	}
	_, err := e.exec(ctx, `UPDATE "hdb_catalog.event_log" SET archived = 1
		WHERE delivered = 0 AND error = 0 AND archived = 0 AND trigger_name NOT IN (SELECT value FROM json_each(?))`, jsonText(events))
	if err != nil {
		return fmt.Errorf("triggers: archive events: %w", err)
	}
	_, err = e.exec(ctx, `DELETE FROM "hdb_catalog.hdb_cron_events" AS c WHERE status = 'scheduled' AND tries = 0
		AND NOT EXISTS (SELECT 1 FROM json_each(?) AS j WHERE j.key = c.trigger_name AND j.value = c.schedule)`, jsonText(crons))
	if err != nil {
		return fmt.Errorf("triggers: drop cron events: %w", err)
	}
	return nil
}

func jsonText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null" // strings and maps of strings always encode
	}
	return string(raw)
}
