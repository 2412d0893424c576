package triggers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/webhook"
)

// maxLogged is how much of an answer is read, for the log alone; bytes.
const maxLogged = 1 << 20

// outcome is what came of one post.
type outcome struct {
	status int // 0 = no answer
	header http.Header
	body   []byte
	err    error
}

// post sends one delivery and waits at most the trigger's time limit.
func (e *Engine) post(ctx context.Context, to target, body []byte) outcome {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(to.timeout)*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return outcome{err: err}
	}
	r.Header = to.headers.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	// These two win over configured ones of the same name.
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", webhook.UserAgent)
	answer, err := e.client.Do(r)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address, which may hold a secret
		}
		return outcome{err: err}
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(io.LimitReader(answer.Body, maxLogged))
	return outcome{status: answer.StatusCode, header: answer.Header, body: read, err: err}
}

func (o outcome) ok() bool { return o.err == nil && o.status >= 200 && o.status < 300 }

// next decides about a failed try. An integer Retry-After is obeyed without
// end; otherwise there are as many retries as configured.
func (o outcome) next(to target, tries int, now time.Time) (at time.Time, again bool) {
	delay, asked := o.retryAfter()
	if !asked {
		if tries >= to.retries {
			return time.Time{}, false
		}
		delay = to.delay
	}
	return now.Add(time.Duration(delay) * time.Second), true
}

func (o outcome) retryAfter() (seconds int, ok bool) {
	if o.err != nil {
		return 0, false
	}
	seconds, err := strconv.Atoi(strings.TrimSpace(o.header.Get("Retry-After")))
	return seconds, err == nil && seconds > 0
}

// failed is the status that the log shows where there was no answer.
const failed = 1000

func (o outcome) logged() (status int, response []byte) {
	type header struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if o.err != nil {
		response, _ = jsontext.Encode(map[string]any{"type": "client_error", "version": "2", "data": map[string]any{"message": o.err.Error()}})
		return failed, response
	}
	headers := []header{}
	for name, values := range o.header {
		headers = append(headers, header{name, strings.Join(values, ", ")})
	}
	response, _ = jsontext.Encode(map[string]any{"type": "webhook_response", "version": "2",
		"data": map[string]any{"status": o.status, "headers": headers, "body": string(o.body)}})
	return o.status, response
}

// loggedRequest is the form in which the log keeps what was posted. Headers
// are left out: they hold secrets.
func loggedRequest(body []byte) string {
	raw, _ := jsontext.Encode(map[string]any{"payload": json.RawMessage(body), "version": "2"})
	return string(raw)
}
