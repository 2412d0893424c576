// Package purge tells caches in front of the service to forget files that were
// replaced or deleted: Fastly, by surrogate keys, or anything else by a webhook.
// Start at New.
package purge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say who is told. Without any nobody is.
type Options struct {
	FastlyService, FastlyKey string // both or none
	FastlyURL                string // default https://api.fastly.com

	// Webhook is a URL. If it has {id} in it, it is called with POST once for
	// each file; otherwise once for all, with {"ids": [...]} as its body.
	Webhook string
}

const (
	patience   = 10 * time.Second
	fastlyKeys = 256 // in one request, by Fastly's limits
)

// New returns the function that tells them of files, by their ids; nil if there
// is nobody to tell. It fails, and is to be called again, unless all have
// confirmed. A file that a cache does not know is confirmed.
func New(o Options) (func(ctx context.Context, ids []string) error, error) {
	if (o.FastlyService == "") != (o.FastlyKey == "") {
		return nil, errors.New("purging at Fastly needs both its service and its key")
	}
	p := purger{Options: o, client: &http.Client{Timeout: patience}}
	p.FastlyURL = strings.TrimSuffix(cmp.Or(o.FastlyURL, "https://api.fastly.com"), "/")
	if o.Webhook == "" && o.FastlyService == "" {
		return nil, nil //nolint:nilnil // there is nobody to tell
	}
	if u, err := url.Parse(strings.ReplaceAll(o.Webhook, "{id}", "id")); o.Webhook != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("the webhook must be a URL that begins with http:// or https://")
	}
	return p.purge, nil
}

type purger struct {
	Options
	client *http.Client
}

func (p purger) purge(ctx context.Context, ids []string) error {
	var errs []error
	if p.FastlyService != "" {
		errs = append(errs, p.fastly(ctx, ids))
	}
	if p.Webhook != "" {
		errs = append(errs, p.webhook(ctx, ids))
	}
	return errors.Join(errs...)
}

// fastly purges softly: what is being fetched anew may be served stale meanwhile.
func (p purger) fastly(ctx context.Context, ids []string) error {
	for len(ids) > 0 {
		some := ids[:min(len(ids), fastlyKeys)]
		ids = ids[len(some):]
		header := http.Header{"Fastly-Key": {p.FastlyKey}, "Surrogate-Key": {strings.Join(some, " ")}}
		if err := p.post(ctx, p.FastlyURL+"/service/"+url.PathEscape(p.FastlyService)+"/purge", header, nil); err != nil {
			return fmt.Errorf("at Fastly: %w", err)
		}
	}
	return nil
}

func (p purger) webhook(ctx context.Context, ids []string) error {
	if !strings.Contains(p.Webhook, "{id}") {
		body, err := json.Marshal(map[string][]string{"ids": ids})
		if err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		return p.post(ctx, p.Webhook, http.Header{"Content-Type": {"application/json"}}, body)
	}
	for _, id := range ids {
		if err := p.post(ctx, strings.ReplaceAll(p.Webhook, "{id}", id), http.Header{}, nil); err != nil {
			return err
		}
	}
	return nil
}

// post leaves addresses out of its errors: they may hold secrets.
func (p purger) post(ctx context.Context, to string, header http.Header, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("purge: the address cannot be used")
	}
	r.Header = header
	answer, err := p.client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return fmt.Errorf("purge: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection is used again
	switch {
	case answer.StatusCode < 300, answer.StatusCode == http.StatusNotFound, answer.StatusCode == http.StatusPreconditionFailed:
		return nil // nginx answers 404 or 412 for what it does not hold
	}
	return fmt.Errorf("purge: answered %d", answer.StatusCode)
}
