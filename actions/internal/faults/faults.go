// Package faults stands between a service and the real Hasura or store in tests,
// and brings about what those will not do on demand: requests and answers that
// are lost, late, doubled or replaced by a gateway's page.
package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is what happens to one request.
type Fault int

// The faults. Whether the other side acted is what a caller cannot tell apart.
const (
	None   Fault = iota
	Drop         // the request is lost: the other side never sees it
	Cut          // the other side acts, the answer is lost
	Double       // the other side sees the request twice and answers the second time
	Page         // the other side acts, a gateway answers 502 with HTML
	Refuse       // a gateway answers 503 with HTML, the other side never sees it
	Slow         // the answer is late
	Late         // the other side acts, and sees the request once more after others have come between
	kinds        // how many there are
)

var names = [kinds]string{"none", "drop", "cut", "double", "page", "refuse", "slow", "late"}

func (f Fault) String() string { return names[f] }

// Kinds lists every fault but None.
func Kinds() []Fault { return []Fault{Drop, Cut, Double, Page, Refuse, Slow, Late} }

// Request is what a rule decides by.
type Request struct {
	Method, Path string
	Operation    string // the GraphQL operation, "" for the store
}

// Rule decides what happens to a request. It may block, or do something itself,
// before it returns; after, unless nil, runs once the other side has acted.
type Rule func(Request) (f Fault, after func())

// Proxy forwards to a target under a rule that may be changed at any time.
type Proxy struct {
	URL string

	target string
	client *http.Client
	server *http.Server

	late sync.WaitGroup
	mu   sync.Mutex
	rule Rule
	seen []Request
}

const (
	slowness = 30 * time.Millisecond  // of a Slow answer
	lateness = 150 * time.Millisecond // of a Late request's second arrival
)

// Settle waits until every Late request has arrived again.
func (p *Proxy) Settle() { p.late.Wait() }

// New starts a proxy in front of target, a URL, for the length of the test.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		URL: "http://" + listener.Addr().String(), target: strings.TrimRight(target, "/"),
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }()
	t.Cleanup(func() {
		p.Settle()
		_ = p.server.Close()
		p.client.CloseIdleConnections()
	})
	return p
}

// Set makes rule decide from now on; nil lets everything through.
func (p *Proxy) Set(rule Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

// Seen returns the requests since the last call, in the order they arrived.
func (p *Proxy) Seen() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	request := Request{Method: r.Method, Path: r.URL.Path}
	var body []byte
	if r.ContentLength >= 0 && r.ContentLength < 1<<20 {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return
		}
		request.Operation = operationOf(r, body)
	}
	f, after := p.decide(request)
	if f == Drop || f == Refuse {
		p.fail(w, f)
		return
	}
	answer, err := p.forward(r, body)
	if err == nil && f == Double && body != nil {
		drain(answer)
		answer, err = p.forward(r, body)
	}
	if err == nil && f == Late && body != nil {
		p.again(r, body)
	}
	if after != nil {
		after()
	}
	if err != nil {
		p.fail(w, Drop)
		return
	}
	defer drain(answer)
	switch f {
	case Cut, Page:
		p.fail(w, f)
	case Slow:
		time.Sleep(slowness)
		relay(w, answer)
	default:
		relay(w, answer)
	}
}

// again forwards the request once more, later.
func (p *Proxy) again(r *http.Request, body []byte) {
	r = r.Clone(context.WithoutCancel(r.Context()))
	p.late.Go(func() {
		time.Sleep(lateness)
		if answer, err := p.forward(r, body); err == nil {
			drain(answer)
		}
	})
}

func (p *Proxy) decide(r Request) (Fault, func()) {
	p.mu.Lock()
	p.seen = append(p.seen, r)
	rule := p.rule
	p.mu.Unlock()
	if rule == nil {
		return None, nil
	}
	return rule(r)
}

// forward sends the request on. Host stays as it came: the store's signatures cover it.
func (p *Proxy) forward(r *http.Request, body []byte) (*http.Response, error) {
	var reader io.Reader = r.Body
	if body != nil {
		reader = bytes.NewReader(body)
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.target+r.URL.RequestURI(), reader)
	if err != nil {
		return nil, err
	}
	out.Header, out.Host, out.ContentLength = r.Header.Clone(), r.Host, r.ContentLength
	if out.ContentLength == 0 {
		out.Body = http.NoBody
	}
	return p.client.Do(out)
}

// fail answers as a broken network or a gateway does.
func (p *Proxy) fail(w http.ResponseWriter, f Fault) {
	switch f {
	case Page:
		http.Error(w, "<html>502 Bad Gateway</html>", http.StatusBadGateway)
	case Refuse:
		http.Error(w, "<html>503 Service Unavailable</html>", http.StatusServiceUnavailable)
	default:
		panic(http.ErrAbortHandler) // net/http closes the connection without an answer
	}
}

func relay(w http.ResponseWriter, answer *http.Response) {
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		panic(http.ErrAbortHandler)
	}
}

func drain(answer *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	_ = answer.Body.Close()
}

func operationOf(r *http.Request, body []byte) string {
	if !strings.HasSuffix(r.URL.Path, "/graphql") {
		return ""
	}
	var request struct {
		OperationName string `json:"operationName"`
	}
	_ = json.Unmarshal(body, &request)
	return request.OperationName
}
