package actions

import (
	"encoding/json"
	"time"

	"hasura-storage/graphql"
)

// StoredFile is a file's row as the REST interface tells it.
type StoredFile struct {
	ID               string          `json:"id"`
	Name             string          `json:"name"`
	Size             int64           `json:"size"` // bytes
	BucketID         string          `json:"bucketId"`
	ETag             string          `json:"etag"` // with its quotes
	CreatedAt        time.Time       `json:"createdAt"`
	UpdatedAt        time.Time       `json:"updatedAt"`
	IsUploaded       bool            `json:"isUploaded"`
	MimeType         string          `json:"mimeType"`
	UploadedByUserID string          `json:"uploadedByUserId,omitempty"`
	Metadata         json.RawMessage `json:"metadata,omitempty"`
}

func stored(f *graphql.File) StoredFile {
	return StoredFile{
		ID: f.Id, Name: deref(f.Name), Size: int64(deref(f.Size)), BucketID: f.BucketId, ETag: deref(f.Etag),
		CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt, IsUploaded: deref(f.IsUploaded), MimeType: deref(f.MimeType),
		UploadedByUserID: deref(f.UploadedByUserId), Metadata: deref(f.Metadata),
	}
}
