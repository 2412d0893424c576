package actions

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// PresignedURL is a link to a file, and how many seconds it lives.
type PresignedURL struct {
	URL        string `json:"url"`
	Expiration int    `json:"expiration"`
}

// PresignURL makes a link to a file that the sender of the request may select.
// It names the file, not a version, so it survives a replacement. expires is in
// seconds; nil is the bucket's download_expiration.
func (s *Storage) PresignURL(ctx context.Context, as Headers, id string, expires *int) (PresignedURL, error) {
	f, err := s.requestedFile(ctx, s.hasura.Forward(as), id)
	if err != nil {
		return PresignedURL{}, err
	}
	if !f.Bucket.PresignedUrlsEnabled {
		return PresignedURL{}, errNoLinks
	}
	life, err := s.linkLife(Session{"x-hasura-role": s.roleSentWith(as)}, f, "expires", expires)
	if err != nil {
		return PresignedURL{}, err
	}
	query := s.queryKeys[0].Sign(s.keys.below(f.Id), s.now(), life)
	link := fmt.Sprintf("%s/files/%s/presignedurl/contents?%s", s.links.base, f.Id, query.Encode())
	return PresignedURL{URL: link, Expiration: int(life / time.Second)}, nil
}

// roleSentWith returns "admin" for a request of the admin's: with the admin
// secret and no other role. Whatever else a request says of its role is not
// known to be so, and grants nothing here.
func (s *Storage) roleSentWith(as Headers) string {
	role := strings.Join(as["X-Hasura-Role"], "")
	if secret := as["X-Hasura-Admin-Secret"]; len(secret) == 1 && s.hasura.IsAdminSecret(secret[0]) && (role == "" || role == "admin") {
		return "admin"
	}
	return ""
}

// GetPresigned opens what a link of PresignURL grants: the signature in the
// query is the permission, Hasura is only asked what the file is now. Caches may
// keep the answer as long as the link lives, and no longer.
func (s *Storage) GetPresigned(ctx context.Context, in GetFile, query url.Values) (Content, error) {
	id, err := validID("id", in.ID)
	if err != nil {
		return Content{}, err
	}
	end, err := s.verifyQuery(id, query)
	if err != nil {
		return Content{}, err
	}
	f, err := s.file(ctx, id)
	if err != nil {
		return Content{}, err
	}
	if err := s.mayBeLinked(f); err != nil {
		return Content{}, err
	}
	c, err := s.content(f, in)
	c.SurrogateKey = id
	c.CacheControl = fmt.Sprintf("max-age=%d", int(end.Sub(s.now()).Seconds()))
	c.SurrogateControl = c.CacheControl
	return c, err
}

func (s *Storage) mayBeLinked(f *graphql.File) error {
	if f == nil {
		return errNoFile
	}
	if !f.Bucket.PresignedUrlsEnabled {
		return errNoLinks
	}
	return s.hasBytes(f)
}

// verifyQuery tries every key: the store's own, and those that sign links.
func (s *Storage) verifyQuery(id string, query url.Values) (time.Time, error) {
	var err error
	for _, key := range s.queryKeys {
		var end time.Time
		if end, err = key.Verify(s.keys.below(id), query, s.now()); !errors.Is(err, s3.ErrSignature) {
			return end, queryError(err)
		}
	}
	return time.Time{}, queryError(err)
}

// queryError words a refused signature as the store, or nhost's service, would.
func queryError(err error) error {
	var bad *s3.BadParameterError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return Errorf(BadRequest, "problem parsing %s", bad.Name)
	case errors.Is(err, s3.ErrSignatureExpired):
		return Errorf(BadRequest, "signature already expired")
	default:
		return Errorf(NotAllowed, "The request signature we calculated does not match the signature you provided. Check your key and signing method.")
	}
}

// queryKeys returns the keys that sign queries, the first of them new ones. The
// store's keys come first where they are static: all instances have the same,
// and links that nhost's service signed with them stay good.
func queryKeys(store *s3.Store, links [][]byte) []s3.QueryKey {
	own, static := store.QueryKey()
	var keys []s3.QueryKey
	if static {
		keys = append(keys, own)
	}
	for _, secret := range links {
		key := own
		key.AccessKey, key.SecretKey = "hasura-storage", string(secret)
		keys = append(keys, key)
	}
	return keys
}
