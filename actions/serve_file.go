package actions

import (
	"context"
	"errors"
	"strings"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// Headers are those of a REST request, by their canonical names. The ones that
// Hasura knows a caller by are forwarded to it; no others are looked at.
type Headers = map[string][]string

// GetFile says what a GET or HEAD of a file asks for.
type GetFile struct {
	ID     string
	Image  *Image // a picture made of it instead; nil is the file itself
	Accept string // for Image.Format AUTO
	// Attachment is a name to save the file under, as an attachment; "" is the
	// file's own, nil is inline.
	Attachment *string
}

// GetFile opens a file that the sender of the request may select. Nothing of the
// store is touched before the Content's Open or Finish is called.
func (s *Storage) GetFile(ctx context.Context, as Headers, in GetFile) (Content, error) {
	caller := s.hasura.Forward(as)
	f, err := s.requestedFile(ctx, caller, in.ID)
	if err != nil {
		return Content{}, err
	}
	c, err := s.content(f, in)
	if err != nil {
		return Content{}, err
	}
	c.SurrogateKey, c.Vary = f.Id, s.hasura.Credentials()
	policy := deref(f.Bucket.CacheControl)
	if !caller.Anonymous() && !s.cacheAuthorized {
		c.CacheControl = private(policy)
		return c, nil
	}
	c.CacheControl, c.SurrogateControl, c.CDNCacheControl = policy, policy, s.cdnCacheControl
	if s.cacheAuthorized {
		c.Vary = nil
	}
	return c, nil
}

// requestedFile returns the row of a file with bytes that the caller may select.
func (s *Storage) requestedFile(ctx context.Context, caller graphql.Caller, id string) (*graphql.File, error) {
	id, err := validID("id", id)
	if err != nil {
		return nil, err
	}
	f, err := s.fileFor(ctx, caller, id)
	if err != nil {
		return nil, restError(err, "select on files")
	}
	return f, s.hasBytes(f)
}

// hasBytes tells apart why a row's bytes cannot be read.
func (s *Storage) hasBytes(f *graphql.File) error {
	switch {
	case s.readable(f):
		return nil
	case !deref(f.IsUploaded):
		return errNotUploaded
	default:
		return errNoFile
	}
}

// content describes what a request asks of a row, without rules for caches.
func (s *Storage) content(f *graphql.File, in GetFile) (Content, error) {
	if in.Image != nil && !in.Image.leavesAsIs() {
		return s.pictureContent(f, in)
	}
	return Content{
		ContentType: deref(f.MimeType), ETag: deref(f.Etag), LastModified: f.UpdatedAt, Size: int64(deref(f.Size)),
		Disposition: in.disposition(deref(f.Name)),
		Open:        s.opener(f),
	}, nil
}

// opener returns what opens a row's bytes.
func (s *Storage) opener(f *graphql.File) opener {
	key, etag := s.keys.of(f.Id, f.ObjectKey), deref(f.Etag)
	fetch := func(ctx context.Context, offset, length int64) (Body, error) {
		body, _, err := s.store.Get(ctx, key, s3.GetOptions{Offset: offset, Length: length, IfMatch: etag})
		if gone(err) { // since the row was read
			return nil, errNoFile.Because(err)
		}
		return body, storeError(err)
	}
	return func(ctx context.Context, offset, length int64) (Body, error) {
		return s.small.open(ctx, version{key, etag}, int64(deref(f.Size)), offset, length, fetch)
	}
}

func (in GetFile) disposition(name string) string {
	if in.Attachment == nil {
		return contentDisposition("inline", name)
	}
	if *in.Attachment != "" {
		name = *in.Attachment
	}
	return contentDisposition("attachment", name)
}

// leavesAsIs reports whether an image asks for the format that the file has, and
// for nothing else: then any file is served, picture or not.
func (i Image) leavesAsIs() bool {
	i.Enlarge = nil
	if i.Format == formatSame {
		i.Format = ""
	}
	return i.isZero()
}

// pictureContent describes what an image makes of a file. Its ETag is known
// before: it names version and spec.
func (s *Storage) pictureContent(f *graphql.File, in GetFile) (Content, error) {
	if err := s.mayChoose("", in.Image); err != nil {
		return Content{}, err
	}
	source := images.Format(strings.TrimPrefix(essenceOf(deref(f.MimeType)), "image/"))
	if !source.Readable() {
		return Content{}, Errorf(NotAnImage, "image manipulation features are not supported for '%s'", deref(f.MimeType))
	}
	image, err := in.Image.withPreset(&f.Bucket)
	if err != nil {
		return Content{}, err
	}
	spec, err := image.spec(f)
	if err == nil {
		err = outOfRange(spec.Validate(s.variants.limits))
	}
	if err != nil {
		return Content{}, err
	}
	if image.Format == formatAuto {
		spec.Format = automatic(in.Accept, spec)
	}
	c := Content{ETag: s.pictureETag(s.versionOf(f), spec), LastModified: f.UpdatedAt, Negotiated: image.Format == formatAuto}
	name := deref(f.Name)
	if spec.Format != images.Same && spec.Format != source {
		name += "." + string(spec.Format)
	}
	c.Disposition = in.disposition(name)
	from := s.sourceOf(link{id: f.Id, version: s.versionOf(f)})
	from.etag, from.size = deref(f.Etag), int64(deref(f.Size))
	return s.unfinished(c, from, spec, in.disposition(deref(f.Name))), nil
}

// outOfRange words a refused spec as clients know it.
func outOfRange(err error) error {
	if field, ok := errors.AsType[*images.FieldError](err); ok {
		return Errorf(BadRequest, "image manipulation parameters out of range: %s", field)
	}
	return imageError(err)
}

func (s *Storage) pictureETag(version string, spec images.Spec) string {
	return `"` + version + "." + spec.Canonical() + `"`
}

// unfinished returns c with the making of the picture left for later. Should it be
// too large for the format that was negotiated, it keeps the source's, and has
// the Disposition plain.
func (s *Storage) unfinished(c Content, from source, spec images.Spec, plain string) Content {
	c.Finish = func(ctx context.Context, done Content) (Content, error) {
		p, err := s.variants.get(ctx, from, spec)
		if c.Negotiated && spec.Format != images.Same && has(err, ImageTooLarge) {
			kept := spec
			kept.Format, done.Disposition = images.Same, plain
			p, err = s.variants.get(ctx, from, kept)
		}
		if err != nil {
			return Content{}, err
		}
		done.Finish, done.ContentType, done.Size = nil, p.contentType, int64(len(p.bytes))
		done.Open = func(_ context.Context, offset, length int64) (Body, error) {
			body := new(memory)
			body.Reset(part(p.bytes, offset, length))
			return body, nil
		}
		return done, nil
	}
	return c
}

// private returns a bucket's Cache-Control for an answer to a caller with
// credentials: the browser may keep it, whoever stands between may not.
func private(policy string) string {
	kept := []string{"private"}
	for directive := range strings.SplitSeq(policy, ",") {
		directive = strings.TrimSpace(directive)
		name, _, _ := strings.Cut(strings.ToLower(directive), "=")
		switch name {
		case "", "private", "public", "s-maxage", "proxy-revalidate", "must-understand":
		default:
			kept = append(kept, directive)
		}
	}
	return strings.Join(kept, ", ")
}
