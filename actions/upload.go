package actions

import (
	"context"
	"time"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// The kinds and states of an upload's row.
const (
	kindCreate  = "create"
	kindReplace = "replace"
	kindCopy    = "copy"
	kindREST    = "rest" // the bytes come through the service: nobody else completes it

	stateOpen      = "open"
	stateCommitted = "committed"
	stateAborted   = "aborted"
)

const (
	firstCheck        = time.Minute // until the sweep first looks at an upload
	defaultUploadLife = time.Hour   // of a signed upload URL where no bucket says otherwise
	putGrace          = time.Hour   // a PUT that began in time may end later than its URL
	multipartTicket   = 7 * 24 * time.Hour
	firstParts        = 100         // URLs handed out with a ticket
	lastLook          = time.Hour   // after expires_at: nothing a URL began can still be running
	closedCheck       = time.Minute // when the sweep looks whether a closer died
)

// upload is a row of storage.uploads with the file it is for.
type upload struct{ graphql.Upload }

func (u upload) size() int64       { return int64(deref(u.Size)) }
func (u upload) key() string       { return deref(u.Object_key) }
func (u upload) isMultipart() bool { return u.Part_size != nil }

// inParts reports whether the bytes come in parts to the final key itself. Once
// they are complete and moved away from it, they are staged as those of a PUT.
func (u upload) inParts() bool { return u.isMultipart() && u.Staging_key == nil }

func (u upload) isOpen() bool { return u.State == stateOpen }

// contentType is what the object is stored as; links say the row's type themselves.
func (u upload) contentType() string {
	if u.Mime_type == nil {
		return octetStream
	}
	return *u.Mime_type
}

func (u upload) partCount() int {
	size := int64(*u.Part_size)
	return int((u.size() + size - 1) / size)
}

// lengthOf returns the size of part n, counted from 1: all are equal but the last.
func (u upload) lengthOf(n int) int64 {
	size := int64(*u.Part_size)
	return min(size, u.size()-int64(n-1)*size)
}

// upload reads the row of a ticket.
func (s *Storage) upload(ctx context.Context, id string) (upload, error) {
	// Admin: the ticket is the capability, no role may see uploads.
	found, err := graphql.GetUploads(ctx, s.hasura.Admin(), []string{id})
	if err != nil {
		return upload{}, hasuraError(err)
	}
	if len(found.Uploads) == 0 {
		return upload{}, errNoUpload
	}
	return upload{found.Uploads[0]}, nil
}

// uploads reads the rows of drafts that were written, in their order.
func (s *Storage) uploads(ctx context.Context, drafts []graphql.UploadValues) ([]upload, error) {
	place := map[string]int{}
	ids := make([]string, len(drafts))
	for i, u := range drafts {
		ids[i], place[u.ID] = u.ID, i
	}
	found, err := graphql.GetUploads(ctx, s.hasura.Admin(), ids)
	if err != nil {
		return nil, hasuraError(err)
	}
	if len(found.Uploads) != len(drafts) {
		return nil, errNoUpload
	}
	rows := make([]upload, len(drafts))
	for _, u := range found.Uploads {
		rows[place[u.Id]] = upload{u}
	}
	return rows, nil
}

var errNoUpload = Errorf(UploadNotFound, "upload not found")

// uploadLife is how long a signed upload URL lives.
func uploadLife(b *graphql.Bucket) time.Duration {
	if b == nil || b.UploadExpiration <= 0 {
		return defaultUploadLife
	}
	return min(time.Duration(b.UploadExpiration)*time.Second, s3.MaxExpiry)
}

// ticket signs fresh URLs for an open upload and prolongs its life to theirs.
func (s *Storage) ticket(ctx context.Context, u upload) (Upload, error) {
	life := uploadLife(&u.File.Bucket)
	expires := s.now().Add(life + putGrace)
	if u.isMultipart() {
		expires = s.now().Add(multipartTicket)
	}
	if err := s.place(ctx, u, expires); err != nil {
		return Upload{}, err
	}
	if u.Kind == kindCopy {
		return Upload{UploadID: u.Id, FileID: u.File_id}, nil
	}
	t := Upload{UploadID: u.Id, FileID: u.File_id, Method: methodPut, ExpiresAt: expires.UTC()}
	if !u.isMultipart() {
		return s.signPut(ctx, u, t, life)
	}
	u, err := s.withMultipart(ctx, u)
	if err != nil {
		return Upload{}, err
	}
	return s.signParts(ctx, u, t, life)
}

// withMultipart begins the upload in parts at the store, unless one was begun.
// Of two tickets that are signed at the same time the first one's counts.
func (s *Storage) withMultipart(ctx context.Context, u upload) (upload, error) {
	if u.Multipart_id != nil {
		return u, nil
	}
	id, err := s.store.CreateMultipart(ctx, u.key(), u.contentType())
	if err != nil {
		return u, storeError(err)
	}
	// Admin: uploads are the service's own.
	done, err := graphql.AdoptMultipart(ctx, s.hasura.Admin(), u.Id, id)
	if err != nil {
		return u, hasuraError(err)
	}
	if done.Adopted.Affected_rows == 1 {
		u.Multipart_id = &id
		return u, nil
	}
	now, err := s.upload(ctx, u.Id)
	if err != nil {
		return u, err
	}
	if deref(now.Multipart_id) != id { // else the request was sent twice
		if err := s.store.AbortMultipart(ctx, u.key(), id); err != nil {
			return u, storeError(err)
		}
	}
	if !now.isOpen() || now.Multipart_id == nil {
		return u, errNoUpload
	}
	return now, nil
}

// place notes where the file really stands, since a preset may have chosen it
// (the quota's reservation moves along), and how long the ticket lives now.
func (s *Storage) place(ctx context.Context, u upload, expires time.Time) error {
	mimeType := u.Mime_type
	if u.Kind == kindCreate {
		mimeType = u.File.MimeType
	}
	bucket := u.File.BucketId
	if err := readableType(mimeType); err != nil {
		return err
	}
	placed := deref(u.Bucket_id) == bucket && deref(u.Mime_type) == deref(mimeType)
	if placed && expires.Sub(u.Expires_at).Abs() < time.Minute {
		return nil
	}
	// Admin: uploads are the service's own.
	done, err := graphql.PlaceUpload(ctx, s.hasura.Admin(), u.Id, bucket, mimeType, expires)
	if err != nil {
		return hasuraError(err)
	}
	if done.Placed.Affected_rows == 0 {
		return errNoUpload
	}
	return nil
}

func (s *Storage) signPut(ctx context.Context, u upload, t Upload, life time.Duration) (Upload, error) {
	signed, err := s.presignedPut(ctx, u, life)
	if err != nil {
		return Upload{}, err
	}
	t.URL, t.Headers = &signed.URL, headersOf(signed)
	return t, nil
}

func (s *Storage) signParts(ctx context.Context, u upload, t Upload, life time.Duration) (Upload, error) {
	count, size := u.partCount(), int64(*u.Part_size)
	t.Method, t.PartCount, t.PartSize, t.Headers = methodMultipart, &count, &size, []Header{}
	for n := 1; n <= min(count, firstParts); n++ {
		part, err := s.signPart(ctx, u, n, life)
		if err != nil {
			return Upload{}, err
		}
		t.Parts = append(t.Parts, part)
	}
	return t, nil
}

func (s *Storage) signPart(ctx context.Context, u upload, n int, life time.Duration) (Part, error) {
	signed, err := s.presignedPart(ctx, u, n, life)
	if err != nil {
		return Part{}, err
	}
	return Part{PartNumber: n, URL: signed.URL, Size: u.lengthOf(n), Headers: headersOf(signed)}, nil
}

func headersOf(signed s3.Presigned) []Header {
	headers := make([]Header, 0, len(signed.Headers))
	for _, h := range signed.Headers {
		headers = append(headers, Header(h))
	}
	return headers
}

// detached gives work that must not stop half way a context that the client's
// hang-up does not end, with a limit of its own.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
}
