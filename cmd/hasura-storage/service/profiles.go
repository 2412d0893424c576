package service

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof" //nolint:gosec // its routes in http.DefaultServeMux are served by nobody
	"time"

	"go.uber.org/zap"
)

// profiles serves Go's profiler where BIND_PPROF says, until stop is called. It
// has a listener of its own: it knows no permissions.
func (c *config) profiles(ctx context.Context, log *zap.Logger) (stop func(), err error) {
	if c.bindPprof == "" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.bindPprof)
	if err != nil {
		return nil, fmt.Errorf("BIND_PPROF %s: %w", c.bindPprof, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index) // the named profiles, heap and goroutine among them
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ErrorLog: serverLog(log)}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(listener) }()
	log.Info("profiles are offered", zap.Stringer("address", listener.Addr()))
	return func() { _ = server.Close(); <-ended }, nil
}
