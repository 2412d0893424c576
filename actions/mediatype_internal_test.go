package actions

import (
	"strings"
	"testing"

	"hasura-storage/graphql"
)

func TestWhatABrowserWouldRun(t *testing.T) {
	for mimeType, want := range map[string]bool{
		"text/html": true, "Text/HTML; charset=utf-8": true, "image/svg+xml": true, "multipart/mixed; boundary=a": true,
		"text/html; =": true, "text/html;;": true, "text/html; charset": true, "text/plain; charset": true, "html": true, "": true,
		"text/html\r\nX-Evil: 1": true, "text/html\r\n": true, "text/plain; a=\"\x01\"": true, "text/plain; a=\"ä\"": true,
		"*/*": true, "text/*": true, "unknown/unknown": true, "Application/Unknown": true, "application/x-unknown-content-type": true,
		"text/plain; charset=utf-8": false, "image/png": false, "application/pdf": false, octetStream: false, "video/mp4; codecs=\"avc1\"": false,
	} {
		if runsInABrowser(mimeType) != want {
			t.Errorf("%q: %v", mimeType, !want)
		}
	}
}

func TestTextIsNotCalledWhatBrowsersLookInto(t *testing.T) {
	for _, declared := range []string{"text/html", "text/html; =", "text/x y", "text/*", "text/html\r\n"} {
		if got := typeOf([]byte("some text"), declared, "a.txt"); got != "text/plain; charset=utf-8" {
			t.Errorf("%q: %q", declared, got)
		}
	}
}

// TestNoFileIsAdmittedWithATypeThatIsNone: a preset or an insert by GraphQL gives a
// row any text.
func TestNoFileIsAdmittedWithATypeThatIsNone(t *testing.T) {
	b := &graphql.Bucket{MaxUploadFileSize: 10}
	for _, mimeType := range []string{"", "image", "text/html; =", "text/html;;", "text/html\r\nX-Evil: 1", "text/html\r\n", "a/" + strings.Repeat("b", 300)} {
		if err := new(Storage).admit(b, 5, &mimeType); !has(err, MimeTypeNotAllowed) {
			t.Errorf("%q: %v", mimeType, err)
		}
	}
	fine := "text/plain; charset=utf-8"
	for _, mimeType := range []*string{nil, &fine} {
		if err := new(Storage).admit(b, 5, mimeType); err != nil {
			t.Errorf("%q: %v", deref(mimeType), err)
		}
	}
}
