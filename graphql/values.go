package graphql

import (
	"encoding/json"
	"time"
)

// FileValues are the columns of a new row in storage.files. A nil member is not
// sent: naming a column that the role may not set is refused, even without a value.
type FileValues struct {
	ID        *string         `json:"id,omitempty"`
	BucketID  *string         `json:"bucketId,omitempty"`
	Name      *string         `json:"name,omitempty"`
	Size      *int64          `json:"size,omitempty"`
	MimeType  *string         `json:"mimeType,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	ExpiresAt *time.Time      `json:"expiresAt,omitempty"`
}

// FileChanges are a caller's new values for columns of storage.files. A nil
// member leaves its column alone.
type FileChanges struct {
	Name     *string         `json:"name,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// IsUploaded can only be set to what it is: the guard refuses a change.
	IsUploaded *bool `json:"isUploaded,omitempty"`
}

// Condition is a boolean expression of Hasura's (`files_bool_exp` and the like). The empty
// one is always true.
type Condition map[string]any

// UploadValues are the columns of a new row in storage.uploads. A zero member is
// not sent.
type UploadValues struct {
	ID          string            `json:"id"`
	FileID      string            `json:"file_id"`
	BucketID    *string           `json:"bucket_id,omitempty"`
	Kind        string            `json:"kind"`
	Version     string            `json:"version"`
	ObjectKey   string            `json:"object_key"`
	StagingKey  *string           `json:"staging_key,omitempty"`
	MultipartID *string           `json:"multipart_id,omitempty"`
	PartSize    *int64            `json:"part_size,omitempty"`
	Name        *string           `json:"name,omitempty"`
	Size        int64             `json:"size"`
	MimeType    *string           `json:"mime_type,omitempty"`
	SHA256      *string           `json:"sha256,omitempty"`
	Metadata    json.RawMessage   `json:"metadata,omitempty"`
	IfMatch     *string           `json:"if_match,omitempty"`
	SourceID    *string           `json:"source_id,omitempty"`
	SourceKey   *string           `json:"source_key,omitempty"`
	Session     map[string]string `json:"session"`
	SessionKey  string            `json:"session_key"`
	NextCheckAt time.Time         `json:"next_check_at"`
	ExpiresAt   time.Time         `json:"expires_at"`
	LeasedUntil *time.Time        `json:"leased_until,omitempty"`

	ChosenID bool `json:"-"` // the file's id is the client's word: others may have, or have had, it too
}

// GarbageValues name an object that may have to go, and the file it belonged to.
type GarbageValues struct {
	FileID    string    `json:"file_id"`
	ObjectKey string    `json:"object_key"`
	CreatedAt time.Time `json:"created_at,omitzero"` // later than now: not to be worked off before
}
