package actions_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hasura-storage/actions"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// large skips what moves gigabytes or needs the machine for itself.
func large(t *testing.T) {
	t.Helper()
	if os.Getenv("S3_TEST_LARGE") == "" {
		t.Skip("takes minutes and 19 GiB of disk: set S3_TEST_LARGE=1")
	}
}

// pattern is the content of a large file: eight bytes that count, over and over.
type pattern struct{ at int64 }

func (p *pattern) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(p.at >> 20 >> (p.at % 8 * 8)) // another block each MiB
		p.at++
	}
	return len(b), nil
}

var errTunnel = errors.New("the train is in a tunnel")

// cut ends with an error instead of the end.
type cut struct{ io.Reader }

func (c cut) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if errors.Is(err, io.EOF) {
		err = errTunnel
	}
	return n, err
}

// heap watches the most memory that is in use.
type heap struct {
	start, most uint64
	stop        chan struct{}
	wait        sync.WaitGroup
}

func watchHeap() *heap {
	h := &heap{start: inUse(), stop: make(chan struct{})}
	h.wait.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-h.stop:
				return
			case <-tick.C:
				h.most = max(h.most, inUse())
			}
		}
	})
	return h
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// grown ends the watch and returns the growth in MiB.
func (h *heap) grown() uint64 {
	close(h.stop)
	h.wait.Wait()
	return (max(h.most, h.start) - h.start) >> 20
}

func TestAFilmOnATrain(t *testing.T) {
	large(t)
	for name, tc := range map[string]struct {
		size    int64
		proxied bool
	}{
		"6 GiB past the service":    {6 << 30, false},
		"1 GiB through the service": {1 << 30, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.bucketIs(map[string]any{"maxUploadFileSize": int64(1) << 40})
			s.options.Proxied = tc.proxied
			s.service = s.instance()
			owner := user()
			began := time.Now()
			memory := watchHeap()
			ticket := s.create(owner, actions.CreateUpload{Name: "film.bin", Size: graphql.Bigint(tc.size), Method: "MULTIPART"})
			for _, stop := range []int{*ticket.PartCount / 3, *ticket.PartCount / 2, 0} {
				s.sendMissing(owner, ticket, stop)
				s.service = s.instance() // another day
			}
			if err := s.completePatiently(owner, ticket); err != nil {
				t.Fatal(err)
			}
			t.Logf("%v; the heap grew by %d MiB", time.Since(began).Round(time.Second), memory.grown())
			s.isPattern(ticket.FileID, tc.size)
			if memory.most > memory.start+64<<20 {
				t.Error("memory grows with the file")
			}
			if tc.size > s3.MaxPut {
				s.isPattern(s.copyPatiently(owner, ticket.FileID), tc.size)
				s.holds()
			}
		})
	}
}

// sendMissing sends the parts that are missing until stop of them have arrived
// in all, then breaks off in the middle of the next; 0 sends everything.
func (s *stack) sendMissing(as actions.Session, ticket actions.Upload, stop int) {
	s.t.Helper()
	for {
		parts := s.missing(as, ticket)
		if len(parts.Missing) == 0 {
			return
		}
		arrived := len(parts.Uploaded)
		for _, part := range parts.Missing {
			body := io.LimitReader(&pattern{at: int64(part.PartNumber-1) * parts.PartSize}, part.Size)
			if stop > 0 && arrived == stop {
				if err := s.sendPart(ticket, part, cut{io.LimitReader(body, part.Size/2)}); err == nil {
					s.t.Error("half a part was taken")
				}
				return
			}
			if err := s.sendPart(ticket, part, body); err != nil {
				s.t.Fatal(err)
			}
			arrived++
		}
	}
}

func (s *stack) sendPart(ticket actions.Upload, part actions.Part, body io.Reader) error {
	if s.options.Proxied {
		_, err := s.service.ReceiveBytes(s.t.Context(), actions.SentBytes{UploadID: ticket.UploadID, Part: part.PartNumber, Length: part.Size, Body: body})
		return err
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPut, part.URL, body)
	if err != nil {
		return err
	}
	r.ContentLength = part.Size
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("part %d: %s", part.PartNumber, resp.Status)
	}
	return nil
}

// completePatiently asks again as long as the service says that it is at work.
func (s *stack) completePatiently(as actions.Session, ticket actions.Upload) error {
	s.t.Helper()
	for {
		if err := s.complete(as, ticket); code(err) != actions.UploadCompleting {
			return err
		}
	}
}

// copyPatiently copies a file, asking again as long as the service says that it is at work.
func (s *stack) copyPatiently(as actions.Session, id string) (copied string) {
	s.t.Helper()
	newID := uuid.NewString()
	for {
		file, err := s.service.CopyFile(s.t.Context(), as, actions.CopyFile{ID: id, NewID: &newID})
		if err == nil {
			return file.ID
		}
		if code(err) != actions.UploadCompleting {
			s.t.Fatalf("copy: %v", err)
		}
	}
}

// isPattern reads the whole file back.
func (s *stack) isPattern(id string, size int64) {
	s.t.Helper()
	key, _ := s.fileRow(id)["objectKey"].(string)
	body, o, err := s.objects.Get(s.t.Context(), key, s3.GetOptions{})
	if err != nil || o.Size != size {
		s.t.Fatal(o.Size, err)
	}
	defer body.Close()
	got, want := sha256.New(), sha256.New()
	if _, err := io.Copy(got, body); err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.CopyN(want, &pattern{}, size)
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		s.t.Error("the film is another")
	}
}

func TestTwoHundredClientsAtOnce(t *testing.T) {
	large(t)
	s := start(t)
	client, err := graphql.New(graphql.Options{Endpoint: s.admin, AdminSecret: adminSecret, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s.options.Hasura = client
	s.service = s.instance()
	const clients = 200
	body := make([]byte, 1<<20)
	var mu sync.Mutex
	var creating, completing []time.Duration
	var failed atomic.Int32
	began := time.Now()
	var wait sync.WaitGroup
	for n := range clients {
		wait.Go(func() {
			as := user()
			at := time.Now()
			ticket, err := s.service.CreateUpload(t.Context(), as, actions.CreateUpload{Name: fmt.Sprint(n), Size: 1 << 20})
			created := time.Since(at)
			if err == nil && put(t, *ticket.URL, ticket.Headers, body) != http.StatusOK {
				err = errTunnel
			}
			at = time.Now()
			if err == nil {
				err = s.completePatiently(as, ticket)
			}
			if err != nil {
				failed.Add(1)
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			creating, completing = append(creating, created), append(completing, time.Since(at))
		})
	}
	wait.Wait()
	if failed.Load() > 0 {
		t.Fatalf("%d failed", failed.Load())
	}
	took := time.Since(began)
	t.Logf("%d files of 1 MiB in %v: %.1f a second; p99 of create %v, of complete %v",
		clients, took.Round(time.Millisecond), clients/took.Seconds(), p99(creating), p99(completing))
	s.holds()
}

func p99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[(len(all)*99-1)/100].Round(time.Millisecond)
}
