package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

const (
	defaultPatience = 5 * time.Minute
	defaultPause    = 3 * time.Second
	conflictPause   = 100 * time.Millisecond
)

// Options say which Hasura, and how much of the project.
type Options struct {
	Endpoint    string // Hasura's address, also with /v1 or /v1/graphql at its end
	AdminSecret string
	Source      string // Hasura's name of the database; default "default"
	// Services adds types, actions and triggers, by which Hasura calls the
	// service. They need HASURA_STORAGE_URL and HASURA_STORAGE_SECRET in
	// Hasura's environment.
	Services bool
	// Starter gives permissions to begin with to tables that were not tracked
	// and to actions that were not there.
	Starter bool
	// Reload says that tables may have changed without Hasura.
	Reload   bool
	Patience time.Duration // no try begins after it; default 5 minutes
	Pause    time.Duration // between two tries; default 3 s
	Log      *zap.Logger   // gets each new reason why it has to wait; nil logs nothing
}

// Report is what Apply did.
type Report struct {
	Done    []string // changes, in order
	Remarks []string // what differs from what the service expects, and was left as it is
	// Unusable are parts of the project that Hasura has and cannot use, with its
	// reasons.
	Unusable []string
	// Missing is why types, actions and triggers were not added; "" if they were,
	// or were not asked for.
	Missing string
}

// Apply adds to Hasura what the project has and Hasura lacks. It can be called
// again and by several at once: what is there is not touched.
//
// It waits for a Hasura that does not answer or refuses the admin secret, as
// long as Options.Patience. Tables are added all or none, an error says which
// Hasura refused. Types, actions and triggers are added all or none as well; if
// Hasura refuses one, that is no error but Report.Missing.
func Apply(ctx context.Context, o Options) (Report, error) {
	a, err := newApplier(o)
	if err != nil {
		return Report{}, err
	}
	defer a.client.close()
	err = a.patiently(ctx, func() error { return a.try(ctx) })
	return a.report, err
}

// Diff returns what Apply would do, and changes nothing.
func Diff(ctx context.Context, o Options) (Plan, error) {
	a, err := newApplier(o)
	if err != nil {
		return Plan{}, err
	}
	defer a.client.close()
	var plan Plan
	err = a.patiently(ctx, func() error {
		have, _, err := a.client.export(ctx)
		if err != nil {
			return err
		}
		if plan, err = a.want.compare(have, o.Starter); err != nil {
			return err
		}
		found, err := a.client.complaints(ctx)
		plan.Unusable = a.want.about(found)
		return err
	})
	if !o.Services {
		plan.Services = nil
	}
	return plan, err
}

// applier is one call of Apply or Diff.
type applier struct {
	Options
	want     *wanted
	client   *client
	reloaded bool
	report   Report
}

