package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"
)

// Part is an uploaded part.
type Part struct {
	Number int
	ETag   string // with its quotes
	Size   int64  // in bytes
}

// Multipart is an upload in parts that is neither completed nor aborted.
type Multipart struct {
	Key, ID   string
	Initiated time.Time
}

// CreateMultipart begins an upload in parts and returns its id. It must be
// completed or aborted, since its parts take room until then.
func (s *Store) CreateMultipart(ctx context.Context, key, contentType string) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	id, err := s.core.NewMultipartUpload(ctx, s.bucket, key, minio.PutObjectOptions{ContentType: contentType})
	if err == nil && id == "" {
		err = fmt.Errorf("%w: the answer names no upload", ErrUnavailable)
	}
	return id, translate("create multipart", key, err)
}

// PutPart uploads one part of size bytes from here. The rules for body are
// those of [Store.Put].
func (s *Store) PutPart(ctx context.Context, key, id string, number int, body io.Reader, size int64) (Part, error) {
	if number < 1 || number > MaxParts || size < 0 || size > MaxPut {
		return Part{}, fmt.Errorf("s3: put part %d of %q: %w: the number must be 1 to %d and the size, %d, 0 to %d",
			number, key, ErrInvalid, MaxParts, size, MaxPut)
	}
	source, err := exactly(body, size)
	if err != nil {
		return Part{}, fmt.Errorf("s3: put part of %q: %w", key, err)
	}
	options := minio.PutObjectPartOptions{DisableContentSha256: true}
	done, err := s.core.PutObjectPart(ctx, s.bucket, key, id, number, source, size, options)
	if err != nil {
		return Part{}, translateUpload("put part of", key, source, err)
	}
	return Part{Number: number, ETag: quoted(done.ETag), Size: size}, nil
}

// ListParts returns all parts that arrived, in the order of their numbers.
// An upload that was completed or aborted fails with ErrNotFound.
func (s *Store) ListParts(ctx context.Context, key, id string) ([]Part, error) {
	var arrived []minio.ObjectPart
	for marker := 0; ; {
		page, err := s.core.ListObjectParts(ctx, s.bucket, key, id, marker, 1000)
		if err != nil {
			return nil, translate("list parts of", key, err)
		}
		arrived = append(arrived, page.ObjectParts...)
		if !page.IsTruncated {
			return latest(arrived), nil
		}
		if page.NextPartNumberMarker <= marker {
			return nil, fmt.Errorf("s3: list parts of %q: %w: the list does not move on after part %d", key, ErrUnavailable, marker)
		}
		marker = page.NextPartNumberMarker
	}
}

// latest leaves the last part of each number. SeaweedFS lists every one that was
// ever sent, in no order, with times in seconds: where it cannot be told which
// came last, the part counts as missing, and is sent again.
func latest(arrived []minio.ObjectPart) []Part {
	slices.SortStableFunc(arrived, func(a, b minio.ObjectPart) int {
		return cmp.Or(cmp.Compare(a.PartNumber, b.PartNumber), b.LastModified.Compare(a.LastModified))
	})
	var parts []Part
	for i, p := range arrived {
		again := i > 0 && arrived[i-1].PartNumber == p.PartNumber
		tied := i+1 < len(arrived) && arrived[i+1].PartNumber == p.PartNumber && arrived[i+1].LastModified.Equal(p.LastModified)
		if !again && !tied {
			parts = append(parts, Part{Number: p.PartNumber, ETag: quoted(p.ETag), Size: p.Size})
		}
	}
	return parts
}

// CompleteMultipart makes the object of the given parts, in ascending order,
// and returns its key and ETag; [Store.Stat] tells the rest. Parts that are
// missing, too small or of another ETag fail with ErrInvalid and change
// nothing. The upload is used up afterwards: if the answer was lost, the library
// asks again and is told ErrNotFound, and Stat of the key tells that it was done.
func (s *Store) CompleteMultipart(ctx context.Context, key, id string, parts []Part) (Object, error) {
	if len(parts) == 0 || len(parts) > MaxParts {
		return Object{}, fmt.Errorf("s3: complete multipart %q: %w: %d parts are not 1 to %d", key, ErrInvalid, len(parts), MaxParts)
	}
	list := make([]minio.CompletePart, len(parts))
	for i, p := range parts {
		list[i] = minio.CompletePart{PartNumber: p.Number, ETag: quoted(p.ETag)}
	}
	info, err := s.core.CompleteMultipartUpload(ctx, s.bucket, key, id, list, minio.PutObjectOptions{})
	if err != nil {
		return Object{}, translate("complete multipart", key, err)
	}
	return Object{Key: key, ETag: quoted(info.ETag)}, nil
}

