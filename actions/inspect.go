package actions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// factsLimit is the largest picture that is read for its width, height and placeholder, in bytes.
const factsLimit = 32 << 20

// facts are what the file's row will say of the bytes.
type facts struct {
	key, etag           string
	size                graphql.Bigint
	mimeType            *string
	sha256, placeholder *string
	width, height       *int
}

// inspect checks the final object, which no client can write any more, and
// returns what is true of it.
func (s *Storage) inspect(ctx context.Context, u upload, o s3.Object) (facts, error) {
	known := facts{key: o.Key, etag: o.ETag, size: graphql.Bigint(o.Size), mimeType: u.Mime_type}
	if u.File == nil {
		return known, errDeletedMeanwhile
	}
	if err := s.admit(&u.File.Bucket, o.Size, u.Mime_type); err != nil {
		return known, err
	}
	head, err := s.head(ctx, o)
	if err != nil {
		return known, err
	}
	if err := known.inspectType(u, head); err != nil {
		return known, err
	}
	if known.sha256, err = s.inspectDigest(ctx, u, o); err != nil {
		return known, err
	}
	if err := s.scan(ctx, o); err != nil {
		return known, err
	}
	s.inspectPicture(ctx, o, head, &known)
	return known, nil
}

// head reads the first bytes of an object.
func (s *Storage) head(ctx context.Context, o s3.Object) ([]byte, error) {
	if o.Size == 0 {
		return nil, nil
	}
	body, _, err := s.store.Get(ctx, o.Key, s3.GetOptions{Length: min(sniffBytes, o.Size), IfMatch: o.ETag})
	if err != nil {
		return nil, storeError(err)
	}
	defer body.Close()
	head, err := io.ReadAll(body)
	return head, storeError(err)
}

// inspectType holds the bytes to the type that the caller's insert was judged
// by. A row without a type gets the one that the bytes show.
func (f *facts) inspectType(u upload, head []byte) error {
	shown := sniffed(head)
	if f.mimeType == nil {
		f.mimeType = &shown
		return judgeType(&u.File.Bucket, shown)
	}
	if declared := essenceOf(*f.mimeType); contradicts(declared, head) {
		return Errorf(MimeTypeNotAllowed, "the file was declared as %s, its bytes are %s", declared, shown).
			With("declared", declared).With("found", shown)
	}
	return nil
}

// inspectDigest checks the client's sha256: by the store's own where it keeps
// one, by reading the object otherwise. Without the client's it returns the store's.
func (s *Storage) inspectDigest(ctx context.Context, u upload, o s3.Object) (*string, error) {
	got := o.SHA256
	if u.Sha256 == nil {
		return optional(got), nil
	}
	if u.Kind == kindCopy { // made of exactly the source's version, inside the store
		return u.Sha256, nil
	}
	want := strings.ToLower(*u.Sha256)
	if got == "" {
		var err error
		if got, err = s.digest(ctx, o); err != nil {
			return nil, err
		}
	}
	if got != want {
		return nil, Errorf(ChecksumMismatch, "the file's sha256 is %s, not %s", got, want)
	}
	return &got, nil
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (s *Storage) digest(ctx context.Context, o s3.Object) (string, error) {
	hash := sha256.New()
	if o.Size > 0 {
		body, _, err := s.store.Get(ctx, o.Key, s3.GetOptions{IfMatch: o.ETag})
		if err != nil {
			return "", storeError(err)
		}
		defer body.Close()
		if _, err := io.Copy(hash, body); err != nil {
			return "", storeError(err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// inspectPicture notes width, height and placeholder where the bytes are a
// picture that can be decoded. One that cannot is still a file.
func (s *Storage) inspectPicture(ctx context.Context, o s3.Object, head []byte, known *facts) {
	if !s.variants.decodes(head) || o.Size > factsLimit {
		return
	}
	found, err := s.variants.facts(ctx, o)
	if err != nil {
		return
	}
	known.width, known.height, known.placeholder = &found.Width, &found.Height, optional(found.Blurhash)
}
