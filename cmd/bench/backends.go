package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hasura-storage/graphql/localhasura"
	metadata "hasura-storage/hasura-metadata"
	"hasura-storage/s3"
	"hasura-storage/s3/devserver"
)

// What the parts of the stack share. Nothing outside of this machine sees them.
const (
	adminSecret = "bench-admin-secret"
	hookSecret  = "bench-webhook-secret"
	jwtKey      = "a-key-for-benchmarks-of-32-bytes-or-more"
	accessKey   = "bench-access-key"
	secretKey   = "bench-secret-key"
	bucketName  = "bench"
	fileBucket  = "public" // of the starter permissions: everybody reads it
)

// backends are Hasura and the store, each behind a counter. They run in one
// process: only the service's costs are looked at.
type backends struct {
	hasura *localhasura.Server
	store  *devserver.Server

	asked   atomic.Int64 // GraphQL requests
	fetched atomic.Int64 // requests to the store
	delay   atomic.Int64 // of each answer of Hasura's, in nanoseconds
	replay  atomic.Bool  // repeat answers to the questions of downloads
}

// counts are what the counters show.
type counts struct{ Hasura, Store int64 }

// runBackends serves Hasura, the store and control in this order of ports. args
// are the data folder and the service's address.
func runBackends(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	b := &backends{}
	if err := b.open(ctx, args[0], args[1]); err != nil {
		return err
	}
	defer b.store.Stop()
	defer func() { _ = b.hasura.Close() }() // all of it is thrown away
	storage, err := b.storeProxy()
	if err != nil {
		return err
	}
	var addrs []string
	for _, handler := range []http.Handler{b.countHasura(b.hasura.Handler()), storage, b.control()} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go func() { _ = http.Serve(listener, handler) }()
		addrs = append(addrs, listener.Addr().String())
	}
	announce(strings.Join(addrs, " "))
	return nil
}

func (b *backends) open(ctx context.Context, dir, service string) (err error) {
	project, err := metadata.WithStarter()
	if err != nil {
		return err
	}
	tables, err := fs.Sub(project, "metadata")
	if err != nil {
		return err
	}
	b.hasura, err = localhasura.Open(ctx, localhasura.Config{
		Metadata: tables, Migrations: project, Dir: filepath.Join(dir, "hasura"), Env: hasuraEnvironment(service),
	})
	if err != nil {
		return err
	}
	if err := b.hasura.Exec(ctx, openBucket); err != nil {
		return err
	}
	b.store, err = devserver.Start(ctx, devserver.Config{
		Dir: filepath.Join(dir, "store"), AccessKey: accessKey, SecretKey: secretKey, Stdout: os.Stderr,
	})
	if err != nil {
		return err
	}
	store, err := s3.New(s3.Options{Endpoint: b.store.Endpoint, Bucket: bucketName, AccessKey: accessKey, SecretKey: secretKey})
	if err != nil {
		return err
	}
	return store.CreateBucket(ctx)
}

// openBucket makes the bucket that everybody reads, with room for the largest file.
const openBucket = `insert into "storage.buckets" (id, max_upload_file_size) values ('` + fileBucket + `', 1073741824) on conflict do nothing`

func hasuraEnvironment(service string) func(string) string {
	return func(name string) string {
		return map[string]string{
			"HASURA_GRAPHQL_ADMIN_SECRET":      adminSecret,
			"HASURA_GRAPHQL_JWT_SECRET":        `{"type":"HS256","key":"` + jwtKey + `"}`,
			"HASURA_GRAPHQL_UNAUTHORIZED_ROLE": "public",
			"HASURA_STORAGE_URL":               "http://" + service,
			"HASURA_STORAGE_SECRET":            hookSecret,
		}[name]
	}
}

// countHasura counts what is asked, and makes answers as late as they are to be.
func (b *backends) countHasura(next http.Handler) http.Handler {
	next = (&replay{on: &b.replay, next: next}).serve()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked.Add(1)
		if delay := time.Duration(b.delay.Load()); delay > 0 {
			time.Sleep(delay)
		}
		next.ServeHTTP(w, r)
	})
}

// copyBuffers lets the proxy reuse what it copies with.
type copyBuffers struct{ sync.Pool }

func (c *copyBuffers) Get() []byte  { return *c.Pool.Get().(*[]byte) } //nolint:forcetypeassert // nothing else is put
func (c *copyBuffers) Put(b []byte) { c.Pool.Put(&b) }

// storeProxy counts requests on their way to the store. The Host stays, since
// signatures cover it.
func (b *backends) storeProxy() (http.Handler, error) {
	store, err := url.Parse(b.store.Endpoint)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	buffers := &copyBuffers{sync.Pool{New: func() any { piece := make([]byte, 256<<10); return &piece }}}
	return &httputil.ReverseProxy{
		Transport: transport, BufferPool: buffers,
		Rewrite: func(p *httputil.ProxyRequest) {
			b.fetched.Add(1)
			p.SetURL(store)
			p.Out.Host = p.In.Host
		},
	}, nil
}

// control is for the process that measures.
func (b *backends) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(counts{b.asked.Load(), b.fetched.Load()})
	})
	mux.HandleFunc("POST /delay", func(w http.ResponseWriter, r *http.Request) {
		ms, err := strconv.Atoi(r.FormValue("ms"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		b.delay.Store(int64(ms) * int64(time.Millisecond))
	})
	mux.HandleFunc("POST /replay", func(_ http.ResponseWriter, r *http.Request) { b.replay.Store(r.FormValue("on") == "true") })
	mux.HandleFunc("POST /sql", func(w http.ResponseWriter, r *http.Request) {
		script, err := io.ReadAll(r.Body)
		if err := errors.Join(err, b.hasura.Exec(r.Context(), string(script))); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	return mux
}

// remote is the control of backends that run elsewhere.
type remote struct{ addr string }

func (c remote) counts() (counts, error) {
	answer, err := http.Get("http://" + c.addr + "/counts")
	if err != nil {
		return counts{}, err
	}
	defer answer.Body.Close()
	var n counts
	return n, json.NewDecoder(answer.Body).Decode(&n)
}

func (c remote) setDelay(d time.Duration) error {
	return c.post(fmt.Sprintf("/delay?ms=%d", d.Milliseconds()), "")
}

func (c remote) setReplay(on bool) error { return c.post(fmt.Sprintf("/replay?on=%t", on), "") }

func (c remote) sql(script string) error { return c.post("/sql", script) }

func (c remote) post(path, body string) error {
	answer, err := http.Post("http://"+c.addr+path, "text/plain", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("%s: %s", path, text)
	}
	return nil
}
