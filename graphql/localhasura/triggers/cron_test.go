package triggers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hasura-storage/graphql/localhasura/triggers"
)

func TestCron(t *testing.T) {
	w := newWorld(t, `"cron_triggers":[{"name":"tick","webhook":"{{BASE}}/tick","schedule":"*/5 * * * *","include_in_metadata":true,
		"payload":{"a":1},"comment":"c","retry_conf":{"num_retries":1,"retry_interval_seconds":1,"tolerance_seconds":200}}]`)
	w.idle()
	if got := w.hook.got(); len(got) != 0 {
		t.Fatalf("delivered early: %v", got)
	}
	w.now.advance(4 * time.Minute) // 10:15:12
	w.idle()
	got := w.hook.got()
	if len(got) != 1 || !strings.HasSuffix(got[0], `"name":"tick","scheduled_time":"2024-05-02T10:15:00Z","payload":{"a":1},"comment":"c"}`) {
		t.Fatalf("deliveries = %v", got)
	}
	w.now.advance(12 * time.Minute) // 10:27:12; 10:20 is too old, 10:25 is not
	w.idle()
	if got = w.hook.got(); len(got) != 2 || !strings.Contains(got[1], "10:25:00Z") {
		t.Fatalf("deliveries = %v", got)
	}
	w.hook.answer = func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusInternalServerError) }
	w.now.advance(3 * time.Minute)
	for range 4 {
		w.idle()
		w.now.advance(2 * time.Second)
	}
	if n := len(w.hook.got()); n != 4 {
		t.Errorf("%d deliveries, want one retry", n)
	}
}

func TestCronWithoutPayload(t *testing.T) {
	w := newWorld(t, `"cron_triggers":[{"name":"tick","webhook":"{{BASE}}/tick","schedule":"* * * * *"}]`)
	w.idle()
	w.now.advance(time.Minute)
	w.idle()
	if got := w.hook.got(); len(got) != 1 || !strings.HasSuffix(got[0], `"payload":null}`) {
		t.Errorf("deliveries = %v", got)
	}
}

func TestCronSchedulesThatAreNone(t *testing.T) {
	for _, line := range []string{"", "* * * *", "* * * * * *", "@daily", "61 * * * *", "TZ=UTC * * * *", "CRON_TZ=Asia/Tokyo * * * * *"} {
		if _, err := triggers.ParseSchedule(line); err == nil {
			t.Errorf("%q is taken for a schedule", line)
		}
	}
}
