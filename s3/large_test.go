package s3_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

// film12 is a little more than two smallest parts.
func film12() []byte {
	data := bytes.Repeat([]byte("0123456789abcdef"), 2*int(s3.MinPart)/16)
	return append(data, "the end"...)
}

func TestLargeObjectsArePutAndCopiedInParts(t *testing.T) {
	store := s3.InSmallParts(s3test.Store(t))
	data := film12()
	object, err := store.Put(t.Context(), "film", io.MultiReader(bytes.NewReader(data)), int64(len(data)), "video/mp4")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(object.ETag, `-3"`) || object.Size != int64(len(data)) {
		t.Errorf("put %+v", object)
	}
	made, err := store.Copy(t.Context(), "film", "copy", s3.CopyOptions{ContentType: "video/webm"})
	if err != nil {
		t.Fatal(err)
	}
	stat, err := store.Stat(t.Context(), "copy")
	if err != nil || stat.ETag != made.ETag || stat.Size != made.Size || stat.ContentType != "video/webm" {
		t.Errorf("copied %+v, told %+v (%v)", stat, made, err)
	}
	for _, key := range []string{"film", "copy"} {
		if got := contents(t, store, key); !bytes.Equal(got, data) {
			t.Errorf("%s holds %d other bytes", key, len(got))
		}
	}
}

func contents(t *testing.T, store *s3.Store, key string) []byte {
	t.Helper()
	body, _, err := store.Get(t.Context(), key, s3.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestALargeBodyOfTheWrongLengthLeavesNothing(t *testing.T) {
	store := s3.InSmallParts(s3test.Store(t))
	data := film12()
	for _, announced := range []int{len(data) - 1, len(data) + 1} {
		_, err := store.Put(t.Context(), "film", bytes.NewReader(data), int64(announced), "")
		wantOnly(t, err, s3.ErrInvalid)
	}
	wantNothing(t, store)
}

func TestALargeCopyOfAnotherObjectLeavesNothing(t *testing.T) {
	store := s3.InSmallParts(s3test.Store(t))
	data := film12()
	if _, err := store.Put(t.Context(), "film", bytes.NewReader(data), int64(len(data)), ""); err != nil {
		t.Fatal(err)
	}
	_, err := store.Copy(t.Context(), "film", "copy", s3.CopyOptions{IfMatch: `"another"`, Size: int64(len(data))})
	wantOnly(t, err, s3.ErrPreconditionFailed)
	if err := store.Delete(t.Context(), "film"); err != nil {
		t.Fatal(err)
	}
	wantNothing(t, store)
}

func wantNothing(t *testing.T, store *s3.Store) {
	t.Helper()
	for object, err := range store.List(t.Context(), "", "") {
		t.Errorf("%s is left (%v)", object.Key, err)
	}
	for _, key := range []string{"film", "copy"} {
		for upload, err := range store.ListMultiparts(t.Context(), key) {
			t.Errorf("an upload of %s is left (%v)", upload.Key, err)
		}
	}
}

func TestAStoreWithoutPartCopyGetsTheBytesStreamed(t *testing.T) {
	data := film12()
	parts := map[string]int{}
	stub := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"tag"`)
		w.Header().Set("Last-Modified", "Tue, 15 Nov 1994 12:45:26 GMT")
		query := r.URL.Query()
		switch {
		case query.Has("uploads"):
			_, _ = io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>up</UploadId></InitiateMultipartUploadResult>")
		case r.Header.Get("X-Amz-Copy-Source") != "":
			refuse(w, http.StatusNotImplemented, "NotImplemented")
		case query.Has("partNumber"):
			n, _ := io.Copy(io.Discard, r.Body)
			parts[query.Get("partNumber")] = int(n)
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `<CompleteMultipartUploadResult><Bucket>bucket</Bucket><ETag>"made-3"</ETag></CompleteMultipartUploadResult>`)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data)
		}
	})
	object, err := s3.InSmallParts(stub.store(t)).Copy(t.Context(), "film", "copy", s3.CopyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if object.ETag != `"made-3"` || len(parts) != 3 || parts["3"] != 7 {
		t.Errorf("made %+v of parts %v", object, parts)
	}
}

// TestSixGiB moves real gigabytes: it takes minutes and 12 GiB of disk.
func TestSixGiB(t *testing.T) {
	if os.Getenv("S3_TEST_LARGE") == "" {
		t.Skip("moves 6 GiB: set S3_TEST_LARGE=1")
	}
	store := s3test.Store(t)
	const size = 6 << 30
	sum := sha256.New()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body := io.TeeReader(io.LimitReader(&counting{}, size), sum)
	if _, err := store.Put(t.Context(), "film", body, size, "video/mp4"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Copy(t.Context(), "film", "copy", s3.CopyOptions{ContentType: "video/mp4"}); err != nil {
		t.Fatal(err)
	}
	copied, object, err := store.Get(t.Context(), "copy", s3.GetOptions{})
	if err != nil || object.Size != size {
		t.Fatal(object.Size, err)
	}
	defer copied.Close()
	got := sha256.New()
	if _, err := io.Copy(got, copied); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if !bytes.Equal(got.Sum(nil), sum.Sum(nil)) {
		t.Error("other bytes came back")
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("moving 6 GiB allocated %d MiB", grown>>20)
	}
}

// counting is an endless body in which no two blocks are alike.
type counting struct{ block uint64 }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c.block >> (i % 8 * 8))
	}
	c.block++
	return len(p), nil
}
