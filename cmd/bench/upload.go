package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
)

// upload stores a file by the REST interface and returns its id.
func upload(base, bucket, name, contentType string, header http.Header, content []byte) (string, error) {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	_ = parts.WriteField("bucket-id", bucket)
	part, _ := parts.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="file[]"; filename=%q`, name)},
		"Content-Type":        {contentType},
	})
	_, _ = part.Write(content)
	_ = parts.Close() // nothing fails in memory
	r, err := http.NewRequest(http.MethodPost, base+"/files", &form)
	if err != nil {
		return "", err
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", parts.FormDataContentType())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	var stored struct {
		ProcessedFiles []struct{ ID string }
	}
	if err := json.Unmarshal(text, &stored); err != nil || len(stored.ProcessedFiles) != 1 || answer.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("upload of %s: %s: %s", name, answer.Status, text)
	}
	return stored.ProcessedFiles[0].ID, nil
}
