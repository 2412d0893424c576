package triggers_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRetries(t *testing.T) {
	status := func(codes ...int) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, n int) { w.WriteHeader(codes[min(n, len(codes))-1]) }
	}
	for name, c := range map[string]struct {
		answer    func(http.ResponseWriter, int)
		retries   string
		want      int // deliveries
		delivered bool
	}{
		"no retries by default":       {status(500), `{"num_retries":0}`, 1, false},
		"N retries are N+1 tries":     {status(404), `{"num_retries":4,"interval_sec":1}`, 5, false},
		"success ends it":             {status(500, 200), `{"num_retries":4,"interval_sec":1}`, 2, true},
		"no content is success":       {status(204), `{"num_retries":4,"interval_sec":1}`, 1, true},
		"Retry-After ignores retries": {retryAfter("3", 3), `{"num_retries":0}`, 4, true},
		"Retry-After as a date":       {retryAfter("Wed, 21 Oct 2025 07:28:00 GMT", 3), `{"num_retries":0}`, 1, false},
		"Retry-After zero":            {retryAfter("0", 3), `{"num_retries":0}`, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*"}}`, `,"retry_conf":`+c.retries)))
			w.hook.answer = c.answer
			w.mutate(insertOne)
			for range c.want + 2 {
				w.idle()
				w.now.advance(5 * time.Second)
			}
			w.idle()
			got := w.hook.got()
			if len(got) != c.want {
				t.Fatalf("%d deliveries, want %d", len(got), c.want)
			}
			for i, body := range got {
				if !strings.Contains(body, `"current_retry":`+strconv.Itoa(i)) {
					t.Errorf("try %d says %s", i, body)
				}
			}
			events, err := w.engine.Events(context.Background(), "made")
			if err != nil || len(events) != 1 || events[0].Delivered != c.delivered || events[0].Error == c.delivered || events[0].Tries != c.want {
				t.Errorf("log = %+v, error %v", events, err)
			}
		})
	}
}

func retryAfter(value string, times int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, n int) {
		if n <= times {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

func TestARetryWaits(t *testing.T) {
	w := newWorld(t, onItems(trigger("made", `{"enable_manual":false,"insert":{"columns":"*"}}`, `,"retry_conf":{"num_retries":1,"interval_sec":10}`)))
	w.hook.answer = func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusInternalServerError) }
	w.mutate(insertOne)
	w.idle()
	w.now.advance(9 * time.Second)
	w.idle()
	time.Sleep(20 * time.Millisecond)
	if n := len(w.hook.got()); n != 1 {
		t.Fatalf("%d deliveries before the interval was over", n)
	}
	w.now.advance(time.Second)
	w.idle()
	if n := len(w.hook.got()); n != 2 {
		t.Errorf("%d deliveries after the interval", n)
	}
}

func TestARestartInTheMiddleOfADelivery(t *testing.T) {
	const tables = `{"enable_manual":false,"insert":{"columns":"*"}}`
	w := newWorld(t, onItems(trigger("made", tables, "")))
	entered, leave := make(chan struct{}, 9), make(chan struct{})
	w.hook.answer = func(http.ResponseWriter, int) {
		entered <- struct{}{}
		<-leave
	}
	w.mutate(insertOne)
	<-entered
	w.db.Close() // as a kill would: nothing can be recorded any more
	go w.engine.Close()
	close(leave)

	w.open()
	w.apply(onItems(trigger("made", tables, "")))
	w.engine.Start()
	w.idle()
	got := w.hook.got()
	if len(got) != 2 || got[0] != got[1] {
		t.Errorf("deliveries = %v", got)
	}
}
