package service

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof" // its routes in http.DefaultServeMux are served by nobody
	"time"

	"go.uber.org/zap"

	"hasura-storage/cmd/hasura-storage/service/telemetry"
)

// profiles serves Go's profiler where BIND_PPROF says, until stop is called.
func (c *config) profiles(ctx context.Context, log *zap.Logger) (stop func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index) // the named profiles, heap and goroutine among them
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	return aside(ctx, "BIND_PPROF", c.bindPprof, mux, log)
}

// metrics serves what Prometheus asks for where BIND_METRICS says, until stop is called.
func (c *config) metrics(ctx context.Context, watch *telemetry.Telemetry, log *zap.Logger) (stop func(), err error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", watch.Metrics())
	return aside(ctx, "BIND_METRICS", c.bindMetrics, mux, log)
}

// aside serves what knows no permissions on a listener of its own: where the
// setting of a name says, or nowhere if that is empty.
func aside(ctx context.Context, setting, address string, h http.Handler, log *zap.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", setting, address, err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ErrorLog: serverLog(log)}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(listener) }()
	log.Info("listening beside", zap.String("setting", setting), zap.Stringer("address", listener.Addr()))
	return func() { _ = server.Close(); <-ended }, nil
}
