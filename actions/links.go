package actions

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// links signs URLs of this service that need neither a database nor a session:
//
//	<base>/files/<id>/signed/<version>/<spec>?e=<expiry>&s=<signature>
//
// The signature covers id, path and every other query parameter, so that
// nothing can be changed, added or left out.
type links struct {
	base string
	keys [][]byte // the first signs, all verify
}

// link is what a signed URL grants: a picture made of one version of a file.
type link struct {
	id, version, spec string
	auto              bool     // the format is negotiated by Accept
	original          original // of a link to the file itself, whose spec says so
	expires           time.Time
}

// legacyMark stands before the version of a row in nhost's layout, whose object
// has no version in its key.
const legacyMark = "~"

// sign returns the URL of a link.
func (l links) sign(k link) string {
	query := url.Values{"e": {strconv.FormatInt(k.expires.Unix(), 10)}}
	if k.auto {
		query.Set("f", "auto")
	}
	k.original.query(query)
	path := k.version + "/" + k.spec
	query.Set("s", l.signature(l.keys[0], k.id, path, query))
	return l.base + "/files/" + k.id + "/signed/" + path + "?" + query.Encode()
}

// verify returns what the URL grants, or NotAllowed if it was changed, signed
// with another key, or has expired.
func (l links) verify(id, path string, query url.Values, now time.Time) (link, error) {
	given := query.Get("s")
	signed := url.Values{}
	for name, values := range query {
		if name != "s" {
			signed[name] = values
		}
	}
	if len(query["s"]) != 1 || !l.signedByAny(given, id, path, signed) {
		return link{}, Errorf(NotAllowed, "the link's signature is not valid")
	}
	expiry, err := strconv.ParseInt(signed.Get("e"), 10, 64)
	version, spec, ok := strings.Cut(path, "/")
	if err != nil || !ok {
		return link{}, Errorf(NotAllowed, "the link is not complete")
	}
	k := link{id: id, version: version, spec: spec, auto: signed.Get("f") == "auto", original: originalOf(signed), expires: time.Unix(expiry, 0)}
	if !now.Before(k.expires) {
		return link{}, Errorf(NotAllowed, "the link has expired")
	}
	return k, nil
}

func (l links) signedByAny(given, id, path string, signed url.Values) bool {
	valid := false
	for _, key := range l.keys {
		if hmac.Equal([]byte(given), []byte(l.signature(key, id, path, signed))) {
			valid = true
		}
	}
	return valid
}

func (l links) signature(key []byte, id, path string, query url.Values) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("storage-link-1\n" + id + "\n" + path + "\n" + query.Encode()))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// rounded is the expiry of a link that is to live for life: a little earlier, at
// a time that callers who ask within the same eighth of it share, and with it
// the URL, which caches then know.
func rounded(now time.Time, life time.Duration) time.Time {
	return now.Add(life).Truncate(max(life/8, time.Second))
}
