package actions

import (
	"context"
	"encoding/json"
	"time"

	"hasura-storage/graphql"
)

// Session is who calls an action: the payload's session_variables.
type Session = graphql.Session

// The inputs and outputs below are the types of the same names in Hasura's
// actions.graphql (a test compares both). Output members without omitempty are
// always sent; a nil pointer is null.

// CreateUpload is the input of storageCreateUpload. Nil members were not given.
type CreateUpload struct {
	BucketID  *string         `json:"bucketId"`
	Name      string          `json:"name"`
	Size      graphql.Bigint  `json:"size"` // bytes
	MimeType  *string         `json:"mimeType"`
	SHA256    *string         `json:"sha256"` // hex
	ID        *string         `json:"id"`
	Metadata  json.RawMessage `json:"metadata"`
	ExpiresAt *time.Time      `json:"expiresAt"`
	Method    string          `json:"method"` // AUTO, PUT, MULTIPART; "" is AUTO
}

// Header is one header that the client has to send with a signed URL.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Part is a signed URL for one part of a multipart upload.
type Part struct {
	PartNumber int      `json:"partNumber"`
	URL        string   `json:"url"`
	Size       int64    `json:"size"`
	Headers    []Header `json:"headers"`
}

// Upload is a ticket: where and how to send the bytes.
type Upload struct {
	UploadID  string    `json:"uploadId"`
	FileID    string    `json:"fileId"`
	Method    string    `json:"method"` // PUT or MULTIPART
	URL       *string   `json:"url"`
	Headers   []Header  `json:"headers"`
	PartSize  *int64    `json:"partSize"`
	PartCount *int      `json:"partCount"`
	Parts     []Part    `json:"parts"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// CompleteUpload is the input of storageCompleteUpload.
type CompleteUpload struct {
	UploadID string         `json:"uploadId"`
	Parts    []UploadedPart `json:"parts"`
}

// UploadedPart is a part as the store's answer to its PUT named it.
type UploadedPart struct {
	PartNumber int    `json:"partNumber"`
	ETag       string `json:"etag"`
}

// File is what the holder of a ticket learns of its file: everything if he is
// the session that opened the upload, the id alone otherwise.
type File struct {
	ID          string  `json:"id"`
	BucketID    *string `json:"bucketId"`
	Name        *string `json:"name"`
	Size        *int64  `json:"size"`
	MimeType    *string `json:"mimeType"`
	ETag        *string `json:"etag"`
	SHA256      *string `json:"sha256"`
	Width       *int    `json:"width"`
	Height      *int    `json:"height"`
	Placeholder *string `json:"placeholder"`
}

// AbortUpload is the input of storageAbortUpload.
type AbortUpload struct {
	UploadID string `json:"uploadId"`
}

// Aborted says whether this call ended the upload; false if it was over already.
type Aborted struct {
	UploadID string `json:"uploadId"`
	Aborted  bool   `json:"aborted"`
}

// DeleteFiles is the input of storageDeleteFiles.
type DeleteFiles struct {
	IDs []string `json:"ids"`
}

// Deleted tells the ids apart that are gone and those that the session cannot delete or see.
type Deleted struct {
	Deleted  []string `json:"deleted"`
	NotFound []string `json:"notFound"`
}

// GetDownload is the input of storageDownload.
type GetDownload struct {
	ID          string  `json:"id"`
	ExpiresIn   *int    `json:"expiresIn"`   // seconds
	Disposition string  `json:"disposition"` // INLINE or ATTACHMENT; "" is INLINE
	Filename    *string `json:"filename"`
	Image       *Image  `json:"image"`
}

// Image is StorageImageInput: what to make of a picture. Nil members were not given.
type Image struct {
	Preset     *string  `json:"preset"`
	Width      *int     `json:"width"`
	Height     *int     `json:"height"`
	Widths     []int    `json:"widths"`
	Fit        string   `json:"fit"`
	Gravity    string   `json:"gravity"`
	Crop       *Crop    `json:"crop"`
	DPR        *float64 `json:"dpr"`
	Enlarge    *bool    `json:"enlarge"`
	Format     string   `json:"format"`
	Quality    *int     `json:"quality"`
	Blur       *float64 `json:"blur"`
	Sharpen    *float64 `json:"sharpen"`
	Rotate     *int     `json:"rotate"`
	Flip       string   `json:"flip"`
	Grayscale  *bool    `json:"grayscale"`
	Background *string  `json:"background"`
	Padding    *int     `json:"padding"`
}

// Crop is StorageCrop: a rectangle of the upright picture, in its pixels.
type Crop struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Download is a link to a file or to a picture made of it.
type Download struct {
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
	Srcset    []Source  `json:"srcset"`
}

// Source is one entry of a srcset.
type Source struct {
	Width int    `json:"width"`
	URL   string `json:"url"`
}

// FileEvent is what the storage event triggers send of a row: database names.
type FileEvent struct {
	ID string `json:"id"`
}

// Content is a body to serve, with everything a response says about it.
type Content struct {
	ContentType  string
	ETag         string // quoted
	Disposition  string // Content-Disposition
	CacheControl string
	Negotiated   bool // the format was chosen by Accept: Vary says so
	LastModified time.Time
	Size         int64

	// Vary names the request headers, besides Accept, that the answer depends on.
	Vary []string
	// SurrogateKey is what a CDN knows the answer by when it is told to forget
	// it, SurrogateControl how long a CDN alone may keep it. Both may be empty.
	SurrogateKey, SurrogateControl, CDNCacheControl string

	// Finish completes a copy of a Content of which ContentType, Disposition and Size are
	// not known yet, which may take work; nil where nothing is missing. ETag and
	// LastModified stand before: conditions are decided without that work.
	Finish func(ctx context.Context, c Content) (Content, error)
	// Open starts the body at offset; length 0 means to the end. The caller closes it.
	Open func(ctx context.Context, offset, length int64) (Body, error)
}

// Swept counts what one sweep did.
type Swept struct {
	Completed int  `json:"completed"`
	Aborted   int  `json:"aborted"`
	Forgotten int  `json:"forgotten"`
	Garbage   int  `json:"garbage"`
	Expired   int  `json:"expired"`
	Running   bool `json:"running,omitempty"` // another sweep was at work: nothing was done
}

// CreateUploads is the input of storageCreateUploads.
type CreateUploads struct {
	Files []CreateUpload `json:"files"`
}

// ReplaceFile is the input of storageReplaceFile. Nil members were not given.
type ReplaceFile struct {
	ID       string          `json:"id"`
	Size     graphql.Bigint  `json:"size"` // bytes
	Name     *string         `json:"name"`
	MimeType *string         `json:"mimeType"`
	SHA256   *string         `json:"sha256"` // hex
	Metadata json.RawMessage `json:"metadata"`
	Method   string          `json:"method"`
	IfMatch  *string         `json:"ifMatch"` // an ETag
}

// ListParts is the input of storageUploadParts; nil partNumbers are the first missing ones.
type ListParts struct {
	UploadID    string `json:"uploadId"`
	PartNumbers []int  `json:"partNumbers"`
}

// Parts tells what of an upload in parts has arrived, with URLs for the rest.
type Parts struct {
	UploadID  string        `json:"uploadId"`
	FileID    string        `json:"fileId"`
	PartSize  int64         `json:"partSize"`
	PartCount int           `json:"partCount"`
	Uploaded  []ArrivedPart `json:"uploaded"`
	Missing   []Part        `json:"missing"`
	ExpiresAt time.Time     `json:"expiresAt"`
}

// ArrivedPart is a part that is at the store.
type ArrivedPart struct {
	PartNumber int    `json:"partNumber"`
	ETag       string `json:"etag"`
	Size       int64  `json:"size"`
}

// CopyFile is the input of storageCopyFile. Nil members were not given.
type CopyFile struct {
	ID       string  `json:"id"`
	NewID    *string `json:"newId"`
	BucketID *string `json:"bucketId"`
	Name     *string `json:"name"`
}

// GetDownloads is the input of storageDownloads: exactly one of IDs and Where.
type GetDownloads struct {
	IDs         []string        `json:"ids"`
	Where       json.RawMessage `json:"where"`   // files_bool_exp
	OrderBy     json.RawMessage `json:"orderBy"` // files_order_by, or a list of them
	Limit       *int            `json:"limit"`
	Offset      *int            `json:"offset"`
	ExpiresIn   *int            `json:"expiresIn"`
	Disposition string          `json:"disposition"`
	Image       *Image          `json:"image"`
}
