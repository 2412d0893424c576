package s3_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hasura-storage/s3"
)

// film is a stub store that holds one object too large for a plain copy.
type film struct {
	size int64

	mu     sync.Mutex
	copied map[string]string // part number -> range
	tags   map[string]bool
}

func (f *film) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Last-Modified", "Tue, 15 Nov 1994 12:45:26 GMT")
	switch query := r.URL.Query(); {
	case r.Method == http.MethodHead:
		w.Header().Set("ETag", `"film"`)
		w.Header().Set("Content-Length", strconv.FormatInt(f.size, 10))
	case query.Has("uploads"):
		_, _ = io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>up</UploadId></InitiateMultipartUploadResult>")
	case query.Has("partNumber"):
		f.mu.Lock()
		f.copied[query.Get("partNumber")] = r.Header.Get("X-Amz-Copy-Source-Range")
		f.tags[r.Header.Get("X-Amz-Copy-Source-If-Match")] = true
		f.mu.Unlock()
		_, _ = io.WriteString(w, `<CopyPartResult><ETag>"part"</ETag></CopyPartResult>`)
	case r.Method == http.MethodPost:
		_, _ = io.WriteString(w, `<CompleteMultipartUploadResult><Bucket>bucket</Bucket><ETag>"made-13"</ETag></CompleteMultipartUploadResult>`)
	default:
		refuse(w, http.StatusBadRequest, "InvalidRequest")
	}
}

func TestCopiesAboveFiveGiBGoInParts(t *testing.T) {
	f := &film{size: 6<<30 + 1, copied: map[string]string{}, tags: map[string]bool{}}
	object, err := newStub(t, f.ServeHTTP).store(t).Copy(t.Context(), "from", "to", s3.CopyOptions{ContentType: "video/mp4"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (s3.Object{Key: "to", ETag: `"made-13"`, Size: f.size, ContentType: "video/mp4"}); object != want {
		t.Errorf("made %+v, want %+v", object, want)
	}
	if len(f.copied) != 13 || f.copied["1"] != "bytes=0-536870911" || f.copied["13"] != "bytes=6442450944-6442450944" {
		t.Errorf("parts were %v", f.copied)
	}
	if len(f.tags) != 1 || !f.tags[`"film"`] {
		t.Errorf("parts were copied from %v", f.tags)
	}
}

func TestAStoreWithoutCopyGetsTheBytesStreamed(t *testing.T) {
	var made string
	store := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Amz-Copy-Source") != "":
			refuse(w, http.StatusNotImplemented, "NotImplemented")
		case r.Method == http.MethodPut:
			body, _ := io.ReadAll(r.Body)
			made = r.Header.Get("Content-Type") + " " + string(body)
			w.Header().Set("ETag", `"made"`)
		case r.Method == http.MethodGet && r.Header.Get("If-Match") != `"tag"`:
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		default:
			w.Header().Set("Content-Length", "5")
			accept(w, r)
		}
	})
	object, err := store.store(t).Copy(t.Context(), "from", "to", s3.CopyOptions{ContentType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	if made != "text/plain hello" || object.ETag != `"made"` || object.Size != 5 {
		t.Fatalf("stored %q, told %+v", made, object)
	}
}

func TestAKnownSourceIsCopiedWithOneRequest(t *testing.T) {
	store := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<CopyObjectResult><ETag>"made"</ETag></CopyObjectResult>`)
	})
	_, err := store.store(t).Copy(t.Context(), "from", "to", s3.CopyOptions{IfMatch: `"tag"`, Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(store.requests(), ", "); got != "PUT /bucket/to" {
		t.Fatalf("requests were %s", got)
	}
	header := store.headers(0)
	for name, want := range map[string]string{
		"X-Amz-Copy-Source": "bucket/from", "X-Amz-Copy-Source-If-Match": `"tag"`, "X-Amz-Metadata-Directive": "REPLACE",
	} {
		if header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, header.Get(name), want)
		}
	}
}
