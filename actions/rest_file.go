package actions

import (
	"context"
	"encoding/json"
	"time"

	"go.uber.org/zap"

	"hasura-storage/graphql"
)

// Version is what conditions of a request are about.
type Version struct {
	ETag         string // with its quotes
	LastModified time.Time
}

func versionIn(f *graphql.File) Version {
	return Version{ETag: deref(f.Etag), LastModified: f.UpdatedAt}
}

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

// goneSoon works off the garbage of a file without keeping anybody waiting: a
// service alone gets no events. What fails is left to the event and the sweep.
func (s *Storage) goneSoon(ctx context.Context, id string) {
	s.background.run(ctx, time.Minute, func(ctx context.Context) error { return s.FileGone(ctx, FileEvent{ID: id}) }, func(err error) {
		if err != nil {
			s.log.Warn("garbage is left to the sweep", zap.String("file_id", id), zap.Error(err))
		}
	})
}
