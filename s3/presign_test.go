package s3_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
)

// A URL carries the signature and nothing else: no checksum parameters, which
// R2 and browsers trip over, no user's words, no payload hash.
var plainQuery = []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Signature", "X-Amz-SignedHeaders"}

const helloSHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestWhatURLsAreMadeOf(t *testing.T) {
	store := open(t, options(func(o *s3.Options) { o.Endpoint = "http://minio:9000" }))
	unsigned := open(t, options(func(o *s3.Options) { o.Endpoint, o.UnsignedLength = "http://minio:9000", true }))
	put := func(s *s3.Store, terms s3.UploadTerms) func() (string, error) {
		return func() (string, error) {
			p, err := s.PresignPut(t.Context(), "k", time.Hour, terms)
			return p.URL, err
		}
	}
	for sentence, c := range map[string]struct {
		make   func() (string, error)
		query  []string
		signed string
	}{
		"a PUT signs host and length":                    {put(store, s3.UploadTerms{Size: 5}), nil, "content-length;host"},
		"a PUT with SHA-256 signs it as a header":        {put(store, s3.UploadTerms{Size: 5, SHA256: helloSHA256}), nil, "content-length;host;x-amz-checksum-sha256"},
		"the length can be left out":                     {put(unsigned, s3.UploadTerms{Size: 5}), nil, "host"},
		"the length can be left out and the SHA-256 not": {put(unsigned, s3.UploadTerms{SHA256: helloSHA256}), nil, "host;x-amz-checksum-sha256"},
		"a part names its upload and number": {func() (string, error) {
			p, err := store.PresignPart(t.Context(), "k", "up", 2, time.Hour, 5)
			return p.URL, err
		}, []string{"partNumber", "uploadId"}, "content-length;host"},
		"a plain GET signs the host": {func() (string, error) {
			return store.PresignGet(t.Context(), "k", time.Hour, s3.ResponseHeaders{})
		}, nil, "host"},
		"a GET fixes the answer's headers": {func() (string, error) {
			return store.PresignGet(t.Context(), "k", time.Hour, s3.ResponseHeaders{ContentType: "a/b", ContentDisposition: "inline", CacheControl: "private"})
		}, []string{"response-cache-control", "response-content-disposition", "response-content-type"}, "host"},
	} {
		t.Run(sentence, func(t *testing.T) {
			link, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			wantURL(t, link, append(slices.Clone(plainQuery), c.query...), c.signed)
		})
	}
}

func wantURL(t *testing.T, link string, query []string, signed string) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	got := u.Query()
	slices.Sort(query)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, query) {
		t.Errorf("query has %q, want %q", names, query)
	}
	for name, want := range map[string]string{"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-SignedHeaders": signed, "X-Amz-Expires": "3600"} {
		if got.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Get(name), want)
		}
	}
}

func TestTheClientIsToldWhatToSend(t *testing.T) {
	store := open(t, options(func(_ *s3.Options) {}))
	p, err := store.PresignPut(t.Context(), "k", time.Hour, s3.UploadTerms{Size: 5, SHA256: strings.ToUpper(helloSHA256)})
	if err != nil {
		t.Fatal(err)
	}
	want := []s3.Header{{Name: "x-amz-checksum-sha256", Value: "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="}}
	if !slices.Equal(p.Headers, want) {
		t.Fatalf("headers are %v, want %v", p.Headers, want)
	}
}

func TestSigningNeedsNoNetwork(t *testing.T) {
	store := newStub(t, func(_ http.ResponseWriter, _ *http.Request) { t.Error("the internal endpoint was asked") })
	public := newStub(t, func(_ http.ResponseWriter, _ *http.Request) { t.Error("the public endpoint was asked") })
	o := store.options()
	for _, o.PublicEndpoint = range []string{"", public.URL, "https://192.0.2.1"} {
		signer := open(t, o)
		start := time.Now()
		if _, err := signer.PresignPut(t.Context(), "k", time.Hour, s3.UploadTerms{Size: 1}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("signing took %s", took)
		}
	}
}

func TestURLsThatCannotBe(t *testing.T) {
	store := open(t, options(func(_ *s3.Options) {}))
	put := func(key string, expires time.Duration, terms s3.UploadTerms) error {
		_, err := store.PresignPut(t.Context(), key, expires, terms)
		return err
	}
	part := func(id string, number int) error {
		_, err := store.PresignPart(t.Context(), "k", id, number, time.Hour, 1)
		return err
	}
	for sentence, err := range map[string]error{
		"no key":                put("", time.Hour, s3.UploadTerms{}),
		"too short a life":      put("k", time.Millisecond, s3.UploadTerms{}),
		"too long a life":       put("k", 8*24*time.Hour, s3.UploadTerms{}),
		"a negative size":       put("k", time.Hour, s3.UploadTerms{Size: -1}),
		"more than 5 GiB":       put("k", time.Hour, s3.UploadTerms{Size: s3.MaxPut + 1}),
		"a digest that is none": put("k", time.Hour, s3.UploadTerms{SHA256: "abc"}),
		"part 0":                part("up", 0),
		"part 10,001":           part("up", 10_001),
		"no upload":             part("", 1),
	} {
		if err == nil {
			t.Errorf("%s was signed", sentence)
			continue
		}
		wantOnly(t, err, s3.ErrInvalid)
	}
}

func BenchmarkPresignPut(b *testing.B) {
	store, err := s3.New(options(func(_ *s3.Options) {}))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := store.PresignPut(b.Context(), "root/version/id", time.Hour, s3.UploadTerms{Size: 5}); err != nil {
			b.Fatal(err)
		}
	}
}
