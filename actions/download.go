package actions

import (
	"context"
	"time"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// The values of StorageDisposition.
const (
	dispositionInline     = "INLINE"
	dispositionAttachment = "ATTACHMENT"
)

// Download hands out a link to a file that the session may select: at the store
// for the file itself, at this service for a picture made of it.
func (s *Storage) Download(ctx context.Context, as Session, in GetDownload) (Download, error) {
	id, err := validID("id", in.ID)
	if err != nil {
		return Download{}, err
	}
	if err := in.validate(); err != nil {
		return Download{}, err
	}
	if err := s.mayChoose(as.Role(), in.Image); err != nil {
		return Download{}, err
	}
	f, err := s.visibleFile(ctx, as, id)
	if err != nil {
		return Download{}, err
	}
	return s.link(ctx, as, f, in)
}

// link makes a link to a file that the session may see.
func (s *Storage) link(ctx context.Context, as Session, f *graphql.File, in GetDownload) (Download, error) {
	if !f.Bucket.PresignedUrlsEnabled {
		return Download{}, Errorf(PresignedURLsDisabled, "bucket %q hands out no links", f.BucketId)
	}
	life, err := s.linkLife(as, f, "expiresIn", in.ExpiresIn)
	if err != nil {
		return Download{}, err
	}
	if in.Image != nil {
		return s.pictureLink(f, *in.Image, life)
	}
	return s.storeLink(ctx, f, in, life)
}

func (in *GetDownload) validate() error {
	switch in.Disposition {
	case "":
		in.Disposition = dispositionInline
	case dispositionInline, dispositionAttachment:
	default:
		return Errorf(BadRequest, "disposition must be INLINE or ATTACHMENT")
	}
	if in.Filename != nil {
		return validName(*in.Filename)
	}
	return nil
}

// visibleFile returns the row of a file that the session may select and that
// has been uploaded.
func (s *Storage) visibleFile(ctx context.Context, as Session, id string) (*graphql.File, error) {
	caller, err := s.as(as)
	if err != nil {
		return nil, err
	}
	f, err := s.fileFor(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if !s.readable(f) {
		return nil, errNoFile
	}
	return f, nil
}

var errNoFile = Errorf(FileNotFound, "file not found")

// readable reports whether there are bytes that may be read: uploaded, not past
// their expiry, at a key that is the file's own.
func (s *Storage) readable(f *graphql.File) bool {
	alive := f.ExpiresAt == nil || s.now().Before(*f.ExpiresAt)
	return deref(f.IsUploaded) && alive && s.keys.owns(s.keys.of(f.Id, f.ObjectKey), f.Id)
}

// linkLife is how long a link lives: the bucket's download_expiration, or what
// was asked for within the cap of the caller. No link outlives the file.
func (s *Storage) linkLife(as Session, f *graphql.File, argument string, asked *int) (time.Duration, error) {
	life, err := s.lifeAsked(as, &f.Bucket, argument, asked)
	if err == nil && f.ExpiresAt != nil {
		life = min(life, f.ExpiresAt.Sub(s.now()))
		if life < time.Second { // the store signs whole seconds
			return 0, errNoFile
		}
	}
	return life.Truncate(time.Second), err
}

func (s *Storage) lifeAsked(as Session, b *graphql.Bucket, argument string, asked *int) (time.Duration, error) {
	standard := time.Duration(b.DownloadExpiration) * time.Second
	if asked == nil {
		return standard, nil
	}
	most := min(max(standard, s.maxDownload), s3.MaxExpiry)
	if as.Role() == "admin" {
		most = s3.MaxExpiry
	}
	if *asked < 1 || *asked > int(most.Seconds()) {
		return 0, Errorf(BadRequest, "%s must be between 1 and %d seconds", argument, int(most.Seconds()))
	}
	return time.Duration(*asked) * time.Second, nil
}

// storeLink presigns a download at the store, or at this service where clients
// cannot reach it. Type, name and caching are fixed by the signature; what a
// browser would run becomes an attachment, and what has no type that can be sent,
// mere bytes.
func (s *Storage) storeLink(ctx context.Context, f *graphql.File, in GetDownload, life time.Duration) (Download, error) {
	contentType, kind := deref(f.MimeType), "inline"
	if contentType == "" {
		contentType = octetStream
	}
	if in.Disposition == dispositionAttachment || runsInABrowser(contentType) {
		kind = "attachment"
	}
	if !isMediaType(contentType) {
		contentType = octetStream
	}
	name := deref(f.Name)
	if in.Filename != nil {
		name = *in.Filename
	}
	served := original{contentType: contentType, disposition: contentDisposition(kind, name), cacheControl: deref(f.Bucket.CacheControl)}
	if s.proxied {
		return s.originalLink(f, served, life), nil
	}
	expires := s.now().Add(life)
	signed, err := s.store.PresignGet(ctx, s.keys.of(f.Id, f.ObjectKey), life, s3.ResponseHeaders{
		ContentType: served.contentType, ContentDisposition: served.disposition, CacheControl: served.cacheControl,
	})
	if err != nil {
		return Download{}, storeError(err)
	}
	return Download{ID: f.Id, URL: signed, ExpiresAt: expires.UTC(), Srcset: []Source{}}, nil
}
