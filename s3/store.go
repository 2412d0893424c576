// Package s3 keeps the bytes of files in one bucket of any S3-compatible store.
//
// Start at [New], which makes a [Store] from [Options]. A Store offers what S3
// itself offers (put, get, stat, copy, delete, list, multipart uploads and
// presigned URLs) in the words of S3, and hides the places where stores and
// the client library differ. Keys are opaque here: what they mean, and who may
// touch them, is decided elsewhere.
//
// Every method takes a context that bounds it, retries and waits included, and
// fails with an error that wraps exactly one of the sentinels ([ErrNotFound],
// [ErrPreconditionFailed], [ErrDenied], [ErrInvalid], [ErrUnavailable]), or
// with the context's own error if the caller gave up. After ErrUnavailable the
// outcome of a write is unknown.
//
// The promises are written down as tests in package s3test, which run against
// any server.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Options say where the store is and who we are there.
type Options struct {
	// Endpoint is a host, host:port or URL without a path. Empty means AWS in
	// Region. The scheme of a URL wins over Insecure.
	Endpoint string
	// PublicEndpoint is the URL under which clients reach the same store; it
	// is written into presigned URLs and never called. Empty means Endpoint.
	PublicEndpoint string
	// Region is part of every signature. Empty means us-east-1, or auto on
	// Cloudflare R2.
	Region string
	// Bucket must exist; see [Store.Ready] and [Store.CreateBucket].
	Bucket string
	// AccessKey and SecretKey are given both, or both left empty. Empty means
	// the AWS chain: environment, credentials file, the machine's own role.
	AccessKey, SecretKey string
	// Insecure speaks plain HTTP to an Endpoint that is no URL.
	Insecure bool
	// UnsignedLength leaves content-length out of presigned PUTs, for clients
	// behind proxies that send bodies in chunks. The store then no longer
	// refuses a body of another length.
	UnsignedLength bool

	// Watch, if set, is told of each request to the store as it is sent, those
	// of repeated tries included: api is its name in S3's own words, such as
	// GetObject. Headers may be added to r, unsigned. What it returns is called
	// once the answer's header or an error has come, and may wrap its body.
	Watch func(api string, r *http.Request) (ended func(*http.Response, error))
}

// Object is what the store knows about one object.
type Object struct {
	Key string
	// ETag has its quotes, as HTTP writes it.
	ETag string
	// Size is in bytes, of the whole object also when a part of it is read.
	Size int64
	// ContentType is empty in listings.
	ContentType string
	// SHA256 is the lower-case hex digest of the whole object, or empty if
	// the store keeps none. Only [Store.Stat] and [Store.Put] fill it.
	SHA256 string
	// LastModified has the store's clock and precision, often one second.
	LastModified time.Time
}

// Store is one bucket. It is safe for concurrent use and needs no closing.
type Store struct {
	bucket         string
	region         string
	unsignedLength bool

	accessKey, secretKey string // empty where the keys are not static

	core   minio.Core
	signer *minio.Client // holds the public host; it signs and never dials
	limits limits

	// singleDeletes is set once the store answered that it has no multi-delete.
	singleDeletes atomic.Bool
}

// limits decide what goes in one piece and what in parts. Tests lower them.
type limits struct {
	whole    int64 // the largest body of one request
	copyPart int64 // the usual part of a large copy
	putPart  int64 // and of a large put, small enough for a store to take in seconds
}

var usualLimits = limits{whole: MaxPut, copyPart: 512 << 20, putPart: 256 << 20}

// attempts bounds the tries of one request. The library waits at most a second
// between them, so a call gives up after some three seconds of plain refusals.
const attempts = 4

// New makes a Store. It checks the options, names the first bad one in its
// error, and uses no network.
func New(o Options) (*Store, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	internal, err := parseEndpoint("endpoint", o.Endpoint, o.Insecure)
	if err != nil {
		return nil, err
	}
	public := internal
	if o.PublicEndpoint != "" {
		if public, err = parseEndpoint("public endpoint", o.PublicEndpoint, o.Insecure); err != nil {
			return nil, err
		}
	}
	region, err := regionFor(internal.host, o.Region)
	if err != nil {
		return nil, err
	}
	if err := knownRegion(internal, o.Bucket, region); err != nil {
		return nil, err
	}
	keys := o.credentials()
	client, err := newClient(internal, region, keys, o.transport())
	if err != nil {
		return nil, fmt.Errorf("s3: endpoint: %w", err)
	}
	signer, err := newClient(public, region, keys, newTransport())
	if err != nil {
		return nil, fmt.Errorf("s3: public endpoint: %w", err)
	}
	return &Store{
		bucket: o.Bucket, region: region, unsignedLength: o.UnsignedLength,
		accessKey: o.AccessKey, secretKey: o.SecretKey,
		core: minio.Core{Client: client}, signer: signer, limits: usualLimits,
	}, nil
}

// newClient makes a client that needs no network to be made or to sign: the
// region is always given, so the library never asks the store for it.
func newClient(e endpoint, region string, keys *credentials.Credentials, transport http.RoundTripper) (*minio.Client, error) {
	client, err := minio.New(e.host, &minio.Options{
		Creds: keys, Secure: e.secure, Region: region, BucketLookup: e.lookup(),
		Transport: transport, MaxRetries: attempts,
	})
	if err != nil {
		return nil, err
	}
	// The plain regional names are the ones people write into policies, CORS
	// rules and firewalls.
	client.SetS3EnableDualstack(false)
	return client, nil
}

// CreateBucket makes the bucket; one that exists already and is ours is fine.
// It is meant for development and tests.
func (s *Store) CreateBucket(ctx context.Context) error {
	err := s.core.MakeBucket(ctx, s.bucket, minio.MakeBucketOptions{Region: s.region})
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && answer.Code == minio.BucketAlreadyOwnedByYou {
		return nil
	}
	return translate("create bucket", s.bucket, err)
}

// quoted writes an ETag as HTTP does. The library strips the quotes.
func quoted(etag string) string {
	if etag == "" {
		return ""
	}
	return `"` + strings.Trim(etag, `"`) + `"`
}
