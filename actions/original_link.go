package actions

import (
	"context"
	"net/url"
	"time"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// originalSpec stands in a link where a picture's spec would: the file itself.
const originalSpec = "original"

// original is what a link fixes of how the file itself is served.
type original struct{ contentType, disposition, cacheControl string }

func (o original) query(to url.Values) {
	for name, value := range map[string]string{"t": o.contentType, "d": o.disposition, "c": o.cacheControl} {
		if value != "" {
			to.Set(name, value)
		}
	}
}

func originalOf(query url.Values) original {
	return original{contentType: query.Get("t"), disposition: query.Get("d"), cacheControl: query.Get("c")}
}

// originalLink signs a link on this service to a version of a file, for stores
// that clients cannot reach.
func (s *Storage) originalLink(f *graphql.File, as original, life time.Duration) Download {
	expires := rounded(s.now(), life)
	to := link{id: f.Id, version: s.versionOf(f), spec: originalSpec, original: as, expires: expires}
	return Download{ID: f.Id, URL: s.links.sign(to), ExpiresAt: expires.UTC(), Srcset: []Source{}}
}

// signedOriginal describes what such a link grants.
func (s *Storage) signedOriginal(k link) Content {
	src := s.sourceOf(k)
	c := Content{
		ContentType: k.original.contentType, Disposition: k.original.disposition, CacheControl: k.original.cacheControl,
		ETag: `"` + k.version + `"`, SurrogateKey: k.id,
	}
	c.Finish = func(ctx context.Context, done Content) (Content, error) {
		o, err := src.look(ctx, s.store)
		if err != nil {
			return Content{}, err
		}
		done.Finish, done.Size, done.LastModified = nil, o.Size, o.LastModified
		done.Open = func(ctx context.Context, offset, length int64) (Body, error) {
			body, _, err := s.store.Get(ctx, src.key, s3.GetOptions{Offset: offset, Length: length, IfMatch: o.ETag})
			if gone(err) {
				return nil, errNoFile.Because(err)
			}
			return body, storeError(err)
		}
		return done, nil
	}
	return c
}
