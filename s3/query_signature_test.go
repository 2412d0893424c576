package s3_test

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"hasura-storage/s3"
)

func queryKey(t *testing.T) (*s3.Store, s3.QueryKey) {
	t.Helper()
	store := open(t, options(func(o *s3.Options) { o.Endpoint = "http://minio:9000" }))
	key, ok := store.QueryKey()
	if !ok {
		t.Fatal("a store with static keys has no query key")
	}
	return store, key
}

func TestQuerySignaturesAreThoseOfTheLibrary(t *testing.T) {
	store, key := queryKey(t)
	for _, name := range []string{"k", "root/6dd1e6a6", "a b/ü+%/~x"} {
		link, err := store.PresignGet(t.Context(), name, time.Hour, s3.ResponseHeaders{ContentType: "a/b c", CacheControl: "max-age=1"})
		if err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(link)
		if end, err := key.Verify(name, u.Query(), time.Now()); err != nil || time.Until(end) < 59*time.Minute {
			t.Errorf("%q, signed by the library: ends %v, %v", name, end, err)
		}
	}
}

func TestSignedQueries(t *testing.T) {
	_, key := queryKey(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	other := key
	other.SecretKey = "another"
	moved := key
	moved.Region = "no-region"
	with := func(name, value string) func(url.Values) { return func(q url.Values) { q.Set(name, value) } }
	without := func(name string) func(url.Values) { return func(q url.Values) { q.Del(name) } }
	tests := map[string]struct {
		change func(url.Values)
		after  time.Duration
		key    s3.QueryKey
		object string
		want   error  // nil: accepted
		bad    string // the parameter that a *BadParameterError names
	}{
		"as it was signed":                {},
		"with a picture's parameters":     {change: with("w", "100")},
		"in its last second":              {after: 59 * time.Second},
		"after its end":                   {after: 60 * time.Second, want: s3.ErrSignatureExpired},
		"long before its time":            {after: -time.Hour, want: s3.ErrSignatureExpired},
		"with another key":                {key: other, want: s3.ErrSignature},
		"signed for another region":       {key: moved},
		"another region than signed":      {change: with("X-Amz-Credential", key.AccessKey+"/20260102/x/s3/aws4_request"), want: s3.ErrSignature},
		"a credential without a region":   {change: with("X-Amz-Credential", key.AccessKey), want: s3.ErrSignature},
		"for another object":              {object: "files/other", want: s3.ErrSignature},
		"with a longer life":              {change: with("X-Amz-Expires", "61"), want: s3.ErrSignature},
		"without what was signed":         {change: without("x-id"), want: s3.ErrSignature},
		"with something signed added":     {change: with("X-Amz-Security-Token", "x"), want: s3.ErrSignature},
		"with another answer's type":      {change: with("response-content-type", "text/html"), want: s3.ErrSignature},
		"by another credential":           {change: with("X-Amz-Credential", "me/20260102/x/s3/aws4_request"), want: s3.ErrSignature},
		"with more headers than the host": {change: with("X-Amz-SignedHeaders", "host;x-y"), want: s3.ErrSignature},
		"with a parameter twice":          {change: func(q url.Values) { q.Add("X-Amz-Date", "x") }, bad: "X-Amz-Date"},
		"without a date":                  {change: without("X-Amz-Date"), bad: "X-Amz-Date"},
		"without an end":                  {change: with("X-Amz-Expires", "many"), bad: "X-Amz-Expires"},
		"with an end beyond S3's":         {change: with("X-Amz-Expires", "604801"), bad: "X-Amz-Expires"},
		"with another algorithm":          {change: with("X-Amz-Algorithm", "none"), bad: "X-Amz-Algorithm"},
		"without a signature":             {change: without("X-Amz-Signature"), bad: "X-Amz-Signature"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			query := key.Sign("files/one", now, time.Minute)
			if test.change != nil {
				test.change(query)
			}
			verifier, object := key, "files/one"
			if test.key.SecretKey != "" {
				verifier = test.key
			}
			if test.object != "" {
				object = test.object
			}
			_, err := verifier.Verify(object, query, now.Add(test.after))
			var bad *s3.BadParameterError
			if test.bad != "" && (!errors.As(err, &bad) || bad.Name != test.bad) {
				t.Errorf("%v, want a bad %s", err, test.bad)
			}
			if test.bad == "" && !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

func FuzzSignedQuery(f *testing.F) {
	key := s3.QueryKey{AccessKey: "a", SecretKey: "s", Region: "r", Host: "h", Bucket: "b"}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Add(key.Sign("files/one", now, time.Minute).Encode())
	f.Add("X-Amz-Date=&X-Amz-Expires=9999999999999999999")
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := url.ParseQuery(raw)
		if err != nil {
			t.Skip()
		}
		right := key.Sign("files/one", now, time.Minute).Get("X-Amz-Signature")
		if _, err := key.Verify("files/one", query, now); err == nil && query.Get("X-Amz-Signature") != right {
			t.Errorf("accepted without the signature: %q", raw)
		}
	})
}
