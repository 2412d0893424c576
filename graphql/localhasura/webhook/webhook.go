// Package webhook calls the webhook of an action as Hasura does: the body and
// headers it sends, what the client sees of each kind of answer, and the
// checks of an answer against the declared output type. Start with Caller.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

// UserAgent is what the local Hasura calls itself towards webhooks.
const UserAgent = "hasura-graphql-engine/v2.43.0"

// Caller calls webhooks. It is safe for concurrent use.
type Caller struct {
	client          *http.Client
	env             metadata.Env
	configuredFirst bool
}

// New makes a Caller that expands templates from env and obeys
// HASURA_GRAPHQL_CONFIGURED_HEADER_PRECEDENCE.
func New(env metadata.Env) *Caller {
	return &Caller{
		client:          NewClient(100),
		env:             env,
		configuredFirst: env("HASURA_GRAPHQL_CONFIGURED_HEADER_PRECEDENCE") == "true",
	}
}

// NewClient makes an HTTP client for webhooks that keeps as many connections
// to one of them. It leaves answers compressed: whether they are asked for so
// may be the caller's client's wish.
func NewClient(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		MaxIdleConns:        connections,
		MaxIdleConnsPerHost: connections,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
	}}
}

// Close drops idle connections.
func (c *Caller) Close() { c.client.CloseIdleConnections() }

// Request is one field of a GraphQL request that an action answers.
type Request struct {
	Action *metadata.Action
	// Input holds the arguments that the client gave, as a JSON object.
	Input json.RawMessage
	// Vars are the caller's session variables.
	Vars map[string]string
	// Query is the "query" member of the client's request, unchanged.
	Query string
	// Headers and Host are the client's.
	Headers http.Header
	Host    string
}

// Answer is what a webhook answered with success.
type Answer struct {
	// Body has the shape of the output type, as far as Hasura checks it.
	Body json.RawMessage
	// SetCookie are the cookies to hand on to the client.
	SetCookie []string
}

// Call asks the action's webhook and checks the answer against the action's
// output type, whose names types explains. Errors are as the client sees them,
// with an internal part that only some may see.
func (c *Caller) Call(ctx context.Context, r Request, types *Types) (Answer, *qerr.Error) {
	out, err := c.prepare(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	got, fault := c.send(ctx, out, r.Action.Definition.WaitsFor())
	call := exchange{request: r, response: got}
	if fault != nil {
		return Answer{}, call.transportFault(fault)
	}
	if err := call.judge(types); err != nil {
		return Answer{}, err
	}
	return Answer{Body: got.body, SetCookie: got.header.Values("Set-Cookie")}, nil
}

// prepare builds the HTTP request.
func (c *Caller) prepare(ctx context.Context, r Request) (*http.Request, *qerr.Error) {
	body, fault := payload(r)
	if fault != nil {
		return nil, qerr.Internalf(fault, "cannot encode the payload of action %q", r.Action.Name)
	}
	return c.newRequest(ctx, r.Action.Definition.Handler, r.origin(), body)
}

// newRequest is a POST to a handler, whose templates are expanded.
func (c *Caller) newRequest(ctx context.Context, handler string, from origin, body []byte) (*http.Request, *qerr.Error) {
	headers, err := c.headers(from)
	if err != nil {
		return nil, err
	}
	url, fault := metadata.Expand(handler, c.env)
	if fault != nil {
		return nil, qerr.New(qerr.NotFound, fault.Error())
	}
	out, fault := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if fault != nil {
		return nil, qerr.Internalf(fault, "http exception when calling webhook")
	}
	if host := headers.Get("Host"); host != "" {
		out.Host = host // only where the definition has a list of its own without Host
		headers.Del("Host")
	}
	out.Header = headers
	return out, nil
}

// payload is the body that handlers read.
func payload(r Request) ([]byte, error) {
	var query *string
	if r.Query != "" {
		query = &r.Query
	}
	input := r.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	return jsontext.Encode(struct {
		Action    actionName        `json:"action"`
		Input     json.RawMessage   `json:"input"`
		Variables map[string]string `json:"session_variables"`
		Query     *string           `json:"request_query"`
	}{actionName{r.Action.Name}, input, r.Vars, query})
}

type actionName struct {
	Name string `json:"name"`
}

// response is an answer that was read to its end.
type response struct {
	status int
	header http.Header
	body   []byte
}

// send does the request. The time limit is how long the webhook may be
// silent, before the head of its answer and between pieces of the body.
func (c *Caller) send(ctx context.Context, r *http.Request, silence time.Duration) (*response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.AfterFunc(silence, cancel)
	defer timer.Stop()
	answer, err := c.client.Do(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := decoded(answer, touching{answer.Body, func() { timer.Reset(silence) }})
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return &response{status: answer.StatusCode, header: answer.Header, body: raw}, nil
}

// touching calls touch whenever something was read.
type touching struct {
	io.Reader
	touch func()
}

func (t touching) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.touch()
	}
	return n, err
}
