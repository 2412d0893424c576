package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// QueryKey signs downloads in their query as S3 does (signature version 4) and
// verifies them itself, without a store: so a link can name an object that
// exists under that key in no bucket. Clients that parse such links find what
// they know.
type QueryKey struct {
	AccessKey, SecretKey string
	Region               string
	Host, Bucket         string // of the store that would be asked, path-style
}

// QueryKey returns the store's own keys for signing in queries; false where the
// keys are not static, since such links would end when they change.
func (s *Store) QueryKey() (QueryKey, bool) {
	k := QueryKey{AccessKey: s.accessKey, SecretKey: s.secretKey, Region: s.region, Host: s.core.EndpointURL().Host, Bucket: s.bucket}
	return k, s.secretKey != ""
}

// Why a signed query is refused.
var (
	ErrSignature        = errors.New("the signature does not match")
	ErrSignatureExpired = errors.New("the signature has expired")
)

// BadParameterError names a parameter of a signed query that is missing or cannot be read.
type BadParameterError struct{ Name string }

func (e *BadParameterError) Error() string { return "bad " + e.Name }

const (
	signAlgorithm = "AWS4-HMAC-SHA256"
	signTime      = "20060102T150405Z"
	signDate      = "20060102"
)

// Sign returns the query of a GET of key that may be opened until life has
// passed, 1 second to [MaxExpiry].
func (k QueryKey) Sign(key string, now time.Time, life time.Duration) url.Values {
	now = now.UTC()
	query := url.Values{
		"X-Amz-Algorithm":     {signAlgorithm},
		"X-Amz-Credential":    {k.AccessKey + "/" + k.scope(now)},
		"X-Amz-Date":          {now.Format(signTime)},
		"X-Amz-Expires":       {strconv.Itoa(int(life / time.Second))},
		"X-Amz-SignedHeaders": {"host"},
		"X-Amz-Checksum-Mode": {"ENABLED"}, // no store reads it here; some clients insist on it
		"x-id":                {"GetObject"},
	}
	query.Set("X-Amz-Signature", k.signature(key, query, now))
	return query
}

// Verify returns when the query's permission ends. It fails with [ErrSignature],
// [ErrSignatureExpired] or a *BadParameterError. Parameters that the signature
// does not cover (other than x-id, response-* and X-Amz-*) are not looked at.
// Whatever region a signer with the same key was told is right: it is no secret,
// and links outlive a change of the setting.
func (k QueryKey) Verify(key string, query url.Values, now time.Time) (time.Time, error) {
	signed, life, err := readSigned(query)
	if err != nil {
		return time.Time{}, err
	}
	credential := query.Get("X-Amz-Credential")
	k.Region = regionIn(credential)
	want := k.signature(key, query, signed)
	known := credential == k.AccessKey+"/"+k.scope(signed) && query.Get("X-Amz-SignedHeaders") == "host"
	if !hmac.Equal([]byte(query.Get("X-Amz-Signature")), []byte(want)) || !known {
		return time.Time{}, ErrSignature
	}
	end := signed.Add(life)
	const skew = 15 * time.Minute // as S3 allows between two clocks
	if !now.Before(end) || signed.After(now.Add(skew)) {
		return time.Time{}, ErrSignatureExpired
	}
	return end, nil
}

// readSigned reads what says when, and how, a query was signed. Each parameter
// stands once: of two, a proxy might read the other.
func readSigned(query url.Values) (time.Time, time.Duration, error) {
	for name, values := range query {
		if isSigned(name) && len(values) != 1 {
			return time.Time{}, 0, &BadParameterError{name}
		}
	}
	for _, name := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-SignedHeaders", "X-Amz-Signature"} {
		if query.Get(name) == "" {
			return time.Time{}, 0, &BadParameterError{name}
		}
	}
	if query.Get("X-Amz-Algorithm") != signAlgorithm {
		return time.Time{}, 0, &BadParameterError{"X-Amz-Algorithm"}
	}
	signed, err := time.Parse(signTime, query.Get("X-Amz-Date"))
	if err != nil {
		return time.Time{}, 0, &BadParameterError{"X-Amz-Date"}
	}
	seconds, err := strconv.Atoi(query.Get("X-Amz-Expires"))
	if err != nil || seconds < 1 || seconds > int(MaxExpiry/time.Second) {
		return time.Time{}, 0, &BadParameterError{"X-Amz-Expires"}
	}
	return signed, time.Duration(seconds) * time.Second, nil
}

func isSigned(name string) bool {
	return strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "response-") || name == "x-id"
}

// regionIn finds the region in a credential, key/date/region/s3/aws4_request.
func regionIn(credential string) string {
	parts := strings.Split(credential, "/")
	return parts[max(len(parts)-3, 0)]
}

func (k QueryKey) scope(t time.Time) string {
	return t.Format(signDate) + "/" + k.Region + "/s3/aws4_request"
}

// signature is that of AWS' "Authenticating Requests: Using Query Parameters",
// over the method GET, the path, the query's own parameters and the host.
func (k QueryKey) signature(key string, query url.Values, t time.Time) string {
	covered := url.Values{}
	for name, values := range query {
		if isSigned(name) && name != "X-Amz-Signature" {
			covered[name] = values
		}
	}
	request := strings.Join([]string{
		"GET", "/" + k.Bucket + "/" + escapePath(key), strings.ReplaceAll(covered.Encode(), "+", "%20"),
		"host:" + k.Host + "\n", "host", "UNSIGNED-PAYLOAD",
	}, "\n")
	sum := sha256.Sum256([]byte(request))
	text := fmt.Sprintf("%s\n%s\n%s\n%x", signAlgorithm, t.Format(signTime), k.scope(t), sum)
	derived := []byte("AWS4" + k.SecretKey)
	for part := range strings.SplitSeq(k.scope(t), "/") {
		derived = mac(derived, part)
	}
	return hex.EncodeToString(mac(derived, text))
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// escapePath escapes all but letters, digits and "-._~" in each part of a key.
func escapePath(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}
