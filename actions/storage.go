// Package actions holds the use cases: what happens when Hasura calls an action,
// delivers an event or a cron trigger, or a signed link is opened. Start at
// Storage; each use case has a file of its own. HTTP is spoken elsewhere.
package actions

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// Options configure a Storage. Zero values of the last group are replaced by defaults.
type Options struct {
	Hasura *graphql.Client
	Store  *s3.Store
	Log    *zap.Logger

	RootFolder  string   // of all keys in the bucket; may be empty
	PublicURL   string   // of this service with the API's prefix, without a final slash; links begin with it
	SigningKeys [][]byte // of image links: the first signs, all verify

	// UnauthorizedRole is Hasura's, if it has one. All its sessions count as one.
	UnauthorizedRole string

	MaxOpenUploads        int              // of all sessions together, default 10,000
	CompletionWait        time.Duration    // how long CompleteUpload waits before upload-completing, default 25 s
	CDNCacheControl       string           // the header of that name of what shared caches may keep; "" is none
	CacheAuthorized       bool             // caches may keep answers to callers with credentials, as their bucket says
	MaxDownloadExpiration time.Duration    // longest life of a link for others than the admin, default 1 h
	ImageLimits           images.Limits    // default images.DefaultLimits()
	ImageMemory           int64            // bytes that transforms may use together, default 256 MiB
	ImageQueue            int              // transforms that may wait for that memory, default 256
	PresetsOnly           bool             // pictures are made by presets and signed links alone
	VariantCache          int64            // bytes of finished variants kept in memory, default 64 MiB
	FileCache             int64            // bytes of small files kept in memory, default 32 MiB; below 0 none
	UploadMemory          int64            // bytes that uploads by REST may hold together, default 256 MiB
	Now                   func() time.Time // default time.Now

	// Proxied says that clients cannot reach the store: tickets and links name
	// this service instead.
	Proxied bool

	// Antivirus is the scanner of everything that comes in.
	Antivirus Antivirus

	// Purge tells caches in front of the service to forget files, by their ids;
	// it is called again until it succeeds. nil where there are none.
	Purge func(ctx context.Context, ids []string) error

	// WatchTransform, if set, is told of each transform of a picture as it
	// begins, once there is memory for it; what it returns is called at its end.
	WatchTransform func(ctx context.Context) (ended func(error))
}

// Storage is the service. It is safe for concurrent use; Close it at the end.
type Storage struct {
	hasura *graphql.Client
	loader *graphql.Loader
	store  *s3.Store
	log    *zap.Logger
	now    func() time.Time

	keys        keys
	links       links
	queryKeys   []s3.QueryKey
	maxDownload time.Duration
	maxOpen     int

	cacheAuthorized bool
	cdnCacheControl string
	proxied         bool
	presetsOnly     bool
	purge           func(ctx context.Context, ids []string) error

	completionWait time.Duration

	unauthorizedRole string

	variants    *variants
	small       *bytesCache
	counts      *counts
	completions *completions
	intake      *intake
	scanner     *scanner
	background  *background
	sweeping    sync.Mutex
	reconciling sync.Mutex
}

// New wires a Storage. It talks to nobody.
func New(o Options) (*Storage, error) {
	if len(o.SigningKeys) == 0 {
		return nil, errors.New("no signing key")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Storage{
		hasura:      o.Hasura,
		loader:      graphql.NewLoader(o.Hasura),
		store:       o.Store,
		log:         o.Log,
		now:         o.Now,
		keys:        keys{root: o.RootFolder},
		links:       links{base: o.PublicURL, keys: o.SigningKeys},
		queryKeys:   queryKeys(o.Store, o.SigningKeys),
		maxDownload: cmp.Or(o.MaxDownloadExpiration, time.Hour),
		maxOpen:     cmp.Or(o.MaxOpenUploads, 10_000),

		cacheAuthorized: o.CacheAuthorized,
		cdnCacheControl: o.CDNCacheControl,
		purge:           o.Purge,

		proxied:          o.Proxied,
		presetsOnly:      o.PresetsOnly,
		completionWait:   cmp.Or(o.CompletionWait, defaultCompletionWait),
		unauthorizedRole: o.UnauthorizedRole,

		counts:     newCounts(),
		background: newBackground(o.Log),
	}
	var err error
	if s.scanner, err = newScanner(o.Antivirus); err != nil {
		return nil, err
	}
	s.completions = newCompletions(s.background)
	s.variants = newVariants(s, o)
	s.small = newBytesCache(cmp.Or(o.FileCache, defaultFileCache), s.now)
	s.intake = newIntake(o.Store, cmp.Or(o.UploadMemory, defaultUploadMemory))
	return s, nil
}

// Ready reports whether both parts that the service needs answer.
func (s *Storage) Ready(ctx context.Context) error {
	if err := s.hasura.Ready(ctx); err != nil {
		return hasuraError(err)
	}
	return storeError(s.store.Ready(ctx))
}

// Close waits until detached work has ended, or until ctx is done; then it
// stops that work. Nothing is lost either way: the sweep finishes what it finds.
func (s *Storage) Close(ctx context.Context) error { return s.background.close(ctx) }

// as returns the caller that a session stands for.
func (s *Storage) as(session Session) (graphql.Caller, error) {
	caller, err := s.hasura.As(session)
	if err != nil {
		return caller, sessionError(err)
	}
	return caller, nil
}

const defaultUploadMemory = 256 << 20

func newID() string { return uuid.NewString() }
