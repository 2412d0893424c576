package handlers_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// startNginx puts nginx, which listens at own, before another address. It returns
// the folder of its cache.
func startNginx(t *testing.T, program, own, before string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("testdata", "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nginx-test-") //nolint:usetesting // t.TempDir stands in a folder that is ours alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil { // its workers are another user's
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, string(page), dir, own, before), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-p", dir, "-c", conf)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for range 100 {
		if c, err := net.Dial("tcp", own); err == nil {
			_ = c.Close()
			return filepath.Join(dir, "cache")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nginx does not listen: %s", &complaints)
	return ""
}

// forgetIn removes from nginx's cache whatever has a key that begins with prefix;
// nginx fetches anew what it misses. Modules that do this exist, and crash.
func forgetIn(cache, prefix string) (removed int, err error) {
	err = filepath.WalkDir(cache, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(content[:min(len(content), 4096)], []byte("\nKEY: "+prefix)) {
			return err
		}
		removed++
		return os.Remove(name)
	})
	return removed, err
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestNginxAsASharedCache(t *testing.T) {
	nginx, err := exec.LookPath("nginx")
	if err != nil { // Debian's place is not on everybody's path
		nginx, err = exec.LookPath("/usr/sbin/nginx")
	}
	if err != nil {
		t.Skip("nginx is not installed")
	}
	cache, folder := freeAddress(t), ""
	purged := make(chan int, 16)
	s := startREST(t, func(o *actions.Options, _ *handlers.Options) {
		o.Purge = func(_ context.Context, ids []string) error {
			for _, id := range ids {
				removed, err := forgetIn(folder, "/v1/files/"+id)
				if err != nil {
					return err
				}
				purged <- removed
			}
			return nil
		}
	})
	folder = startNginx(t, nginx, cache, strings.TrimPrefix(strings.TrimSuffix(s.URL, "/v1"), "http://"))
	s.sql(`UPDATE "storage.buckets" SET cache_control = 'public, max-age=2' WHERE id = 'public'`)
	f := s.upload("owner", part{"bucket-id", "", "", "public"}, part{"file[]", "photo.jpg", "", photo(t, 80, 60)})
	private := s.upload("owner", part{"file[]", "a.txt", "", "private"})
	through := func(as, path string, header http.Header) answer {
		return s.send(as, http.MethodGet, "http://"+cache+"/v1"+path, header, nil)
	}
	step := func(name, as, path string, header http.Header, status int, state string) answer {
		t.Helper()
		a := through(as, path, header)
		if a.StatusCode != status || a.Header.Get("X-Cache") != state {
			t.Errorf("%s: %d %s, want %d %s: %.100s", name, a.StatusCode, a.Header.Get("X-Cache"), status, state, a.body)
		}
		return a
	}
	path, thumb := "/files/"+f.ID, "/files/"+f.ID+"?w=20"
	step("a public file", "anonymous", path, nil, 200, "MISS")
	step("again", "anonymous", path, nil, 200, "HIT")
	step("a picture of it", "anonymous", thumb, nil, 200, "MISS")
	step("the picture again", "anonymous", thumb, nil, 200, "HIT")
	time.Sleep(3100 * time.Millisecond)
	step("once it is old", "anonymous", path, nil, 200, "REVALIDATED")
	step("afterwards", "anonymous", path, nil, 200, "HIT")

	s.sql(`UPDATE "storage.buckets" SET cache_control = 'public, max-age=3600' WHERE id = 'public'`)
	time.Sleep(3100 * time.Millisecond)
	through("anonymous", path, nil)
	through("anonymous", thumb, nil)
	s.put("owner", f.ID, nil, part{"file", "other.jpg", "", photo(t, 40, 30)})
	select {
	case removed := <-purged:
		if removed != 2 {
			t.Errorf("%d entries were removed, want the file and a picture", removed)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("nothing was purged")
	}
	a := step("after a replace", "anonymous", path, nil, 200, "MISS")
	if a.Header.Get("Etag") == f.ETag {
		t.Error("the old version was served")
	}
	step("the picture after a replace", "anonymous", thumb, nil, 200, "MISS")

	path = "/files/" + private.ID
	for range 2 {
		step("a private file, by its owner", "owner", path, nil, 200, "")
	}
	has := http.Header{"If-None-Match": {private.ETag}}
	step("what its owner has", "owner", path, has, 304, "")
	step("what a stranger has of it", "stranger", path, has, 404, "")
	step("what nobody has of it", "anonymous", path, has, 404, "MISS")
	step("a role that may select nothing", "owner", path, http.Header{"X-Hasura-Role": {"editor"}, "If-None-Match": {private.ETag}}, 403, "")
}
