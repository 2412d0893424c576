package actions

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"hasura-storage/s3"
)

// SentBytes are what a client sends to this service of an upload, where it
// cannot reach the store.
type SentBytes struct {
	UploadID string
	Part     int   // 1 and more; 0 is the whole file of a PUT
	Length   int64 // of Body in bytes; -1 is unknown
	Body     io.Reader
}

// ReceiveBytes passes the bytes of an open upload on to where its presigned URL
// would have written them, and returns the object's or part's ETag with its
// quotes. Who has the ticket may send. Bytes may be sent again until the upload
// is complete; from then on it is not found. They are streamed: a body of
// another length than was declared stores nothing and ends nothing.
func (s *Storage) ReceiveBytes(ctx context.Context, in SentBytes) (etag string, err error) {
	u, size, err := s.awaited(ctx, in)
	if err != nil {
		return "", err
	}
	if in.Length >= 0 && in.Length != size {
		return "", errLength(size).With("arrived", in.Length)
	}
	// A body that began in time may end later, but not after the last look at
	// what its ticket left.
	ctx, cancel := context.WithTimeout(ctx, u.Expires_at.Add(lastLook/2).Sub(s.now()))
	defer cancel()
	body := &clientBody{Reader: in.Body}
	if in.Part > 0 {
		var part s3.Part
		part, err = s.store.PutPart(ctx, u.key(), deref(u.Multipart_id), in.Part, body, size)
		etag = part.ETag
	} else {
		var o s3.Object
		o, err = s.store.Put(ctx, deref(u.Staging_key), body, size, octetStream)
		etag = o.ETag
	}
	return etag, body.explain(err, size)
}

// awaited returns the open upload that bytes are for, and how many they must be.
func (s *Storage) awaited(ctx context.Context, in SentBytes) (upload, int64, error) {
	id, err := validID("uploadId", in.UploadID)
	if err != nil {
		return upload{}, 0, err
	}
	u, err := s.upload(ctx, id)
	switch {
	case err != nil:
		return u, 0, err
	case !u.isOpen() || u.Kind == kindREST || u.Kind == kindCopy || !s.now().Before(u.Expires_at):
		return u, 0, errNoUpload
	case in.Part == 0 && !u.isMultipart():
		return u, u.size(), nil
	case in.Part == 0 || !u.isMultipart():
		return u, 0, Errorf(BadRequest, "the upload's method is another: send to the addresses of its ticket")
	case !u.inParts() || u.Multipart_id == nil:
		return u, 0, errNoUpload
	case in.Part < 1 || in.Part > u.partCount():
		return u, 0, Errorf(BadRequest, "the part's number must lie between 1 and %d", u.partCount())
	}
	return u, u.lengthOf(in.Part), nil
}

func errLength(size int64) *Error {
	return Errorf(SizeMismatch, "the body must have %d bytes", size).With("declared", size)
}

// clientBody remembers that it was the client who failed, not the store.
type clientBody struct {
	io.Reader
	failure error
}

func (b *clientBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.failure = err
	}
	return n, err //nolint:wrapcheck // io.EOF must stay itself
}

// explain words what became of passing size bytes of the body on.
func (b *clientBody) explain(err error, size int64) error {
	switch {
	case err == nil:
		return nil
	case b.failure != nil:
		return b.failure
	case errors.Is(err, s3.ErrInvalid):
		return errLength(size).Because(err)
	case errors.Is(err, s3.ErrNotFound): // the upload in parts was completed or aborted
		return errNoUpload.Because(err)
	default:
		return storeError(err)
	}
}

// receiveURL is where this service takes a file, or the nth part of one.
func (s *Storage) receiveURL(u upload, n int) string {
	url := s.links.base + "/uploads/" + u.Id
	if n > 0 {
		url += "/" + strconv.Itoa(n)
	}
	return url
}

// presignedPut says where a client sends the whole file.
func (s *Storage) presignedPut(ctx context.Context, u upload, life time.Duration) (s3.Presigned, error) {
	if s.proxied {
		return s3.Presigned{URL: s.receiveURL(u, 0)}, nil
	}
	signed, err := s.store.PresignPut(ctx, deref(u.Staging_key), life, s3.UploadTerms{Size: u.size(), SHA256: deref(u.Sha256)})
	return signed, storeError(err)
}

// presignedPart says where a client sends the nth part.
func (s *Storage) presignedPart(ctx context.Context, u upload, n int, life time.Duration) (s3.Presigned, error) {
	if s.proxied {
		return s3.Presigned{URL: s.receiveURL(u, n)}, nil
	}
	signed, err := s.store.PresignPart(ctx, u.key(), deref(u.Multipart_id), n, life, u.lengthOf(n))
	return signed, storeError(err)
}
