package s3

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Limits of S3 that every store shares.
const (
	// MaxPut is the largest body of one PUT and the largest part, in bytes.
	MaxPut int64 = 5 << 30
	// MaxObject is the largest object, in bytes.
	MaxObject int64 = 5 << 40
	// MinPart is the smallest part but the last, in bytes.
	MinPart int64 = 5 << 20
	// MaxParts is the largest number of parts.
	MaxParts = 10000
	// MaxKey is the longest key, in bytes.
	MaxKey = 1024
)

const defaultType = "application/octet-stream"

// checkKey refuses what S3 has no way to name.
func checkKey(key string) error {
	if key == "" || len(key) > MaxKey {
		return fmt.Errorf("s3: key of %d bytes: %w: it must have 1 to %d bytes", len(key), ErrInvalid, MaxKey)
	}
	return nil
}

// Put stores size bytes of body under key and returns the new object. A body
// that is shorter or longer fails with ErrInvalid and stores nothing; an error
// of body's own comes back wrapped, without a sentinel. The body is streamed,
// never kept; above [MaxPut] it goes as a multipart upload. A body
// that can seek is sent again, from where it stood, if the store asks to come
// back; any other is sent once.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, size int64, contentType string) (Object, error) {
	if err := checkKey(key); err != nil {
		return Object{}, err
	}
	if size < 0 || size > MaxObject {
		return Object{}, fmt.Errorf("s3: put %q: %w: size %d is not between 0 and %d", key, ErrInvalid, size, MaxObject)
	}
	if size > s.limits.whole {
		return s.putParts(ctx, key, body, size, contentType)
	}
	source, err := exactly(body, size)
	if err != nil {
		return Object{}, fmt.Errorf("s3: put %q: %w", key, err)
	}
	// Unsigned payload on plain HTTP too: the chunked signature is the part of
	// S3 that servers get wrong most often, and TLS is what protects bytes.
	options := minio.PutObjectOptions{ContentType: contentType, DisableContentSha256: true}
	info, err := s.core.PutObject(ctx, s.bucket, key, source, size, "", "", options)
	if err != nil {
		return Object{}, translateUpload("put", key, source, err)
	}
	return Object{
		Key: key, ETag: quoted(info.ETag), Size: size, ContentType: orDefault(contentType),
		SHA256: wholeSHA256(info.ChecksumSHA256, info.ChecksumMode), LastModified: info.LastModified,
	}, nil
}

func orDefault(contentType string) string {
	if contentType == "" {
		return defaultType
	}
	return contentType
}

// GetOptions choose what [Store.Get] reads.
type GetOptions struct {
	// Offset is the first byte wanted, Length how many; a Length of 0 means
	// to the end. An Offset at or beyond the end fails with ErrInvalid.
	Offset, Length int64
	// IfMatch, an ETag with or without quotes, makes any other object fail
	// with ErrPreconditionFailed. Empty means whatever is there.
	IfMatch string
}

// Body is an object's bytes. Stop ends a Read that stands still; it may be called
// at any time, by another goroutine too.
type Body interface {
	io.ReadCloser
	Stop()
}

