package s3

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxExpiry is how long a presigned URL can live, by the rules of S3.
const MaxExpiry = 7 * 24 * time.Hour

const checksumHeader = "x-amz-checksum-sha256"

// Header is a request header that a client must send exactly so.
type Header struct{ Name, Value string }

// Presigned is a request that a client may make without keys of its own.
type Presigned struct {
	URL string
	// Headers are signed, so the client must send them, besides
	// content-length, which every HTTP client sends by itself.
	Headers []Header
}

// UploadTerms are what the store itself enforces of a presigned upload.
type UploadTerms struct {
	// Size is the exact length in bytes, 0 to [MaxPut]. It is signed unless
	// [Options].UnsignedLength.
	Size int64
	// SHA256 is the hex digest of the body, or empty.
	SHA256 string
}

// PresignPut signs a PUT of one object. Content-Type is not part of the
// signature, because clients rewrite it, and nothing about checksums stands in
// the query, where stores ignore it or trip over it. Signing uses no network
// as long as the keys are static. expires is 1 second to [MaxExpiry].
func (s *Store) PresignPut(ctx context.Context, key string, expires time.Duration, terms UploadTerms) (Presigned, error) {
	var headers []Header
	if terms.SHA256 != "" {
		sum, err := hex.DecodeString(terms.SHA256)
		if err != nil || len(sum) != 32 {
			return Presigned{}, fmt.Errorf("s3: presign put: %w: sha256 %q is not 64 hex digits", ErrInvalid, terms.SHA256)
		}
		headers = append(headers, Header{checksumHeader, base64.StdEncoding.EncodeToString(sum)})
	}
	return s.presignUpload(ctx, key, expires, terms.Size, nil, headers)
}

// PresignPart signs the upload of one part, 1 to [MaxParts], of size bytes.
func (s *Store) PresignPart(ctx context.Context, key, multipartID string, part int, expires time.Duration, size int64) (Presigned, error) {
	if part < 1 || part > MaxParts {
		return Presigned{}, fmt.Errorf("s3: presign part: %w: part number %d is not between 1 and %d", ErrInvalid, part, MaxParts)
	}
	if multipartID == "" {
		return Presigned{}, fmt.Errorf("s3: presign part: %w: the multipart upload's id is empty", ErrInvalid)
	}
	query := url.Values{"uploadId": {multipartID}, "partNumber": {strconv.Itoa(part)}}
	return s.presignUpload(ctx, key, expires, size, query, nil)
}

func (s *Store) presignUpload(ctx context.Context, key string, expires time.Duration, size int64, query url.Values, headers []Header) (Presigned, error) {
	if size < 0 || size > MaxPut {
		return Presigned{}, fmt.Errorf("s3: presign upload: %w: size %d is not between 0 and %d", ErrInvalid, size, MaxPut)
	}
	signed := http.Header{}
	for _, h := range headers {
		signed.Set(h.Name, h.Value)
	}
	if !s.unsignedLength {
		signed.Set("Content-Length", strconv.FormatInt(size, 10))
	}
	link, err := s.presign(ctx, http.MethodPut, key, expires, query, signed)
	return Presigned{URL: link, Headers: headers}, err
}

// ResponseHeaders are what the store sends with a presigned download instead
// of what it holds. An empty one is left as it is stored.
type ResponseHeaders struct{ ContentType, ContentDisposition, CacheControl string }

// PresignGet signs a download. The answer's headers are part of the signature,
// so that whoever has the URL cannot choose others.
func (s *Store) PresignGet(ctx context.Context, key string, expires time.Duration, h ResponseHeaders) (string, error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"response-content-type":        h.ContentType,
		"response-content-disposition": h.ContentDisposition,
		"response-cache-control":       h.CacheControl,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return s.presign(ctx, http.MethodGet, key, expires, query, nil)
}

func (s *Store) presign(ctx context.Context, method, key string, expires time.Duration, query url.Values, signed http.Header) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	if expires < time.Second || expires > MaxExpiry {
		return "", fmt.Errorf("s3: presign: %w: an expiry of %s is not between 1s and %s", ErrInvalid, expires, MaxExpiry)
	}
	link, err := s.signer.PresignHeader(ctx, method, s.bucket, key, expires, query, signed)
	if err != nil {
		return "", translate("presign", key, err)
	}
	return link.String(), nil
}

// SignedHeaders lists the headers that a presigned URL's signature covers, in
// lower case. Diagnostics and tests use it.
func SignedHeaders(link string) []string {
	u, err := url.Parse(link)
	if err != nil {
		return nil
	}
	names := strings.Split(u.Query().Get("X-Amz-SignedHeaders"), ";")
	slices.Sort(names)
	return names
}
