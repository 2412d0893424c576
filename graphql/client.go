// Package graphql asks Hasura. Operations stand in operations/, one a file, and
// are compiled by genqlient; start at Client and Caller.
//
// Who asks is a value: every generated function takes a Caller, and a Caller
// comes from Client.Admin or Client.As. Nothing can be asked without one.
package graphql

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Khan/genqlient/graphql"
)

//go:generate go run ./internal/schemagen
//go:generate go tool genqlient genqlient.yaml

// maxAnswer bounds an answer of Hasura's in bytes. The largest we ask for are
// pages of rows with their metadata.
const maxAnswer = 64 << 20

// Options say where Hasura is and how to act there.
type Options struct {
	Endpoint         string        // base URL; /v1 or /v1/graphql at its end is accepted
	AdminSecret      string        // sent with every request
	Timeout          time.Duration // of one request, default 10 s
	BackendOnly      bool          // use permissions marked backend_only for callers
	UnauthorizedRole string        // never gets BackendOnly: its variables are the client's words
	ForwardHeaders   []string      // of REST requests, see Client.Forward; default DefaultForwardHeaders
	Transport        http.RoundTripper

	// Watch, if set, is told of each request as it begins: the context is its
	// caller's, operation the name of one in operations/, header what is sent
	// and may be added to. What it returns is called at the end, with the error
	// that the caller gets.
	Watch func(ctx context.Context, operation string, header http.Header) (ended func(error))
}

// Client is one Hasura. It is safe for concurrent use.
type Client struct {
	url              *url.URL
	secret           string
	backendOnly      bool
	unauthorizedRole string
	forwarding       forwarding
	credentials      []string
	transport        http.RoundTripper
	timeout          time.Duration
	watch            func(context.Context, string, http.Header) func(error)
}

// Root returns Hasura's own address of one that may end in /v1 or /v1/graphql,
// without a slash at its end.
func Root(endpoint string) string {
	root := strings.TrimSuffix(strings.TrimRight(endpoint, "/"), "/graphql")
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(root, "/"), "/v1"), "/")
}

// New checks the options; it does not talk to Hasura.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.Endpoint)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("%q is not the URL of a Hasura", o.Endpoint)
	}
	endpoint, err := url.Parse(Root(o.Endpoint) + "/v1/graphql")
	if err != nil {
		return nil, fmt.Errorf("%q is not the URL of a Hasura", o.Endpoint)
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Transport == nil {
		o.Transport = transport()
	}
	if o.ForwardHeaders == nil {
		o.ForwardHeaders = DefaultForwardHeaders()
	}
	forwarded, err := newForwarding(o.ForwardHeaders)
	if err != nil {
		return nil, err
	}
	return &Client{
		url:              endpoint,
		secret:           o.AdminSecret,
		backendOnly:      o.BackendOnly,
		unauthorizedRole: o.UnauthorizedRole,
		forwarding:       forwarded,
		credentials:      slices.Clip(forwarded.credentials()),
		transport:        o.Transport,
		timeout:          o.Timeout,
		watch:            o.Watch,
	}, nil
}

// transport keeps connections: a burst of callers would otherwise dial for each request.
func transport() *http.Transport {
	usual, _ := http.DefaultTransport.(*http.Transport)
	t := usual.Clone()
	t.DialContext = (&net.Dialer{Timeout: 3 * time.Second}).DialContext
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	t.IdleConnTimeout = 60 * time.Second
	t.DisableCompression = true // both ends stand side by side
	return t
}

// Caller asks Hasura as somebody. It implements genqlient's Client.
type Caller struct {
	client *Client
	header http.Header
}

// Admin asks above every permission. Each use says why.
func (c *Client) Admin() Caller {
	return Caller{client: c, header: http.Header{adminSecretHeader: {c.secret}}}
}

// IsAdminSecret reports whether text is the admin secret, in constant time.
func (c *Client) IsAdminSecret(text string) bool {
	given, own := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(c.secret))
	return subtle.ConstantTimeCompare(given[:], own[:]) == 1 && c.secret != ""
}

// As asks with the permissions of a session, as Hasura knows them. It refuses a
// session without a role (ErrNoRole) and one whose variables cannot be sent
// (*InvalidVariableError).
func (c *Client) As(s Session) (Caller, error) {
	h, err := s.headers()
	if err != nil {
		return Caller{}, err
	}
	h.Set(adminSecretHeader, c.secret)
	if c.backendOnly && s.Role() != c.unauthorizedRole {
		h.Set(backendOnlyVariable, "true")
	}
	return Caller{client: c, header: h}, nil
}

// Ready reports whether Hasura answers and takes the admin secret.
func (c *Client) Ready(ctx context.Context) error {
	_, err := Ping(ctx, c.Admin())
	return err
}

// MakeRequest sends one operation. Every error it returns is an *Error, or
// ctx's own where nothing had been sent.
func (c Caller) MakeRequest(ctx context.Context, req *graphql.Request, resp *graphql.Response) error {
	mutation := strings.HasPrefix(strings.TrimSpace(req.Query), "mutation")
	body, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode %s: %w", req.OpName, err)
	}
	r := c.request(body)
	if c.client.watch == nil {
		return c.send(ctx, r, resp, mutation)
	}
	ended := c.client.watch(ctx, req.OpName, r.Header)
	err = c.send(ctx, r, resp, mutation)
	ended(err)
	return err
}

// send sends a request and reads what comes back. Redirections are not followed:
// they would take the secret along.
func (c Caller) send(ctx context.Context, r *http.Request, resp *graphql.Response, mutation bool) error {
	if due, ok := ctx.Deadline(); !ok || time.Until(due) > c.client.timeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.client.timeout)
		defer cancel()
	}
	answer, err := c.client.transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return unanswered(err, mutation, !neverSent(err))
	}
	defer answer.Body.Close()
	return read(answer, resp, mutation)
}

// request does without http.NewRequest, which would take the address apart each time.
func (c Caller) request(body []byte) *http.Request {
	header := make(http.Header, len(c.header)+2)
	maps.Copy(header, c.header)
	header["Content-Type"] = jsonType
	header["User-Agent"] = userAgent
	return &http.Request{
		Method: http.MethodPost, URL: c.client.url, Host: c.client.url.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
}

// Shared by all requests: nobody changes them.
var (
	jsonType  = []string{"application/json"}
	userAgent = []string{"hasura-storage"}
)

// neverSent reports whether err arose before a byte could reach Hasura.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// read takes Hasura's answer apart. A gateway's page is no answer of Hasura's.
func read(answer *http.Response, resp *graphql.Response, mutation bool) error {
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return unanswered(err, mutation, true)
	case len(body) > maxAnswer:
		return unanswered(fmt.Errorf("answer is larger than %d bytes", maxAnswer), mutation, true)
	}
	var envelope struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code, Path string }
		}
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return unanswered(fmt.Errorf("status %d, not GraphQL: %w", answer.StatusCode, err), mutation, true)
	}
	if len(envelope.Errors) > 0 {
		e := envelope.Errors[0] // Hasura sends exactly one
		return answered(e.Extensions.Code, e.Message, e.Extensions.Path, mutation)
	}
	if answer.StatusCode != http.StatusOK || len(envelope.Data) == 0 {
		return unanswered(fmt.Errorf("status %d without data", answer.StatusCode), mutation, true)
	}
	if err := json.Unmarshal(envelope.Data, resp.Data); err != nil {
		return unanswered(fmt.Errorf("unexpected data: %w", err), mutation, true)
	}
	return nil
}
