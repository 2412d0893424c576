package actions

import (
	"encoding/json"
	"io"
)

// Form is a multipart form, part by part, as it arrives.
type Form interface {
	// Next returns io.EOF after the last part. It ends the part before.
	Next() (FormPart, error)
	// Length is what all parts together can have at most, in bytes; -1 is unknown.
	Length() int64
}

// FormPart is one part. FileName is "" for what is no file.
type FormPart struct {
	Field, FileName, ContentType string
	Body                         io.Reader
}

// FileMetadata is what the sender of a form says of a file. Empty members were
// not given.
type FileMetadata struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Metadata json.RawMessage `json:"metadata"`
}

// maxField is the longest value of a form, in bytes.
const maxField = 1 << 20

// readField reads the value of a part that is no file.
func readField(part FormPart) (string, error) {
	value, err := io.ReadAll(io.LimitReader(part.Body, maxField+1))
	if err != nil {
		return "", err
	}
	if len(value) > maxField {
		return "", Errorf(BadRequest, "%s is longer than %d bytes", part.Field, maxField)
	}
	return string(value), nil
}

func readMetadata(part FormPart) (FileMetadata, error) {
	value, err := readField(part)
	if err != nil {
		return FileMetadata{}, err
	}
	var m FileMetadata
	if err := json.Unmarshal([]byte(value), &m); err != nil {
		return FileMetadata{}, Errorf(BadRequest, "couldn't decode metadata").Because(err)
	}
	if string(m.Metadata) == "null" {
		m.Metadata = nil
	}
	if len(m.Metadata) > maxMetadataBytes {
		return FileMetadata{}, Errorf(BadRequest, "metadata is larger than %d bytes", maxMetadataBytes)
	}
	if m.Name != "" {
		return m, validName(m.Name)
	}
	return m, nil
}