// Get opens an object for reading, with one request. The object exists when
// Get returns; reading ends early only with an error. The caller closes.
func (s *Store) Get(ctx context.Context, key string, o GetOptions) (Body, Object, error) {
	if err := checkKey(key); err != nil {
		return nil, Object{}, err
	}
	options, err := o.request(key)
	if err != nil {
		return nil, Object{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	body, info, header, err := s.core.GetObject(ctx, s.bucket, key, options)
	if err != nil {
		stop()
		return nil, Object{}, translate("get", key, err)
	}
	r := reading{body, key, stop}
	if err := o.rangeServed(key, header); err != nil {
		_ = r.Close()
		return nil, Object{}, err
	}
	object := fromInfo(info)
	object.Size = wholeSize(header, info.Size)
	return r, object, nil
}

// request writes the options as the library wants them.
func (o GetOptions) request(key string) (minio.GetObjectOptions, error) {
	var options minio.GetObjectOptions
	if o.Offset < 0 || o.Length < 0 {
		return options, fmt.Errorf("s3: get %q: %w: offset %d and length %d must not be negative", key, ErrInvalid, o.Offset, o.Length)
	}
	if o.IfMatch != "" {
		options.Set("If-Match", quoted(o.IfMatch))
	}
	switch {
	case o.Length > 0:
		options.Set("Range", fmt.Sprintf("bytes=%d-%d", o.Offset, o.Offset+o.Length-1))
	case o.Offset > 0:
		options.Set("Range", fmt.Sprintf("bytes=%d-", o.Offset))
	}
	return options, nil
}

// rangeServed refuses an answer with the whole object where a part was asked.
func (o GetOptions) rangeServed(key string, header http.Header) error {
	if o.Offset == 0 && o.Length == 0 {
		return nil
	}
	if served := header.Get("Content-Range"); !strings.HasPrefix(served, fmt.Sprintf("bytes %d-", o.Offset)) {
		return fmt.Errorf("s3: get %q: %w: the store ignores ranges", key, ErrUnavailable)
	}
	return nil
}

// wholeSize is the number after the slash of Content-Range, or the length.
func wholeSize(header http.Header, length int64) int64 {
	_, total, partial := strings.Cut(header.Get("Content-Range"), "/")
	if size, err := strconv.ParseInt(total, 10, 64); partial && err == nil {
		return size
	}
	return length
}

// reading gives errors in the middle of a body their sentinel.
type reading struct {
	io.ReadCloser
	key  string
	stop context.CancelFunc
}

func (r reading) Stop() { r.stop() }

func (r reading) Close() error {
	defer r.stop()
	return r.ReadCloser.Close()
}

func (r reading) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = translate("read", r.key, err)
	}
	return n, err
}

// Stat tells what is stored under key.
func (s *Store) Stat(ctx context.Context, key string) (Object, error) {
	if err := checkKey(key); err != nil {
		return Object{}, err
	}
	info, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{Checksum: true})
	if err != nil {
		return Object{}, translate("stat", key, err)
	}
	return fromInfo(info), nil
}

func fromInfo(info minio.ObjectInfo) Object {
	return Object{
		Key: info.Key, ETag: quoted(info.ETag), Size: info.Size, ContentType: info.ContentType,
		SHA256: wholeSHA256(info.ChecksumSHA256, info.ChecksumMode), LastModified: info.LastModified,
	}
}

// wholeSHA256 turns the header's base64 into hex. A composite checksum (the
// digest of the parts' digests, often with a -count behind it) says nothing
// about the bytes as a whole and is left out.
func wholeSHA256(checksum, mode string) string {
	sum, err := base64.StdEncoding.DecodeString(checksum)
	if err != nil || len(sum) != 32 || strings.EqualFold(mode, "COMPOSITE") {
		return ""
	}
	return hex.EncodeToString(sum)
}

// List walks the objects whose key begins with prefix, in the order of their
// keys' bytes, beginning after startAfter. It asks for a thousand at a time.
// An error, the context's own included, is the last thing it yields; without
// one the listing is complete.
func (s *Store) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Object, error] {
	options := minio.ListObjectsOptions{Prefix: prefix, StartAfter: startAfter, Recursive: true}
	return func(yield func(Object, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for info := range s.core.ListObjectsIter(ctx, s.bucket, options) {
			if info.Err != nil {
				yield(Object{}, translate("list", prefix, info.Err))
				return
			}
			object := fromInfo(info)
			object.ContentType = ""
			if !yield(object, nil) {
				return
			}
		}
		// The library ends quietly when its context does, and half a listing
		// must not pass for a whole one.
		if err := ctx.Err(); err != nil {
			yield(Object{}, translate("list", prefix, err))
		}
	}
}
