package handlers_test

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// blank is a body of n bytes without anything in memory.
type blank struct{ left int64 }

func (z *blank) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	clear(p[:n])
	z.left -= int64(n)
	return n, nil
}

// highest watches the heap until stop is called, which returns its peak in bytes.
func highest() (stop func() uint64) {
	var peak atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-ended
		return peak.Load()
	}
}

func TestAFileOfThreeGiBNeedsFlatMemory(t *testing.T) {
	if os.Getenv("S3_TEST_LARGE") == "" {
		t.Skip("moves 3 GiB up and down: set S3_TEST_LARGE=1")
	}
	const size = 3 << 30
	s := startREST(t, nil)
	s.sql(fmt.Sprintf(`INSERT INTO "storage.buckets" (id, max_upload_file_size) VALUES ('large', %d)`, size))
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	go func() {
		_ = form.WriteField("bucket-id", "large")
		out, _ := form.CreateFormFile("file[]", "zeros.bin")
		_, err := io.Copy(out, &blank{size})
		_ = form.Close()
		_ = writer.CloseWithError(err)
	}()
	stop := highest()
	a := s.send("owner", http.MethodPost, "/files", http.Header{"Content-Type": {form.FormDataContentType()}}, reader)
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	files, _ := a.json(t)["processedFiles"].([]any)
	row, _ := files[0].(map[string]any)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/files/%s", s.URL, row["id"]), nil)
	r.Header.Set("Authorization", restCallers["owner"].Get("Authorization"))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if n, err := io.Copy(io.Discard, response.Body); n != size || err != nil {
		t.Errorf("%d bytes came back: %v", n, err)
	}
	if peak := stop(); peak > 128<<20 {
		t.Errorf("the heap grew to %d MiB", peak>>20)
	}
}
