package actions

import (
	"crypto/rand"
	"encoding/base32"
	"strings"

	"hasura-storage/graphql"
)

// keys is the grammar of object keys below one root folder ("" is the bucket itself):
//
//	<root>/<version>/<file id>                   an object; nhost's layout has no version
//	<root>-staging/<version>                     what a client's PUT writes
//	<root>-variants/<file id>/<version>/<spec>   a picture made of a version
//
// The last part of an object's key is the id, so that tools that match keys by
// their base name see an owned file. A version is random and new for every
// upload: what stands at a key never changes.
type keys struct{ root string }

func (k keys) object(version, id string) string { return k.below(version + "/" + id) }
func (k keys) staging(version string) string    { return k.beside("-staging/") + version }
func (k keys) variants(id string) string        { return k.beside("-variants/") + id + "/" }
func (k keys) variant(id, version, spec string) string {
	return k.variants(id) + version + "/" + spec
}

// ScratchKey returns a fresh key in the staging area below a root folder, to try
// the store out with. What somebody forgets there, the daily reconciliation removes.
func ScratchKey(root string) string { return keys{root}.staging(newVersion()) }

// of returns the key of a file row: null stands for nhost's layout.
func (k keys) of(id string, objectKey *string) string {
	if objectKey == nil {
		return k.below(id)
	}
	return *objectKey
}

// owns reports whether key is an object of the file by this grammar. Nothing
// else is ever read or deleted in its name, whatever a row may say.
func (k keys) owns(key, id string) bool {
	rest, ok := strings.CutPrefix(key, k.below(""))
	if !ok {
		return false
	}
	version, last, nested := strings.Cut(rest, "/")
	if !nested {
		return rest == id
	}
	return last == id && isVersion(version)
}

// version returns the version of a file row: that of its key or, in nhost's
// layout, the ETag without its quotes.
func (k keys) version(f *graphql.File) string {
	if f.ObjectKey == nil {
		return strings.Trim(deref(f.Etag), `"`)
	}
	rest := strings.TrimPrefix(*f.ObjectKey, k.below(""))
	version, _, _ := strings.Cut(rest, "/")
	return version
}

// variantVersion takes a variant's key apart that belongs to the file.
func (k keys) variantVersion(key, id string) string {
	version, _, _ := strings.Cut(strings.TrimPrefix(key, k.variants(id)), "/")
	return version
}

func (k keys) below(rest string) string {
	if k.root == "" {
		return rest
	}
	return k.root + "/" + rest
}

func (k keys) beside(suffix string) string {
	if k.root == "" {
		return ".storage" + suffix
	}
	return k.root + suffix
}

const versionLetters = "0123456789abcdefghijklmnopqrstuv"

var versionAlphabet = base32.NewEncoding(versionLetters).WithPadding(base32.NoPadding)

const versionLength = 26 // 128 random bits

func newVersion() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return versionAlphabet.EncodeToString(b[:])
}

func isVersion(s string) bool {
	return len(s) == versionLength && strings.Trim(s, versionLetters) == ""
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
