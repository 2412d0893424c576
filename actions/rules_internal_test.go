package actions

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hasura-storage/graphql"
)

func TestCreateNamesTheBadField(t *testing.T) {
	text := func(s string) *string { return &s }
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	past := now.Add(-time.Second)
	tests := map[string]struct {
		in   CreateUpload
		want string // part of the message; "" for no error
	}{
		"a plain file":              {CreateUpload{Name: "a.png"}, ""},
		"a name in NFD with emoji":  {CreateUpload{Name: "u\u0308ber 🎞.mov"}, ""},
		"a name with a line break":  {CreateUpload{Name: "a\\b\nc.txt"}, ""},
		"the longest name":          {CreateUpload{Name: strings.Repeat("x", 1024)}, ""},
		"no name":                   {CreateUpload{}, "name"},
		"a slash for a name":        {CreateUpload{Name: "/"}, "name"},
		"one byte too many":         {CreateUpload{Name: strings.Repeat("x", 1025)}, "1024"},
		"a NUL in the name":         {CreateUpload{Name: "a\x00"}, "NUL"},
		"a name that is not UTF-8":  {CreateUpload{Name: "a\xff"}, "UTF-8"},
		"a negative size":           {CreateUpload{Name: "a", Size: -1}, "size"},
		"more than S3 holds":        {CreateUpload{Name: "a", Size: 5<<40 + 1}, "size"},
		"an unknown method":         {CreateUpload{Name: "a", Method: "POST"}, "method"},
		"a type without a subtype":  {CreateUpload{Name: "a", MimeType: text("image")}, "mimeType"},
		"a type with parameters":    {CreateUpload{Name: "a", MimeType: text("text/plain; charset=utf-8")}, ""},
		"a digest that is no hex":   {CreateUpload{Name: "a", SHA256: text("xyz")}, "sha256"},
		"a digest that is too long": {CreateUpload{Name: "a", SHA256: text(strings.Repeat("0", 66))}, "sha256"},
		"a digest of a giant":       {CreateUpload{Name: "a", Size: 6 << 30, SHA256: text(strings.Repeat("0", 64))}, "sha256"},
		"an expiry in the past":     {CreateUpload{Name: "a", ExpiresAt: &past}, "expiresAt"},
		"metadata beyond 64 KiB":    {CreateUpload{Name: "a", Metadata: json.RawMessage(`"` + strings.Repeat("x", 64<<10) + `"`)}, "metadata"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.in.validate(now)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if !has(err, BadRequest) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want bad-request naming %q", err, tt.want)
			}
		})
	}
}

func TestABucketsRules(t *testing.T) {
	list := func(s string) *json.RawMessage { raw := json.RawMessage(s); return &raw }
	bucket := func(types *json.RawMessage) *graphql.Bucket {
		return &graphql.Bucket{Id: "b", MinUploadFileSize: 2, MaxUploadFileSize: 9, AllowedMimeTypes: types}
	}
	tests := map[string]struct {
		types    *json.RawMessage
		size     int64
		mimeType string
		want     Code
	}{
		"the smallest":                 {nil, 2, "image/png", ""},
		"the largest":                  {nil, 9, "image/png", ""},
		"one byte too few":             {nil, 1, "image/png", FileTooSmall},
		"one byte too many":            {nil, 10, "image/png", FileTooBig},
		"JSON null allows any":         {list(`null`), 5, "x/y", ""},
		"an empty list allows none":    {list(`[]`), 5, "x/y", MimeTypeNotAllowed},
		"a family":                     {list(`["image/*"]`), 5, "IMAGE/PNG; a=b", ""},
		"a family is no prefix":        {list(`["image/*"]`), 5, "imagery/png", MimeTypeNotAllowed},
		"exactly":                      {list(`["Application/PDF"]`), 5, "application/pdf", ""},
		"something else":               {list(`["application/pdf"]`), 5, "text/html", MimeTypeNotAllowed},
		"a list that cannot be read":   {list(`{"a":1}`), 5, "text/html", MimeTypeNotAllowed},
		"a type to come is not judged": {list(`["image/*"]`), 5, "", ""},
		"everything":                   {list(`["*/*"]`), 5, "a/b", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := judge(bucket(tt.types), tt.size, optional(tt.mimeType))
			if tt.want == "" && err != nil || tt.want != "" && !has(err, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestBytesCanOnlyContradict(t *testing.T) {
	const (
		png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
		jpeg = "\xff\xd8\xff\xe0\x00\x10JFIF\x00"
		pdf  = "%PDF-1.7\n"
		zipF = "PK\x03\x04\x14\x00\x00\x00\x08\x00"
		exe  = "MZ\x90\x00\x03\x00\x00\x00"
	)
	tests := map[string]struct {
		declared, head string
		contradicted   bool
	}{
		"a photo":                        {"image/jpeg", jpeg, false},
		"another kind of picture":        {"image/jpeg", png, false},
		"the JSON that describes a blob": {"image/jpeg", `{"_data":{"size":1}}`, true},
		"a multipart form for a photo":   {"image/jpeg", "--boundary\r\nContent-Disposition: form-data\r\n", true},
		"a page for a picture":           {"image/png", "<!DOCTYPE html><html>", true},
		"a PDF for a picture":            {"image/png", pdf, true},
		"noise for a picture":            {"image/png", "\x00\x01\x02\x03\x04\x05", true},
		"a picture for text":             {"text/plain", png, true},
		"CSS looks like text":            {"text/css", "body { color: red }", false},
		"JSON is text":                   {"application/json", `{"a": 1}`, false},
		"SVG is text":                    {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`, false},
		"a document is a zip":            {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", zipF, false},
		"a picture for a zip":            {"application/zip", png, true},
		"an unknown type takes anything": {"application/x-mine", png, false},
		"octet-stream takes anything":    {"application/octet-stream", exe, false},
		"a program for a PDF":            {"application/pdf", exe, true},
		"sound in a film's container":    {"audio/ogg", "OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00", false},
		"nothing contradicts nothing":    {"image/png", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := contradicts(tt.declared, []byte(tt.head)); got != tt.contradicted {
				t.Errorf("%s against %s: got %v", tt.declared, sniffed([]byte(tt.head)), got)
			}
		})
	}
}
