package handlers_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

const link = "/v1/files/" + fileID + "/signed/a.b/w600?exp=1&sig=s%2Bs"

func TestSignedContent(t *testing.T) {
	call := []string{"signed " + fileID + " a.b/w600 exp=1&sig=s%2Bs"}
	typed := func(contentType string) actions.Content {
		c := file("<x/>")
		c.ContentType = contentType
		return c
	}
	unopened := file("0123456789")
	unopened.Open = func(context.Context, int64, int64) (actions.Body, error) {
		return nil, actions.Errorf(actions.StorageUnavailable, "the store is away").Because(errors.New("dial"))
	}
	chosen := file("0123456789")
	chosen.Negotiated = true
	empty := file("")
	empty.Open = nil
	ten := stub{content: file("0123456789")}

	runAll(t, map[string]scenario{
		"the whole": {
			service: ten, path: link, status: 200, has: []string{"0123456789"}, calls: call,
			answers: map[string]string{
				"Content-Type": "image/jpeg", "Content-Length": "10", "Etag": `"abc"`, "Cache-Control": "max-age=60", "Accept-Ranges": "bytes",
				"Content-Disposition": `inline; filename="a.jpg"`, "Last-Modified": "Thu, 02 May 2024 10:11:12 GMT",
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "", "Content-Range": "",
			},
			logs: []string{`"route":"/v1/files/{id}/signed/*"`, `"bytes":10`}, unsaid: []string{"sig=", "a.b", "a.jpg"},
		},
		"its headers": {
			service: ten, method: "HEAD", path: link, headers: map[string]string{"Range": "bytes=0-1"}, status: 200, lacks: []string{"012"}, calls: call,
			answers: map[string]string{"Content-Length": "10", "Content-Type": "image/jpeg"},
		},
		"a part": {
			service: ten, path: link, headers: map[string]string{"Range": "bytes=2-4"}, status: 206, has: []string{"234"}, lacks: []string{"2345"}, calls: call,
			answers: map[string]string{"Content-Length": "3", "Content-Range": "bytes 2-4/10"},
		},
		"all of it as a part": {
			service: ten, path: link, headers: map[string]string{"Range": "bytes=0-"}, status: 206, has: []string{"0123456789"}, calls: call,
			answers: map[string]string{"Content-Range": "bytes 0-9/10"},
		},
		"outside": {
			service: ten, path: link, headers: map[string]string{"Range": "bytes=10-"}, status: 416, has: []string{`"code":"bad-request"`, `"size":10`}, calls: call,
			answers: map[string]string{"Content-Range": "bytes */10", "Cache-Control": "no-store"},
		},
		"the client has it": {
			service: stub{content: unopened}, path: link, headers: map[string]string{"If-None-Match": `"abc"`}, status: 304, calls: call,
			answers: map[string]string{"Etag": `"abc"`, "Cache-Control": "max-age=60", "Content-Length": "", "Content-Type": ""},
		},
		"it has changed": {
			service: stub{content: unopened}, path: link, headers: map[string]string{"If-Match": `"old"`}, status: 412, has: []string{`"code":"conflict"`}, calls: call,
		},
		"an empty file is not asked for": {
			service: stub{content: empty}, path: link, status: 200, calls: call, answers: map[string]string{"Content-Length": "0"},
		},
		"the store is away": {
			service: stub{content: unopened}, path: link, status: 503, has: []string{`"message":"the store is away"`, `"code":"storage-unavailable"`, `"data":null`}, lacks: []string{"dial"}, calls: call,
			answers: map[string]string{"X-Error": "the store is away", "Etag": "", "Content-Disposition": "", "Cache-Control": "no-store"},
		},
		"a link that was changed": {
			service: stub{err: actions.Errorf(actions.NotAllowed, "the signature is wrong\r\nX: y ü")}, path: link, status: 403, has: []string{`"code":"not-allowed"`}, calls: call,
			answers: map[string]string{"X-Error": "the signature is wrong??X: y ?"},
		},
		"a query that cannot be read": {
			service: ten, path: "/v1/files/x/signed/y?sig=%zz", status: 400, has: []string{`"code":"bad-request"`},
		},
		"escapes reach the service as they are": {
			service: ten, path: "/v1/files/x/signed/a%2Fb%20c", status: 200, calls: []string{"signed x a%2Fb%20c "},
		},
		"too much at once": {
			service: stub{err: actions.Errorf(actions.Busy, "later")}, path: link, status: 503, calls: call, answers: map[string]string{"Retry-After": "1"},
		},
		"a format that the browser chose": {
			service: stub{content: chosen}, path: link, status: 200, calls: call, answers: map[string]string{"Vary": "Accept"},
		},
		"it may choose another by the next request": {
			service: stub{content: chosen}, path: link, headers: map[string]string{"If-None-Match": `"abc"`}, status: 304, calls: call, answers: map[string]string{"Vary": "Accept"},
		},
		"a picture that runs scripts": {
			service: stub{content: typed("image/svg+xml")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff"},
		},
		"a page": {
			service: stub{content: typed("Text/HTML; charset=utf-8")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"},
		},
		"a type that cannot be read": {
			service: stub{content: typed("text/ht ml")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"},
		},
		"a type without a subtype": {
			service: stub{content: typed("html")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff"},
		},
		"a type that is none, by which browsers look for HTML": {
			service: stub{content: typed("application/unknown")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff"},
		},
		"any type": {
			service: stub{content: typed("*/*")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff"},
		},
		"a type that ends its header": {
			service: stub{content: typed("text/html\r\nX-Evil: 1")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Evil": ""},
		},
		"a stylesheet, which Chromium takes for XML": {
			service: stub{content: typed("text/xsl")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"},
		},
		"parts of types of their own": {
			service: stub{content: typed("multipart/x-mixed-replace; boundary=x")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"},
		},
		"a script, which is shown and not run": {
			service: stub{content: typed("text/javascript; charset=utf-8")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff"},
		},
		"plain text": {
			service: stub{content: typed("text/plain; charset=utf-8")}, path: link, status: 200, calls: call,
			answers: map[string]string{"Content-Security-Policy": "", "X-Content-Type-Options": "nosniff"},
		},
		"a document whose viewer a sandbox would keep out": {
			service: stub{content: typed("application/pdf")}, path: link, status: 200, calls: call, answers: map[string]string{"Content-Security-Policy": ""},
		},
		"no type": {
			service: stub{content: typed("")}, path: link, status: 200, calls: call, answers: map[string]string{"Content-Type": "application/octet-stream"},
		},
	})
}

// TestACutBodyIsSeen uses a real connection: the promise is that a client can
// tell half a file from a whole one.
func TestACutBodyIsSeen(t *testing.T) {
	c := file("0123456789")
	c.Open = func(context.Context, int64, int64) (actions.Body, error) {
		return body{strings.NewReader("01234")}, nil
	}
	server := httptest.NewServer(handlers.New(&stub{content: c}, options()))
	defer server.Close()
	answer, err := http.Get(server.URL + link)
	if err != nil {
		return // cut before anything had left
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("read %q without an error", got)
	}
}

// TestAnAnswerOutlivesTheReadDeadline holds back an action's answer; the
// connection must serve the next request too.
func TestAnAnswerOutlivesTheReadDeadline(t *testing.T) {
	server := httptest.NewServer(handlers.New(&stub{}, options()))
	defer server.Close()
	for range 2 {
		r, _ := http.NewRequest(http.MethodPost, server.URL+"/cron/sweep", strings.NewReader("{}"))
		r.Header.Set("X-Hasura-Storage-Secret", secret)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("status = %d", answer.StatusCode)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestWhoStandsStillIsGivenUp: the store that sends no more, and the client
// that takes no more.
func TestWhoStandsStillIsGivenUp(t *testing.T) {
	endless := file("")
	endless.Size = 1 << 40
	for name, body := range map[string]actions.Body{
		"the store":  &waiting{done: make(chan struct{})},
		"the client": zeros{},
	} {
		t.Run(name, func(t *testing.T) {
			c := endless
			c.Open = func(context.Context, int64, int64) (actions.Body, error) { return body, nil }
			o := options()
			o.Stall = 100 * time.Millisecond
			ended := make(chan struct{})
			h := handlers.New(&stub{content: c}, o)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				h.ServeHTTP(w, r)
			}))
			defer server.Close()
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "GET "+link+" HTTP/1.1\r\nHost: x\r\n\r\n")
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				t.Error("the request goes on")
			}
		})
	}
}

// waiting is a body of which a piece comes, and then nothing.
type waiting struct {
	done chan struct{} // closed by Stop
	sent bool
}

func (b *waiting) Stop()        { close(b.done) }
func (b *waiting) Close() error { return nil }

func (b *waiting) Read(p []byte) (int, error) {
	if !b.sent {
		b.sent = true
		return len(p), nil
	}
	<-b.done
	return 0, context.Canceled
}

// zeros is a body without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
func (zeros) Close() error               { return nil }
func (zeros) Stop()                      {}