func newApplier(o Options) (*applier, error) {
	if o.Source == "" {
		o.Source = "default"
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Pause <= 0 {
		o.Pause = defaultPause
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	want, err := load(o.Source, o.Starter)
	if err != nil {
		return nil, err
	}
	c, err := newClient(o.Endpoint, o.AdminSecret)
	return &applier{Options: o, want: want, client: c}, err
}

// patiently tries until there is a result that another try would not better.
func (a *applier) patiently(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(a.Patience)
	said := ""
	for {
		err := try()
		pause := a.Pause
		if errors.Is(err, errConflict) {
			pause = conflictPause
		} else if !errors.Is(err, errPassing) || ctx.Err() != nil {
			return err
		}
		if time.Now().Add(pause).After(deadline) {
			return fmt.Errorf("given up after %s: %w", a.Patience, err)
		}
		if reason := err.Error(); reason != said {
			said = reason
			a.Log.Warn("the metadata cannot be applied yet", zap.String("error", reason))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// try is one pass. Each of its steps looks at the metadata as it is then.
func (a *applier) try(ctx context.Context) error {
	plan, version, err := a.look(ctx)
	if err != nil {
		return err
	}
	if err := a.client.all(ctx, plan.Tables, version); err != nil {
		return err
	}
	a.did(plan.Tables)
	a.report.Remarks = plan.Remarks
	if err := a.services(ctx); err != nil {
		return err
	}
	complaints, err := a.client.complaints(ctx)
	a.report.Unusable = a.want.about(complaints)
	return err
}

func (a *applier) did(changes []Change) {
	for _, change := range changes {
		a.report.Done = append(a.report.Done, change.Says)
	}
}

// look plans. Before tables change, Hasura looks at the database anew, once.
func (a *applier) look(ctx context.Context) (Plan, json.Number, error) {
	for {
		have, version, err := a.client.export(ctx)
		if err != nil {
			return Plan{}, "", err
		}
		plan, err := a.want.compare(have, a.Starter)
		if err != nil || a.reloaded || !a.Reload && len(plan.Tables) == 0 {
			return plan, version, err
		}
		if err := a.client.reload(ctx, a.Source); err != nil {
			return Plan{}, "", err
		}
		a.reloaded = true
	}
}

// services adds types, actions and triggers. The only way to learn whether
// Hasura knows its variables is to try.
func (a *applier) services(ctx context.Context) error {
	if !a.Services {
		return nil
	}
	plan, version, err := a.look(ctx)
	if err != nil || len(plan.Services) == 0 {
		return err
	}
	a.report.Missing = ""
	err = a.client.all(ctx, plan.Services, version)
	if _, refused := errors.AsType[*refusal](err); refused {
		a.report.Missing = missing(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return a.confirm(ctx, plan.Services)
}

// confirm takes the changes back if Hasura took them and cannot use them.
func (a *applier) confirm(ctx context.Context, changes []Change) error {
	complaints, err := a.client.complaints(ctx)
	if err != nil {
		return err
	}
	reason := ""
	for _, c := range complaints {
		if slices.ContainsFunc(changes, func(change Change) bool { return c.about(change.object) }) {
			reason = c.String()
		}
	}
	if reason == "" {
		a.did(changes)
		return nil
	}
	a.report.Missing = missing(reason)
	_, version, err := a.client.export(ctx)
	if err != nil {
		return err
	}
	return a.client.all(ctx, undone(changes), version)
}

// undone are the commands that take changes back, the last one first.
func undone(changes []Change) []Change {
	var back []Change
	for _, change := range slices.Backward(changes) {
		if change.undo != nil {
			back = append(back, Change{Says: "take back: " + change.Says, command: change.undo})
		}
	}
	return back
}

// variables are what Hasura needs in its own environment.
var variables = regexp.MustCompile(`HASURA_STORAGE_(URL|SECRET)`)

// missing puts Hasura's reason into the words of somebody who can help it.
func missing(reason string) string {
	if !variables.MatchString(reason) {
		return "Hasura refused actions and triggers: " + reason
	}
	return "Hasura lacks " + variables.FindString(reason) + ": set HASURA_STORAGE_URL and HASURA_STORAGE_SECRET in its environment, then start this service again; until then there are no actions and triggers (" + reason + ")"
}

// about reports whether Hasura complains of the object of that name.
func (c complaint) about(object string) bool {
	if object == "" {
		return false
	}
	words := strings.FieldsFunc(fmt.Sprint(c.Name), func(r rune) bool { return strings.ContainsRune(` ",:()[]{}`, r) })
	return slices.Contains(words, object) || slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(word, "."+object) })
}

// about picks the complaints about what is ours.
func (w *wanted) about(complaints []complaint) []string {
	objects := make([]string, 0, len(w.tables)+len(w.actions)+len(w.crons))
	for _, table := range w.tables {
		objects = append(objects, tableName(table["table"]))
		objects = append(objects, names(table.list("event_triggers"))...)
	}
	objects = append(objects, names(w.actions)...)
	objects = append(objects, names(w.crons)...)
	var found []string
	for _, c := range complaints {
		if slices.ContainsFunc(objects, c.about) {
			found = append(found, c.String())
		}
	}
	return found
}
