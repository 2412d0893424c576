package actions

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

const (
	maxNameBytes     = 1024
	maxMimeTypeBytes = 255
	maxMetadataBytes = 64 << 10
	maxIDs           = 100 // ids in one call
)

// validID refuses what is not a uuid in its usual form, and returns it in lower case.
func validID(field, id string) (string, error) {
	parsed, err := uuid.Parse(id)
	if err != nil || len(id) != 36 {
		return "", Errorf(BadRequest, "%s must be a uuid", field)
	}
	return parsed.String(), nil
}

func validIDs(field string, ids []string) ([]string, error) {
	if len(ids) > maxIDs {
		return nil, Errorf(BadRequest, "%s holds %d ids, at most %d are allowed", field, len(ids), maxIDs)
	}
	seen := make(map[string]bool, len(ids))
	var valid []string
	for _, id := range ids {
		id, err := validID(field, id)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			valid = append(valid, id)
		}
	}
	return valid, nil
}

// validName takes any UTF-8 as it is sent. Names never enter a key.
func validName(name string) error {
	switch {
	case name == "" || name == "/":
		return Errorf(BadRequest, "name must not be empty")
	case len(name) > maxNameBytes:
		return Errorf(BadRequest, "name is %d bytes long, at most %d are allowed", len(name), maxNameBytes)
	case strings.ContainsRune(name, 0):
		return Errorf(BadRequest, "name must not contain a NUL")
	case strings.ToValidUTF8(name, "") != name:
		return Errorf(BadRequest, "name must be UTF-8")
	}
	return nil
}

func validMimeType(mimeType *string) error {
	if mimeType == nil {
		return nil
	}
	if len(*mimeType) > maxMimeTypeBytes {
		return Errorf(BadRequest, "mimeType is longer than %d bytes", maxMimeTypeBytes)
	}
	if !isMediaType(*mimeType) {
		return Errorf(BadRequest, "mimeType must be a media type such as image/jpeg")
	}
	return nil
}

func validSHA256(digest *string) error {
	if digest == nil {
		return nil
	}
	if raw, err := hex.DecodeString(*digest); err != nil || len(raw) != 32 {
		return Errorf(BadRequest, "sha256 must be 64 hexadecimal digits")
	}
	return nil
}

func (in *CreateUpload) validate(now time.Time) error {
	in.Method = cmp.Or(in.Method, methodAuto)
	if bytes.Equal(bytes.TrimSpace(in.Metadata), []byte("null")) {
		in.Metadata = nil
	}
	if in.ExpiresAt != nil && !in.ExpiresAt.After(now) {
		return Errorf(BadRequest, "expiresAt must lie in the future")
	}
	if err := validName(in.Name); err != nil {
		return err
	}
	return validBytes(in.Method, int64(in.Size), in.MimeType, in.SHA256, in.Metadata)
}

// validBytes checks what is said about bytes that are to come.
func validBytes(method string, size int64, mimeType, digest *string, metadata json.RawMessage) error {
	switch {
	case method != methodAuto && method != methodPut && method != methodMultipart:
		return Errorf(BadRequest, "method must be one of AUTO, PUT, MULTIPART")
	case size < 0 || size > s3.MaxObject:
		return Errorf(BadRequest, "size must be between 0 and %d bytes", s3.MaxObject)
	case digest != nil && size > s3.MaxPut:
		return Errorf(BadRequest, "sha256 is checked up to %d bytes only", s3.MaxPut)
	case len(metadata) > maxMetadataBytes:
		return Errorf(BadRequest, "metadata is larger than %d bytes", maxMetadataBytes)
	}
	if err := validMimeType(mimeType); err != nil {
		return err
	}
	return validSHA256(digest)
}

// judge holds a file to the rules of the bucket that it stands in. An unknown
// type is judged once the bytes have told it.
func judge(b *graphql.Bucket, size int64, mimeType *string) error {
	if least := int64(b.MinUploadFileSize); size < least {
		return Errorf(FileTooSmall, "the file has %d bytes, bucket %q takes at least %d", size, b.Id, least).
			With("size", size).With("minSize", least)
	}
	if most := int64(b.MaxUploadFileSize); size > most {
		return Errorf(FileTooBig, "the file has %d bytes, bucket %q takes at most %d", size, b.Id, most).
			With("size", size).With("maxSize", most)
	}
	if mimeType == nil {
		return nil
	}
	if b.StripMetadata && size > stripLimit && family(essenceOf(*mimeType)) == pictures {
		return tooLargeToStrip(b, size)
	}
	return judgeType(b, *mimeType)
}

// judgeType holds a media type to the bucket's list: "image/png", "image/*", null for any.
func judgeType(b *graphql.Bucket, mimeType string) error {
	if b.AllowedMimeTypes == nil || string(*b.AllowedMimeTypes) == "null" {
		return nil
	}
	var allowed []string
	if err := json.Unmarshal(*b.AllowedMimeTypes, &allowed); err != nil {
		return Errorf(MimeTypeNotAllowed, "allowedMimeTypes of bucket %q is not a list of types", b.Id).Because(err)
	}
	essence := essenceOf(mimeType)
	for _, pattern := range allowed {
		pattern = strings.ToLower(pattern)
		family, wild := strings.CutSuffix(pattern, "/*")
		if pattern == essence || pattern == "*/*" || wild && strings.HasPrefix(essence, family+"/") {
			return nil
		}
	}
	return Errorf(MimeTypeNotAllowed, "bucket %q does not take %s", b.Id, essence).With("mimeType", essence)
}
