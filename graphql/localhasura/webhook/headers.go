package webhook

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

// headers joins the three origins of headers. Of one name the first origin
// wins: by default the client's forwarded headers, so that a client can
// replace a configured header; with the precedence setting the configured.
func (c *Caller) headers(o origin) (http.Header, *qerr.Error) {
	configured, err := metadata.ResolveHeaders(o.configured, c.env)
	if err != nil {
		return nil, err
	}
	own := http.Header{"Content-Type": {"application/json"}, "User-Agent": {UserAgent}}
	origins := []http.Header{o.forwarded(), own, configured}
	if c.configuredFirst {
		slices.Reverse(origins)
	}
	out := http.Header{}
	for _, from := range append(origins, http.Header{"Accept-Encoding": {"gzip"}}) {
		for name, values := range from {
			if _, taken := out[name]; !taken && len(values) > 0 {
				out[name] = values[:1]
			}
		}
	}
	return out, nil
}

// origin is where the headers of a call come from.
type origin struct {
	configured []metadata.Header
	forward    bool      // the client's headers as well
	ignored    *[]string // which of those are left out; nil = Hasura's list
	client     http.Header
	host       string
}

func (r Request) origin() origin {
	d := &r.Action.Definition
	return origin{d.Headers, d.ForwardClientHeaders, d.IgnoredClientHeaders, r.Headers, r.Host}
}

// forwarded are the client's headers that go on to the webhook: all but the
// session's and the ignored ones.
func (o origin) forwarded() http.Header {
	if !o.forward {
		return nil
	}
	ignored := metadata.IgnoredClientHeaders
	if o.ignored != nil {
		ignored = *o.ignored
	}
	client := o.client.Clone()
	if client == nil {
		client = http.Header{}
	}
	if o.host != "" {
		client.Set("Host", o.host)
	}
	out := http.Header{}
	for name, values := range client {
		if !isSessionHeader(name) && !containsFold(ignored, name) {
			out[http.CanonicalHeaderKey(name)] = values
		}
	}
	for _, name := range []string{"Host", "User-Agent", "Origin"} {
		if value := client.Get(name); value != "" {
			out.Set("X-Forwarded-"+name, value)
		}
	}
	return out
}

func isSessionHeader(name string) bool {
	return strings.HasPrefix(strings.ToLower(name), "x-hasura-")
}

func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// decoded undoes gzip.
func decoded(answer *http.Response, body io.Reader) (io.Reader, error) {
	if !strings.EqualFold(answer.Header.Get("Content-Encoding"), "gzip") {
		return body, nil
	}
	return gzip.NewReader(body)
}
