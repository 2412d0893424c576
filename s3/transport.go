package s3

import (
	"context"
	"net"
	"net/http"
	"time"
)

// newTransport makes connections that are kept and shared by all requests.
//
// Compression is off, because bytes must arrive as they are stored, and HTTP/2
// too, because one connection per transfer is faster for large bodies. The
// header timeout is long: a store may think for a minute about copying 5 GiB.
func newTransport() http.RoundTripper {
	return dated{&http.Transport{
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

// dated notes the Date header of answers for callers that asked for it through
// their context, since the library drops it.
type dated struct{ *http.Transport }

func (d dated) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := d.Transport.RoundTrip(r)
	note, asked := r.Context().Value(skewKey{}).(*skew)
	if err != nil || !asked {
		return answer, err
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		note.observe(date, sent, time.Now())
	}
	return answer, nil
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
