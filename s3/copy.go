package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"
)

const (
	copiesAtATime   = 4
	copySourceMatch = "X-Amz-Copy-Source-If-Match"
)

// CopyOptions say what is copied and what becomes of its metadata.
type CopyOptions struct {
	// IfMatch, an ETag with or without quotes, makes a source that is any
	// other object fail with ErrPreconditionFailed. Empty means whatever is
	// there, except that all parts of a large copy come from one object.
	IfMatch string
	// ContentType of the copy. Nothing else of the source's metadata is kept.
	ContentType string
	// Size of the source in bytes, if the caller knows it from a Stat and
	// gives its ETag as IfMatch; 0 means that Copy looks.
	Size int64
}

// Copy makes the object to from the object from inside the store. Above
// [MaxPut] it copies part by part. A store that lacks an operation gets the
// bytes streamed through this process instead. Copying an object onto itself
// replaces its metadata.
func (s *Store) Copy(ctx context.Context, from, to string, o CopyOptions) (Object, error) {
	if err := errors.Join(checkKey(from), checkKey(to)); err != nil {
		return Object{}, err
	}
	if o.Size == 0 || o.IfMatch == "" {
		source, err := s.Stat(ctx, from)
		if err != nil {
			return Object{}, err
		}
		if o.IfMatch != "" && quoted(o.IfMatch) != source.ETag {
			return Object{}, fmt.Errorf("s3: copy %q: %w", from, ErrPreconditionFailed)
		}
		o.Size, o.IfMatch = source.Size, source.ETag
	}
	object, err := s.copyInside(ctx, from, to, o)
	if notImplemented(err) {
		return s.copyThrough(ctx, from, to, o)
	}
	return object, err
}

func (s *Store) copyInside(ctx context.Context, from, to string, o CopyOptions) (Object, error) {
	if o.Size <= s.limits.whole {
		return s.copyWhole(ctx, from, to, o)
	}
	return s.inParts(ctx, to, o.Size, o.ContentType, func(id string) ([]Part, error) {
		return s.copyParts(ctx, from, to, id, o)
	})
}

func (s *Store) copyWhole(ctx context.Context, from, to string, o CopyOptions) (Object, error) {
	headers := map[string]string{
		"X-Amz-Metadata-Directive": "REPLACE",
		"Content-Type":             orDefault(o.ContentType),
		copySourceMatch:            quoted(o.IfMatch),
	}
	info, err := s.core.CopyObject(ctx, s.bucket, from, s.bucket, to, headers, minio.CopySrcOptions{}, minio.PutObjectOptions{})
	if err = answered(info.ETag, err); err != nil {
		return Object{}, translate("copy", from, err)
	}
	return Object{Key: to, ETag: quoted(info.ETag), Size: o.Size, ContentType: orDefault(o.ContentType), LastModified: info.LastModified}, nil
}

// answered finds the failures that S3 reports inside a 200, when a copy broke
// after the status line had gone out. The library does not see them.
func answered(etag string, err error) error {
	if err == nil && etag == "" {
		return fmt.Errorf("%w: the copy broke off", ErrUnavailable)
	}
	return err
}

func (s *Store) copyParts(ctx context.Context, from, to, id string, o CopyOptions) ([]Part, error) {
	size := PartSize(o.Size, s.limits.copyPart)
	parts := make([]Part, (o.Size+size-1)/size)
	headers := map[string]string{copySourceMatch: quoted(o.IfMatch)}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copiesAtATime)
	for i := range parts {
		offset := int64(i) * size
		length := min(size, o.Size-offset)
		group.Go(func() error {
			done, err := s.core.CopyObjectPart(ctx, s.bucket, from, s.bucket, to, id, i+1, offset, length, headers)
			parts[i] = Part{Number: i + 1, ETag: quoted(done.ETag), Size: length}
			return translate("copy part of", from, answered(done.ETag, err))
		})
	}
	return parts, group.Wait()
}

// copyThrough reads and writes at the same time, in constant memory.
func (s *Store) copyThrough(ctx context.Context, from, to string, o CopyOptions) (Object, error) {
	body, source, err := s.Get(ctx, from, GetOptions{IfMatch: o.IfMatch})
	if err != nil {
		return Object{}, err
	}
	defer body.Close()
	return s.Put(ctx, to, body, source.Size, o.ContentType)
}
