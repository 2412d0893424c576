package triggers_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func TestPauseLoseAndRedeliver(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":true,"insert":{"columns":"*"}}`, "")))
	ctx := context.Background()
	w.engine.Pause("made")
	w.mutate(insertOne)
	w.idle()
	if got := w.hook.got(); len(got) != 0 {
		t.Fatalf("delivered while paused: %v", got)
	}
	if n, err := w.engine.Lose(ctx, "made"); n != 1 || err != nil {
		t.Fatalf("lost %d, error %v", n, err)
	}
	w.engine.Resume("made")
	w.idle()
	if got := w.hook.got(); len(got) != 0 {
		t.Fatalf("delivered although lost: %v", got)
	}
	events, err := w.engine.Events(ctx, "made")
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	for range 2 {
		if err := w.engine.Redeliver(ctx, events[0].ID); err != nil {
			t.Fatal(err)
		}
		w.idle()
	}
	if got := w.hook.got(); len(got) != 2 || got[0] != got[1] {
		t.Errorf("deliveries = %v", got)
	}
	if err := w.engine.Redeliver(ctx, "gone"); err == nil {
		t.Error("redelivered what does not exist")
	}
}

func TestManualEvents(t *testing.T) {
	w := newWorld(t, onItems(trigger("hand", `{"enable_manual":true}`, ""), trigger("auto", `{"enable_manual":false,"insert":{"columns":"*"}}`, "")))
	id, err := w.engine.Invoke(context.Background(), "hand", json.RawMessage(`{"x":1}`), map[string]string{"x-hasura-role": "admin"})
	if err != nil {
		t.Fatal(err)
	}
	w.idle()
	op, before, after := event(t, w.hook.got()[0])
	if op != "MANUAL" || before != "null" || after != `{"x":1}` || !strings.Contains(w.hook.got()[0], id) {
		t.Errorf("delivery = %v", w.hook.got())
	}
	_, err = w.engine.Invoke(context.Background(), "auto", nil, nil)
	if err == nil || err.Code != "not-supported" || err.Message != "manual mode is not enabled for event trigger" {
		t.Errorf("error = %v", err)
	}
}

func TestADroppedTriggerArchivesItsEvents(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*"}}`, "")))
	w.engine.Pause("made")
	w.mutate(insertOne)
	w.apply(onItems())
	w.engine.Resume("made")
	w.mutate(`DELETE FROM "app.items"`, insertOne)
	w.idle()
	events, err := w.engine.Events(context.Background(), "made")
	if err != nil || len(events) != 1 || !events[0].Archived || len(w.hook.got()) != 0 {
		t.Errorf("events = %+v, deliveries = %v, error = %v", events, w.hook.got(), err)
	}
}

func TestUnusableTriggersAreReported(t *testing.T) {
	w := newWorld(t, onItems())
	for name, c := range map[string]struct{ trigger, want string }{
		"a variable is missing":  {`{"name":"x","webhook":"{{GONE}}","definition":{"insert":{"columns":"*"}}}`, "GONE"},
		"a column is missing":    {trigger("x", `{"update":{"columns":["gone"]}}`, ""), `"gone"`},
		"nothing is listened to": {trigger("x", `{"enable_manual":false}`, ""), "atleast one amongst"},
		"no address":             {`{"name":"x","definition":{"insert":{"columns":"*"}}}`, "must provide webhook"},
		"a name with a blank":    {trigger("a b", `{"insert":{"columns":"*"}}`, ""), "alphanumeric"},
		"a long name":            {trigger(strings.Repeat("n", 43), `{"insert":{"columns":"*"}}`, ""), "42 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := w.apply(onItems(c.trigger))
			if len(bad) != 1 || bad[0].Type != "event_trigger" || !strings.Contains(bad[0].Reason, c.want) {
				t.Errorf("inconsistent = %+v", bad)
			}
		})
	}
}
