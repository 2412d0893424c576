package main

import (
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// guarded refuses bodies that end early. The HTTP server below the gateway
// reports a cut connection as a plain end of the body, and version 1.8.0 then
// publishes what came so far as the whole object. Later versions check it
// themselves (versitygw issue 2414); this can go with them.
type guarded struct{ *posix.Posix }

func (g guarded) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	in.Body = whole(in.Body, in.ContentLength)
	return g.Posix.PutObject(ctx, in)
}

func (g guarded) UploadPart(ctx context.Context, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	in.Body = whole(in.Body, in.ContentLength)
	return g.Posix.UploadPart(ctx, in)
}

func whole(body io.Reader, length *int64) io.Reader {
	if body == nil || length == nil || *length <= 0 {
		return body
	}
	return &wholeReader{body: body, left: *length}
}

type wholeReader struct {
	body io.Reader
	left int64
}

func (w *wholeReader) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.left -= int64(n)
	if err == io.EOF && w.left > 0 {
		err = s3err.GetAPIError(s3err.ErrIncompleteBody)
	}
	return n, err
}
