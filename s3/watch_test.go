package s3_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

// TestWatchNamesEveryCall sends an unsigned header along with each, as traces do.
func TestWatchNamesEveryCall(t *testing.T) {
	o := s3test.Start(t)
	var mu sync.Mutex
	var seen []string
	o.Watch = func(api string, r *http.Request) func(*http.Response, error) {
		r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		return func(answer *http.Response, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil || answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusForbidden {
				t.Errorf("%s: %v %v", api, answer, err)
			}
			seen = append(seen, api)
		}
	}
	s := s3test.Open(t, o)
	ctx := t.Context()
	put := func(key, text string) {
		if _, err := s.Put(ctx, key, strings.NewReader(text), int64(len(text)), "text/plain"); err != nil {
			t.Error(err)
		}
	}
	begin := func() string {
		id, err := s.CreateMultipart(ctx, "in/parts", "text/plain")
		if err != nil {
			t.Error(err)
		}
		return id
	}
	var id string
	var part s3.Part
	for _, step := range []struct {
		want string
		do   func()
	}{
		{"HeadBucket", func() { _ = s.Ready(ctx) }},
		{"CreateBucket", func() { _ = s.CreateBucket(ctx) }},
		{"PutObject", func() { put(o.Bucket+"/k", "bytes") }},
		{"HeadObject", func() { _, _ = s.Stat(ctx, o.Bucket+"/k") }},
		{"HeadObject CopyObject", func() { _, _ = s.Copy(ctx, o.Bucket+"/k", "l", s3.CopyOptions{Size: 5}) }},
		{"GetObject", func() {
			body, _, err := s.Get(ctx, "l", s3.GetOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			if text, _ := io.ReadAll(body); string(text) != "bytes" {
				t.Errorf("read %q", text)
			}
			body.Close()
		}},
		{"ListObjectsV2", func() {
			for range s.List(ctx, "", "") {
			}
		}},
		{"DeleteObject", func() { _ = s.Delete(ctx, "l") }},
		{"DeleteObjects", func() { _ = s.Delete(ctx, "l", o.Bucket+"/k") }},
		{"CreateMultipartUpload", func() { id = begin() }},
		{"UploadPart", func() { part, _ = s.PutPart(ctx, "in/parts", id, 1, strings.NewReader("bytes"), 5) }},
		{"ListParts", func() { _, _ = s.ListParts(ctx, "in/parts", id) }},
		{"ListMultipartUploads", func() {
			for range s.ListMultiparts(ctx, "in/") {
			}
		}},
		{"CompleteMultipartUpload", func() { _, _ = s.CompleteMultipart(ctx, "in/parts", id, []s3.Part{part}) }},
		{"CreateMultipartUpload", func() { id = begin() }},
		{"AbortMultipartUpload", func() { _ = s.AbortMultipart(ctx, "in/parts", id) }},
		{"PutObject", func() { put("large", strings.Repeat("x", int(s3.MinPart)+1)) }},
		{"HeadObject HeadObject CreateMultipartUpload UploadPartCopy UploadPartCopy CompleteMultipartUpload", func() { //nolint:dupword // two parts are copied
			_, _ = s3.InSmallParts(s3test.Open(t, o)).Copy(ctx, "large", "larger", s3.CopyOptions{})
		}},
	} {
		seen = nil
		step.do()
		if got := strings.Join(seen, " "); got != step.want {
			t.Errorf("seen %s, want %s", got, step.want)
		}
	}
}
