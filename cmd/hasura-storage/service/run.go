// Package service is the storage service as a whole: it reads the environment,
// wires the parts, serves and stops. Start at Run.
package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"hasura-storage/actions"
	"hasura-storage/cmd/hasura-storage/purge"
	"hasura-storage/cmd/hasura-storage/service/telemetry"
	"hasura-storage/graphql"
	"hasura-storage/handlers"
	"hasura-storage/s3"
)

// stopTime is how long requests and detached work may take to end. What is not
// done then, the next sweep finishes.
const stopTime = 30 * time.Second

// Run is the service. It migrates the database and applies the metadata where
// it is told to, serves until ctx ends, then lets requests and detached work
// end, for 30 seconds at most. Settings come by getenv; SettingsTable lists
// them, and the error names every wrong one. Where it listens is sent to ready,
// which may be nil.
func Run(ctx context.Context, getenv func(string) string, log *zap.Logger, ready chan<- net.Addr) error {
	c, err := load(getenv)
	if err != nil {
		return fmt.Errorf("the configuration is wrong:\n%w", err)
	}
	return c.run(ctx, log, ready)
}

// Storage wires the use cases as Run does, for a command that serves nothing. It
// talks to nobody; whoever has it closes it.
func Storage(getenv func(string) string, log *zap.Logger) (*actions.Storage, error) {
	c, err := load(getenv)
	if err != nil {
		return nil, fmt.Errorf("the configuration is wrong:\n%w", err)
	}
	return c.storage(telemetry.Hooks{}, log)
}

func (c *config) run(ctx context.Context, log *zap.Logger, ready chan<- net.Addr) error {
	for _, text := range c.warnings {
		log.Warn(text)
	}
	c.boundMemory(os.DirFS("/"), log)
	defer runtime.KeepAlive(make([]byte, headroom))
	watch, err := telemetry.New(ctx, telemetry.Options{Version: Version(), Metrics: c.bindMetrics != "", Traces: c.traces, Log: log})
	if err != nil {
		return err
	}
	defer stopTelemetry(watch, log)               //nolint:contextcheck // ctx has ended by then
	storage, err := c.storage(watch.Hooks(), log) //nolint:contextcheck // it talks to nobody
	if err != nil {
		return err
	}
	if err := c.prepare(ctx, log); err != nil || ctx.Err() != nil {
		return err
	}
	stopProfiles, err := c.profiles(ctx, log)
	if err != nil {
		return err
	}
	defer stopProfiles()
	service := newSwept(storage, time.Now()).every(c.sweepCheck, c.sweepPatience)
	watch.Follow(storage.Stats, service.lastSweep)
	stopMetrics, err := c.metrics(ctx, watch, log)
	if err != nil {
		return err
	}
	defer stopMetrics()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.bind)
	if err != nil {
		return fmt.Errorf("BIND %s: %w", c.bind, err)
	}
	p := process{server: c.server(service, storage, watch.Hooks(), log), listener: listener, service: service, storage: storage, log: log}
	log.Info("listening", zap.Stringer("address", listener.Addr()), zap.String("version", Version()))
	if ready != nil {
		ready <- listener.Addr()
	}
	return p.serve(ctx)
}

// process is what runs, and what has to end.
type process struct {
	server   *http.Server
	listener net.Listener
	service  *swept
	storage  *actions.Storage
	log      *zap.Logger
}

// stopTelemetry sends what is left, for five seconds at most.
func stopTelemetry(watch *telemetry.Telemetry, log *zap.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := watch.Close(ctx); err != nil {
		log.Warn("the last traces are lost", zap.Error(err))
	}
}

// storage wires the use cases. It talks to nobody.
func (c *config) storage(watch telemetry.Hooks, log *zap.Logger) (*actions.Storage, error) {
	hasura, errHasura := graphql.New(graphql.Options{
		Endpoint: c.hasuraEndpoint, AdminSecret: c.adminSecret.reveal(),
		BackendOnly: c.backendOnly, UnauthorizedRole: c.unauthorizedRole, ForwardHeaders: c.forwardHeaders,
		Watch: watch.Hasura,
	})
	options := c.storeOptions()
	options.Watch = watch.Store
	store, errStore := s3.New(options)
	forget, errPurge := purge.New(c.purgeOptions())
	if err := errors.Join(errHasura, errStore, errPurge); err != nil {
		return nil, fmt.Errorf("the configuration is wrong:\n%w", err)
	}
	return actions.New(actions.Options{
		Hasura: hasura, Store: store, Log: log,
		RootFolder: c.rootFolder, PublicURL: c.publicURL + c.prefix, SigningKeys: c.keys(),
		MaxDownloadExpiration: c.maxDownload, UnauthorizedRole: c.unauthorizedRole,
		CacheAuthorized: c.cacheAuthorized, CDNCacheControl: c.cdnCacheControl, Purge: forget, UploadMemory: c.uploadMemory,
		Proxied: c.proxied, Antivirus: c.antivirus,
		ImageLimits: c.images, PresetsOnly: c.presetsOnly, ImageMemory: c.imageMemory, VariantCache: c.imageCache, FileCache: c.fileCache,
		WatchTransform: watch.Transform,
	})
}

func (c *config) keys() [][]byte {
	keys := make([][]byte, 0, len(c.signingKeys))
	for _, key := range c.signingKeys {
		keys = append(keys, []byte(key.reveal()))
	}
	return keys
}

// server has no limit for a whole request or answer: files are large and
// clients slow. The handlers move deadlines along with the bytes.
func (c *config) server(service handlers.Service, storage *actions.Storage, watch telemetry.Hooks, log *zap.Logger) *http.Server {
	var receiver handlers.Receiver
	if c.proxied {
		receiver = storage
	}
	return &http.Server{
		Handler: handlers.New(service, handlers.Options{
			Log: log, Secret: c.webhookSecret.reveal(), Prefix: c.prefix, Version: Version(), CORS: c.cors,
			AdminSecret: c.adminSecret.reveal(), Files: storage,
			Receiver: receiver, Notifications: handlers.Notifications{Secret: c.hints.reveal(), Arrived: storage.Arrived},
			Cookies: slices.ContainsFunc(c.forwardHeaders, func(name string) bool { return strings.EqualFold(name, "Cookie") }),
			Watch:   watch.Request,
		}),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          serverLog(log),
	}
}

// serve returns when everything has ended. Requests keep their contexts while
// the service stops: they are to end, not to be cut.
func (p process) serve(ctx context.Context) error {
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	var watchers sync.WaitGroup
	watchers.Go(func() { untilReady(watching, p.storage.Ready, readyPause, p.log) })
	watchers.Go(func() { p.service.watch(watching, p.log) })

	failed := make(chan error, 1)
	go func() { failed <- p.server.Serve(p.listener) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		p.log.Info("stopping")
	}
	stopWatching()
	watchers.Wait()
	return errors.Join(err, p.stop()) //nolint:contextcheck // ctx has ended
}

// stop ends what takes new work first, then the work.
func (p process) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err := p.server.Shutdown(ctx)
	if err != nil {
		_ = p.server.Close() // clients that are still reading are cut
	}
	if closing := p.storage.Close(ctx); closing != nil {
		err = errors.Join(err, fmt.Errorf("detached work was stopped: %w", closing))
	}
	return err
}
