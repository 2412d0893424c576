package actions

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
)

// SignedContent opens what a signed link grants: path and query are the URL's,
// path being what follows /signed/; accept is the Accept header. Neither Hasura
// nor a session is asked: the signature is the permission. A picture that exists
// costs no call at all.
func (s *Storage) SignedContent(ctx context.Context, id, path string, query url.Values, accept string) (Content, error) {
	k, err := s.links.verify(id, path, query, s.now())
	if err != nil {
		return Content{}, err
	}
	if k.spec == originalSpec {
		return s.signedOriginal(k), nil
	}
	spec, err := images.ParseCanonical(k.spec)
	if err != nil {
		return Content{}, imageError(err)
	}
	if k.auto {
		spec.Format = automatic(accept, spec)
	}
	c := Content{
		ETag:         s.pictureETag(k.version, spec),
		Negotiated:   k.auto,
		Disposition:  "inline",
		CacheControl: fmt.Sprintf("public, max-age=%d, immutable", int(k.expires.Sub(s.now()).Seconds())),
		SurrogateKey: k.id,
	}
	return s.unfinished(c, s.sourceOf(k), spec, c.Disposition), nil
}

// sourceOf returns the object that a link's version is. In nhost's layout every
// version stands at the same key, and the ETag tells which one it is.
func (s *Storage) sourceOf(k link) source {
	if version, legacy := strings.CutPrefix(k.version, legacyMark); legacy {
		return source{id: k.id, version: version, key: s.keys.of(k.id, nil), etag: `"` + version + `"`}
	}
	return source{id: k.id, version: k.version, key: s.keys.object(k.version, k.id)}
}

// versionOf is how a link names the present version of a file.
func (s *Storage) versionOf(f *graphql.File) string {
	if f.ObjectKey == nil {
		return legacyMark + s.keys.version(f)
	}
	return s.keys.version(f)
}
