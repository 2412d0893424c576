package s3

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// newTransport makes connections that are kept and shared by all requests.
//
// Compression is off, because bytes must arrive as they are stored, and HTTP/2
// too, because one connection per transfer is faster for large bodies. The
// header timeout is long: a store may think for a minute about copying 5 GiB.
func newTransport() http.RoundTripper {
	return wire{&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 3 * time.Minute,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       30 * time.Second,
		MaxIdleConns:          512,
		MaxIdleConnsPerHost:   256,
		WriteBufferSize:       64 << 10,
		ReadBufferSize:        64 << 10,
		DisableCompression:    true,
	}}
}

// wire is the transport with two additions.
//
// It notes the Date header of answers for callers that asked for it through
// their context, since the library drops it. And it takes the body away from a
// request that is over: HTTP may answer before a body was read to its end, and
// what still reads then would steal bytes from the next attempt.
type wire struct{ *http.Transport }

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.ContentLength != 0 {
		body := &attempt{ReadCloser: r.Body}
		defer body.over.Store(true)
		r = r.WithContext(r.Context()) // a copy, since requests are not ours to change
		r.Body = body
	}
	sent := time.Now()
	answer, err := w.Transport.RoundTrip(r)
	note, asked := r.Context().Value(skewKey{}).(*skew)
	if err != nil || !asked {
		return answer, err
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		note.observe(date, sent, time.Now())
	}
	return answer, nil
}

// attempt is a request's body for as long as the request runs.
type attempt struct {
	io.ReadCloser
	over atomic.Bool
}

func (a *attempt) Read(p []byte) (int, error) {
	if a.over.Load() {
		return 0, errors.New("s3: the request is over")
	}
	return a.ReadCloser.Read(p)
}

type skewKey struct{}

// skew is the store's clock minus ours.
type skew struct {
	known bool
	by    time.Duration
}

func withSkew(ctx context.Context) (context.Context, *skew) {
	note := new(skew)
	return context.WithValue(ctx, skewKey{}, note), note
}

// observe compares a Date, which names a whole second, with the middle of that
// second and of the request.
func (s *skew) observe(date, sent, received time.Time) {
	middle := sent.Add(received.Sub(sent) / 2)
	s.known, s.by = true, date.Add(time.Second/2).Sub(middle)
}
