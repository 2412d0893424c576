package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hasura-storage/graphql"
)

const (
	requestTime = time.Minute // a Hasura with many tables takes its time
	maxAnswer   = 64 << 20    // bytes of metadata
)

// client speaks to one Hasura's metadata API as its admin.
type client struct {
	url    string
	secret string
	http   *http.Client
}

// newClient takes Hasura's address as it is, with /v1, or with /v1/graphql.
func newClient(endpoint, secret string) (*client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("HASURA_ENDPOINT must be a URL that begins with http:// or https://")
	}
	own := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: requestTime}
	return &client{url: graphql.Root(endpoint) + "/v1/metadata", secret: secret, http: &http.Client{Transport: own, Timeout: requestTime, CheckRedirect: stay}}, nil
}

// stay follows no redirection: it would take the secret along.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (c *client) close() { c.http.CloseIdleConnections() }

// refusal is Hasura's word on a command that it understood.
type refusal struct {
	Message  string `json:"error"`
	Code     string `json:"code"`
	Path     string `json:"path"`
	Internal any    `json:"internal"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%s)", r.Message, r.Code) }

// errPassing is in every error that another try may not meet.
var errPassing = errors.New("not ready")

// errConflict says that somebody else changed the metadata meanwhile.
var errConflict = errors.New("the metadata changed meanwhile")

func notReady(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errPassing, fmt.Sprintf(format, args...))
}

// send runs a command and reads its answer into the value at into, unless that
// is nil.
func (c *client) send(ctx context.Context, command document, into any) error {
	body, err := json.Marshal(command)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Hasura-Admin-Secret", c.secret)
	answer, err := c.http.Do(r)
	if err != nil {
		return notReady("%v", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return notReady("%v", err)
	}
	if len(text) > maxAnswer {
		return fmt.Errorf("the answer of Hasura is larger than %d bytes", maxAnswer)
	}
	return c.read(answer.StatusCode, text, into)
}

func (c *client) read(status int, text []byte, into any) error {
	if status == http.StatusOK {
		if into == nil {
			return nil
		}
		if err := decode(text, into); err != nil {
			return notReady("%s answers 200, but no JSON of Hasura's", c.url)
		}
		return nil
	}
	var r refusal
	if decode(text, &r) != nil || r.Message == "" {
		return notReady("%s answers %d", c.url, status)
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || strings.HasPrefix(r.Message, "restricted access"):
		return notReady("admin secret refused (%d: %s)", status, r.Message)
	case status == http.StatusConflict:
		return errConflict
	case status >= 500 || status == http.StatusNotFound || status == http.StatusTooManyRequests:
		return notReady("%s answers %d: %s", c.url, status, r.Message)
	}
	return &r
}

// export is the metadata and its version, which a change names.
func (c *client) export(ctx context.Context) (have document, version json.Number, err error) {
	var answer struct {
		Version  json.Number `json:"resource_version"`
		Metadata document    `json:"metadata"`
	}
	err = c.send(ctx, document{"type": "export_metadata", "version": 2, "args": document{}}, &answer)
	if err == nil && answer.Metadata == nil {
		err = notReady("%s answers without metadata", c.url)
	}
	return answer.Metadata, answer.Version, err
}

// reload lets Hasura look at the database anew: it does not see tables and
// columns that others made.
func (c *client) reload(ctx context.Context, source string) error {
	return c.send(ctx, document{"type": "reload_metadata", "args": document{"reload_sources": []string{source}}}, nil)
}

// complaint is an object of the metadata that Hasura cannot use.
type complaint struct {
	Name   any `json:"name"`
	Reason any `json:"reason"`
}

func (c complaint) String() string { return fmt.Sprintf("%v: %v", c.Name, c.Reason) }

func (c *client) complaints(ctx context.Context) ([]complaint, error) {
	var answer struct {
		Objects []complaint `json:"inconsistent_objects"`
	}
	err := c.send(ctx, document{"type": "get_inconsistent_metadata", "args": document{}}, &answer)
	return answer.Objects, err
}

// all runs changes at once: either all of them hold or none does, and none does
// if the metadata has another version by then.
func (c *client) all(ctx context.Context, changes []Change, version json.Number) error {
	if len(changes) == 0 {
		return nil
	}
	commands := make([]document, 0, len(changes))
	for _, change := range changes {
		commands = append(commands, change.command)
	}
	err := c.send(ctx, document{"type": "bulk", "resource_version": version, "args": commands}, nil)
	if refused, ok := errors.AsType[*refusal](err); ok {
		if i, ok := refused.index(); ok && i < len(changes) {
			return fmt.Errorf("%s: %w", changes[i].Says, err)
		}
	}
	return err
}

var inBulk = regexp.MustCompile(`^\$\.args\[(\d+)\]`)

// index is the place, among the commands of a bulk, of the one that failed.
func (r *refusal) index() (int, bool) {
	found := inBulk.FindStringSubmatch(r.Path)
	if found == nil {
		return 0, false
	}
	i, err := strconv.Atoi(found[1])
	return i, err == nil
}
