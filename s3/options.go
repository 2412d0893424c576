package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

const (
	awsHost       = "s3.amazonaws.com"
	defaultRegion = "us-east-1"
	r2Suffix      = ".r2.cloudflarestorage.com"
)

// r2Regions are what Cloudflare R2 accepts in a signature; it answers
// InvalidRegionName to anything else.
var r2Regions = []string{"auto", "us-east-1", "wnam", "enam", "weur", "eeur", "apac", "oc"}

// check refuses options that no store could serve.
func (o Options) check() error {
	if err := s3utils.CheckValidBucketNameStrict(o.Bucket); err != nil {
		return fmt.Errorf("s3: bucket %q: %w", o.Bucket, err)
	}
	if (o.AccessKey == "") != (o.SecretKey == "") {
		return errors.New("s3: access key and secret key must be given together, or neither")
	}
	return nil
}

// credentials are signature version 4 only. Without keys they are found the
// way AWS' own tools find them, at the first request.
func (o Options) credentials() *credentials.Credentials {
	if o.AccessKey != "" {
		return credentials.NewStaticV4(o.AccessKey, o.SecretKey, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{},
		&credentials.IAM{},
	})
}

// endpoint is a host[:port] and how to speak to it.
type endpoint struct {
	host   string
	secure bool
}

// parseEndpoint reads the option called name.
func parseEndpoint(name, text string, insecure bool) (endpoint, error) {
	if text == "" {
		return endpoint{host: awsHost, secure: true}, nil
	}
	if !strings.Contains(text, "://") {
		scheme := "https://"
		if insecure {
			scheme = "http://"
		}
		text = scheme + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return endpoint{}, fmt.Errorf("s3: %s is no URL", name) // it may hold a password
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, fmt.Errorf("s3: %s %q must be http or https", name, u.Redacted())
	}
	if u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return endpoint{}, fmt.Errorf("s3: %s %q must be a host with an optional port, without user, path or query", name, u.Redacted())
	}
	return endpoint{host: u.Host, secure: u.Scheme == "https"}, nil
}

// lookup puts the bucket into the path on custom endpoints, which rarely have
// a DNS name for each bucket, and into the host name on the clouds that want it.
func (e endpoint) lookup() minio.BucketLookupType {
	u := url.URL{Host: e.host}
	if s3utils.IsAmazonEndpoint(u) || s3utils.IsAliyunOSSEndpoint(u) {
		return minio.BucketLookupAuto
	}
	return minio.BucketLookupPath
}

// regionFor chooses the region to sign with.
func regionFor(host, region string) (string, error) {
	if isR2(host) {
		return r2Region(region)
	}
	if region == "" {
		return defaultRegion, nil
	}
	return region, nil
}

// knownRegion refuses AWS regions that the library does not know: it would
// send their requests to us-east-1 without a word. Only a signed URL shows
// what it does, so one is made, with keys that are none.
func knownRegion(e endpoint, bucket, region string) error {
	if e.host != awsHost {
		return nil
	}
	client, err := newClient(e, region, credentials.NewStaticV4("none", "none", ""), newTransport())
	if err != nil {
		return fmt.Errorf("s3: region %q: %w", region, err)
	}
	link, err := client.PresignedGetObject(context.Background(), bucket, "k", time.Second, nil)
	if err != nil || !strings.Contains(link.Host, "."+region+".") {
		return fmt.Errorf("s3: region %q is no known region of AWS; for another store set its endpoint", region)
	}
	return nil
}

func isR2(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return strings.HasSuffix(name, r2Suffix)
}

func r2Region(region string) (string, error) {
	if region == "" {
		return "auto", nil
	}
	if !slices.Contains(r2Regions, region) {
		return "", fmt.Errorf("s3: region %q does not exist on Cloudflare R2, use auto (or one of %s)", region, strings.Join(r2Regions[1:], ", "))
	}
	return region, nil
}