// AbortMultipart forgets an upload and its parts. One that is gone already is
// fine. A part that is arriving just then may survive on some stores, so
// whoever must be sure lists again later.
func (s *Store) AbortMultipart(ctx context.Context, key, id string) error {
	err := translate("abort multipart", key, s.core.AbortMultipartUpload(ctx, s.bucket, key, id))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// AbortMultiparts forgets every upload in parts at exactly this key.
func (s *Store) AbortMultiparts(ctx context.Context, key string) error {
	for upload, err := range s.ListMultiparts(ctx, key) {
		if err != nil {
			return err
		}
		if upload.Key != key {
			continue
		}
		if err := s.AbortMultipart(ctx, key, upload.ID); err != nil {
			return err
		}
	}
	return nil
}

// ListMultiparts walks the unfinished uploads whose key begins with prefix. As
// with [Store.List], an error is the last thing it yields. Some stores (MinIO)
// list only the uploads of a key that is the prefix itself.
func (s *Store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[Multipart, error] {
	return func(yield func(Multipart, error) bool) {
		var keyMarker, idMarker string
		for {
			page, err := s.core.ListMultipartUploads(ctx, s.bucket, prefix, keyMarker, idMarker, "", 1000)
			if err != nil {
				yield(Multipart{}, translate("list multipart uploads of", prefix, err))
				return
			}
			for _, u := range page.Uploads {
				if !yield(Multipart{Key: u.Key, ID: u.UploadID, Initiated: u.Initiated}, nil) {
					return
				}
			}
			if !page.IsTruncated {
				return
			}
			if page.NextKeyMarker == keyMarker && page.NextUploadIDMarker == idMarker {
				yield(Multipart{}, fmt.Errorf("s3: list multipart uploads of %q: %w: the list does not move on", prefix, ErrUnavailable))
				return
			}
			keyMarker, idMarker = page.NextKeyMarker, page.NextUploadIDMarker
		}
	}
}

// PartSize is the smallest size of equal parts, in whole MiB and at least
// atLeast, of which an object of size bytes needs no more than [MaxParts].
func PartSize(size, atLeast int64) int64 {
	const mib = 1 << 20
	needed := (size + MaxParts - 1) / MaxParts
	needed = (needed + mib - 1) / mib * mib
	return max(needed, atLeast, MinPart)
}

// putParts streams a body as a multipart upload, one part after the other, so
// that no part is ever held in memory.
func (s *Store) putParts(ctx context.Context, key string, body io.Reader, size int64, contentType string) (Object, error) {
	partSize := PartSize(size, s.limits.putPart)
	return s.inParts(ctx, key, size, contentType, func(id string) ([]Part, error) {
		return s.streamParts(ctx, key, id, body, size, partSize)
	})
}

func (s *Store) streamParts(ctx context.Context, key, id string, body io.Reader, size, partSize int64) ([]Part, error) {
	var parts []Part
	for offset := int64(0); offset < size; offset += partSize {
		length := min(partSize, size-offset)
		source := io.LimitReader(body, length)
		if offset+length == size {
			source = readerOnly{body} // so that a longer body is noticed
		}
		part, err := s.PutPart(ctx, key, id, len(parts)+1, source, length)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// readerOnly hides Seek: a part of a stream cannot be rewound to its start.
type readerOnly struct{ io.Reader }

// inParts wraps the life of a multipart upload around fill. Whatever fails,
// no parts stay behind, also when ctx is over by then. Nobody else may write at
// the key meanwhile.
func (s *Store) inParts(ctx context.Context, key string, size int64, contentType string, fill func(id string) ([]Part, error)) (Object, error) {
	before, err := s.Stat(ctx, key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Object{}, err
	}
	id, err := s.CreateMultipart(ctx, key, contentType)
	if err != nil {
		return Object{}, err
	}
	parts, err := fill(id)
	if err == nil {
		var object Object
		if object, err = s.complete(ctx, key, id, parts, size, before); err == nil {
			object.Size, object.ContentType = size, orDefault(contentType)
			return object, nil
		}
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = s.AbortMultipart(cleanup, key, id) // the first error is the one to tell
	return Object{}, err
}

// complete completes an upload of our own. Where the answer was lost, what stands
// at the key tells whether it was done: an object of the size that is not the one
// that stood there before.
func (s *Store) complete(ctx context.Context, key, id string, parts []Part, size int64, before Object) (Object, error) {
	object, err := s.CompleteMultipart(ctx, key, id, parts)
	if !errors.Is(err, ErrNotFound) {
		return object, err
	}
	now, statErr := s.Stat(ctx, key)
	another := now.ETag != before.ETag || !now.LastModified.Equal(before.LastModified)
	if statErr == nil && now.Size == size && another {
		return Object{Key: key, ETag: now.ETag}, nil
	}
	// What the store answered is not wrapped: it says nothing about a copy's source.
	return Object{}, fmt.Errorf("s3: complete multipart %q: %w: nobody knows whether it was done: %s", key, ErrUnavailable, err.Error())
}
