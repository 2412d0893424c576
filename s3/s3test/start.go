// Package s3test gives tests a real S3 server and says, as a suite of tests,
// what package s3 promises on any of them.
package s3test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hasura-storage/s3"
	"hasura-storage/s3/devserver"
)

const (
	accessKey = "test-access-key"
	secretKey = "test-secret-key"
	region    = "us-east-1"
)

// Start returns the options of a fresh, empty bucket on a running server: the
// one that S3_TEST_ENDPOINT names, if it is set (with S3_TEST_ACCESS_KEY,
// S3_TEST_SECRET_KEY and S3_TEST_REGION), else the local one of [Local].
func Start(tb testing.TB) s3.Options {
	tb.Helper()
	if o, ok := other(); ok {
		return withBucket(tb, o)
	}
	return Local(tb)
}

// Local returns the options of a fresh bucket on devs3. One devs3 serves all
// tests of the process and ends with it; the first test of a new checkout
// waits for the build.
func Local(tb testing.TB) s3.Options {
	tb.Helper()
	server, err := child()
	if err != nil {
		tb.Fatal(err)
	}
	return withBucket(tb, s3.Options{
		Endpoint: server.Endpoint, Region: region, AccessKey: accessKey, SecretKey: secretKey,
	})
}

// Store opens the bucket of Start.
func Store(tb testing.TB) *s3.Store {
	tb.Helper()
	return Open(tb, Start(tb))
}

// Open makes a store of options or fails the test.
func Open(tb testing.TB, o s3.Options) *s3.Store {
	tb.Helper()
	store, err := s3.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func other() (s3.Options, bool) {
	o := s3.Options{
		Endpoint: os.Getenv("S3_TEST_ENDPOINT"), Region: os.Getenv("S3_TEST_REGION"), Insecure: true,
		AccessKey: os.Getenv("S3_TEST_ACCESS_KEY"), SecretKey: os.Getenv("S3_TEST_SECRET_KEY"),
	}
	return o, o.Endpoint != ""
}

// withBucket gives each test a bucket of its own, so that none sees another's
// objects and nothing needs to be tidied up between them.
func withBucket(tb testing.TB, o s3.Options) s3.Options {
	tb.Helper()
	o.Bucket = "t-" + strings.ToLower(rand.Text()[:16])
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := Open(tb, o).CreateBucket(ctx); err != nil {
		tb.Fatal(err)
	}
	return o
}

// child is the one devs3 of this process. It keeps its objects in a folder
// that it removes itself, when the process is gone.
var child = sync.OnceValues(func() (*devserver.Server, error) {
	dir, err := os.MkdirTemp("", "hasura-storage-s3test-")
	if err != nil {
		return nil, err
	}
	server, err := devserver.Start(context.Background(), devserver.Config{
		Dir: dir, Scratch: true, AccessKey: accessKey, SecretKey: secretKey, Region: region, Stdout: os.Stderr,
	})
	if err != nil {
		return nil, fmt.Errorf("tests need the local S3 server: %w", err)
	}
	return server, nil
})
