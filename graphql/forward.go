package graphql

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// DefaultForwardHeaders are the headers of a REST request by which Hasura knows its caller.
func DefaultForwardHeaders() []string { return []string{"Authorization", "X-Hasura-*"} }

// ownHeaders belong to the connection or to the body of the request that we
// write ourselves; none of them says who asks.
var ownHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
	"Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// forwarding is a list of header names; one that ends in "*" stands for all
// that begin so.
type forwarding struct {
	names    []string // canonical
	prefixes []string // canonical, without the star
}

func newForwarding(patterns []string) (forwarding, error) {
	var f forwarding
	for _, pattern := range patterns {
		name, prefix := strings.CutSuffix(textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(pattern)), "*")
		switch {
		case name == "" || !httpguts.ValidHeaderFieldName(name):
			return f, fmt.Errorf("forwarded headers: %q is not the name of a header", pattern)
		case slices.Contains(ownHeaders, name):
			return f, fmt.Errorf("forwarded headers: %s belongs to the connection and says nothing about a caller", name)
		case prefix && !strings.HasSuffix(name, "-"):
			return f, fmt.Errorf("forwarded headers: %q: a star stands after a dash, as in X-Hasura-*", pattern)
		case prefix:
			f.prefixes = append(f.prefixes, name)
		default:
			f.names = append(f.names, name)
		}
	}
	return f, nil
}

func (f forwarding) takes(name string) bool {
	return slices.Contains(f.names, name) ||
		slices.ContainsFunc(f.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Forward asks as whoever sent a request with these headers: those among them
// that Options.ForwardHeaders names travel to Hasura untouched, and nothing is
// added. Without any of them Hasura sees nobody, and takes its unauthorized
// role if it has one. Names are canonical, as in net/http.
func (c *Client) Forward(header map[string][]string) Caller {
	kept := map[string][]string{}
	for name, values := range header {
		if c.forwarding.takes(name) && len(values) > 0 {
			kept[name] = values
		}
	}
	return Caller{client: c, header: kept}
}

// Anonymous reports whether the caller brings nothing that says who it is.
func (c Caller) Anonymous() bool { return len(c.header) == 0 }

// Credentials returns the headers that make an answer depend on its caller, for
// Vary: the forwarded ones, where a star stands for the two that Hasura itself reads.
// The list is shared: do not change it.
func (c *Client) Credentials() []string { return c.credentials }

func (f forwarding) credentials() []string {
	names := slices.Clone(f.names)
	for _, prefix := range f.prefixes {
		for _, name := range []string{adminSecretHeader, "X-Hasura-Role"} {
			if strings.HasPrefix(name, prefix) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Sender is a text that is equal for all requests that bring the same credentials,
// whatever else they bring, so that limits for each sender hold. Beside a token
// Hasura reads hardly any X-Hasura header, so they count only where the admin secret
// is the credential: who holds it acts for many. Callers without credentials are one.
// Like Key it holds them in the clear.
func (c Caller) Sender() string {
	credentials := http.Header{}
	for name, values := range c.header {
		if value := evened(values[0]); value != "" && !strings.HasPrefix(name, "X-Hasura-") {
			credentials[name] = []string{value}
		}
	}
	if len(credentials) == 0 && len(c.header[adminSecretHeader]) > 0 {
		return c.Key()
	}
	return Caller{header: credentials}.Key()
}

// UserID returns the x-hasura-user-id that presets and checks see; false where the
// headers do not tell, since a token, or Hasura's webhook, says it.
func (c Caller) UserID() (id string, known bool) {
	return c.header.Get("X-Hasura-User-Id"), c.header.Get(adminSecretHeader) != ""
}

// evened writes a credential in one way. How many spaces there are makes no other of
// it, nor how "Bearer" is written. Of headers with one name Hasura reads the first.
func evened(value string) string {
	words := strings.Fields(value)
	if len(words) == 2 {
		words[0] = strings.ToLower(words[0])
	}
	return strings.Join(words, " ")
}

// Key is a text that is equal for callers with the same headers and for no
// others. It holds them in the clear: hash it, with a key, before it leaves the
// process. Names and values are separated by what neither can contain.
func (c Caller) Key() string {
	var few [8]string // callers have few headers, and this is asked for each request
	names, size := few[:0], 0
	for name, values := range c.header {
		names = append(names, name)
		size += len(name) + 1
		for _, value := range values {
			size += len(value) + 1
		}
	}
	slices.Sort(names)
	var key strings.Builder
	key.Grow(size)
	for _, name := range names {
		key.WriteString(name)
		for _, value := range c.header[name] {
			key.WriteByte(0)
			key.WriteString(value)
		}
		key.WriteByte('\n')
	}
	return key.String()
}
