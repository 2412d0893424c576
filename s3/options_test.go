package s3_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
)

func options(change func(*s3.Options)) s3.Options {
	o := s3.Options{Bucket: "bucket", AccessKey: "key", SecretKey: "secret", Region: "eu-west-1"}
	change(&o)
	return o
}

func TestWhereURLsPoint(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*s3.Options)
		want   string
	}{
		"no endpoint is AWS in the region": {
			func(_ *s3.Options) {}, "https://bucket.s3.eu-west-1.amazonaws.com/k?"},
		"no region is us-east-1": {
			func(o *s3.Options) { o.Region = "" }, "https://bucket.s3.us-east-1.amazonaws.com/k?"},
		"a bucket with dots stays out of the host, where no certificate fits": {
			func(o *s3.Options) { o.Bucket = "my.bucket" }, "https://s3.eu-west-1.amazonaws.com/my.bucket/k?"},
		"an AWS endpoint puts the bucket into the host": {
			func(o *s3.Options) { o.Endpoint = "https://s3.eu-west-1.amazonaws.com" }, "https://bucket.s3.eu-west-1.amazonaws.com/k?"},
		"any other endpoint puts the bucket into the path": {
			func(o *s3.Options) { o.Endpoint = "minio:9000" }, "https://minio:9000/bucket/k?"},
		"insecure is for endpoints without a scheme": {
			func(o *s3.Options) { o.Endpoint, o.Insecure = "minio:9000", true }, "http://minio:9000/bucket/k?"},
		"a scheme wins over insecure": {
			func(o *s3.Options) { o.Endpoint, o.Insecure = "https://minio", true }, "https://minio/bucket/k?"},
		"a slash behind the host does no harm": {
			func(o *s3.Options) { o.Endpoint = "http://minio:9000/" }, "http://minio:9000/bucket/k?"},
		"the public endpoint is what clients see": {
			func(o *s3.Options) { o.Endpoint, o.PublicEndpoint = "http://minio:9000", "https://files.example.com" },
			"https://files.example.com/bucket/k?"},
		"a well-known port is left out, as browsers do": {
			func(o *s3.Options) { o.Endpoint = "https://files.example.com:443" }, "https://files.example.com/bucket/k?"},
		"an IPv6 address": {
			func(o *s3.Options) { o.Endpoint = "http://[::1]:9000" }, "http://[::1]:9000/bucket/k?"},
	} {
		t.Run(sentence, func(t *testing.T) {
			link, err := open(t, options(c.change)).PresignGet(t.Context(), "k", time.Minute, s3.ResponseHeaders{})
			if err != nil {
				t.Fatal(err)
			}
			wantPrefix(t, link, c.want)
		})
	}
}

func TestBadOptionsAreNamed(t *testing.T) {
	for _, c := range []struct {
		change func(*s3.Options)
		want   string
	}{
		{func(o *s3.Options) { o.Bucket = "" }, "bucket"},
		{func(o *s3.Options) { o.Bucket = "Not_A_Bucket" }, "bucket"},
		{func(o *s3.Options) { o.SecretKey = "" }, "access key and secret key"},
		{func(o *s3.Options) { o.AccessKey = "" }, "access key and secret key"},
		{func(o *s3.Options) { o.Endpoint = "http://minio:9000/prefix" }, "endpoint"},
		{func(o *s3.Options) { o.Endpoint = "ftp://minio" }, "http or https"},
		{func(o *s3.Options) { o.Endpoint = "http://user:pw@minio" }, "without user"},
		{func(o *s3.Options) { o.Endpoint = "http://" }, "endpoint"},
		{func(o *s3.Options) { o.PublicEndpoint = "https://files.example.com/s3" }, "public endpoint"},
		{func(o *s3.Options) { o.Region = "mars-north-1" }, "mars-north-1"},
		{func(o *s3.Options) { o.Endpoint, o.Region = "https://id.r2.cloudflarestorage.com", "cn-north-1" }, "auto"},
	} {
		_, err := s3.New(options(c.change))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want it to name %q", err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret\"") {
			t.Errorf("the secret is in %v", err)
		}
	}
}

func TestTheRegionOfASignature(t *testing.T) {
	for endpoint, c := range map[string]struct{ given, want string }{
		"https://id.r2.cloudflarestorage.com":    {"", "auto"},
		"https://id.eu.r2.cloudflarestorage.com": {"us-east-1", "us-east-1"},
		"https://storage.googleapis.com":         {"", "us-east-1"},
		"http://minio:9000":                      {"somewhere", "somewhere"},
	} {
		store := open(t, options(func(o *s3.Options) { o.Endpoint, o.Region = endpoint, c.given }))
		link, err := store.PresignGet(t.Context(), "k", time.Minute, s3.ResponseHeaders{})
		if err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(link)
		if got := strings.Split(u.Query().Get("X-Amz-Credential"), "/")[2]; got != c.want {
			t.Errorf("%s with region %q signs for %q, want %q", endpoint, c.given, got, c.want)
		}
	}
}
