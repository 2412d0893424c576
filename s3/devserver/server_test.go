package devserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hasura-storage/s3"
	"hasura-storage/s3/devserver"
)

const (
	accessKey = "dev-key"
	secretKey = "dev-secret"
)

func config(dir string) devserver.Config {
	return devserver.Config{Dir: dir, AccessKey: accessKey, SecretKey: secretKey, Stdout: os.Stderr}
}

func start(t *testing.T, c devserver.Config) *devserver.Server {
	t.Helper()
	server, err := devserver.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

func store(t *testing.T, server *devserver.Server) *s3.Store {
	t.Helper()
	store, err := s3.New(s3.Options{Endpoint: server.Endpoint, Bucket: "bucket", AccessKey: accessKey, SecretKey: secretKey})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.CreateBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestItIsReadyWithinASecond(t *testing.T) {
	binary, err := devserver.Build(t.Context(), "", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	for range 3 { // a busy machine gets another chance
		c := config(t.TempDir())
		c.Binary = binary
		begin := time.Now()
		server := start(t, c)
		if err := store(t, server).Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took = time.Since(begin); took < time.Second {
			return
		}
	}
	t.Errorf("ready after %s", took)
}

func TestASecondBuildStartsNothing(t *testing.T) {
	first, err := devserver.Build(t.Context(), "", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	begin := time.Now()
	second, err := devserver.Build(t.Context(), "", &said)
	if err != nil || second != first || said.Len() > 0 {
		t.Fatalf("%q, %v, said %q", second, err, said.String())
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestTheSourcesAreFoundFromAnyFolderOfTheCheckout(t *testing.T) {
	want, err := devserver.Build(t.Context(), "", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	root, _ := filepath.Abs("../..")
	for _, folder := range []string{".", "s3", "s3/devs3", "docs"} {
		t.Chdir(filepath.Join(root, folder))
		if got, err := devserver.Build(t.Context(), "", os.Stderr); err != nil || got != want {
			t.Errorf("from %s: %q, %v", folder, got, err)
		}
	}
	t.Chdir(t.TempDir())
	if _, err := devserver.Build(t.Context(), "", nil); err == nil || !strings.Contains(err.Error(), "checkout") {
		t.Errorf("from elsewhere: %v", err)
	}
}

func TestWhyItDoesNotStart(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	inUse := t.TempDir()
	start(t, config(inUse))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		change func(*devserver.Config)
		want   string
	}{
		"the port is taken":               {func(c *devserver.Config) { c.Addr = busy.Addr().String() }, "address already in use"},
		"the folder is used by another":   {func(c *devserver.Config) { c.Dir = inUse }, "in use by another devs3"},
		"the folder is a file":            {func(c *devserver.Config) { c.Dir = file }, "data folder"},
		"no folder is named":              {func(c *devserver.Config) { c.Dir = "" }, "data folder"},
		"there are no keys":               {func(c *devserver.Config) { c.AccessKey = "" }, "DEVS3_ACCESS_KEY"},
		"the address is none":             {func(c *devserver.Config) { c.Addr = "a:b:c" }, "address"},
		"the filesystem has no xattrs":    {func(c *devserver.Config) { c.Dir = "/proc/self/task" }, "data folder"},
		"the binary is not there":         {func(c *devserver.Config) { c.Binary = "/no/such/binary" }, "no such file"},
		"the caller has given up already": {nil, "context canceled"},
	} {
		t.Run(sentence, func(t *testing.T) {
			c2 := config(t.TempDir())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.change != nil {
				c.change(&c2)
			} else {
				cancel()
			}
			_, err := devserver.Start(ctx, c2)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want it to say %q", err, c.want)
			}
		})
	}
}

func TestItEndsWhenToldTo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := config(t.TempDir())
	c.Dir, c.Scratch = filepath.Join(t.TempDir(), "scratch"), true
	server, err := devserver.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	ended(t, server.Done())
	if _, err := os.Stat(c.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the scratch folder is left: %v", err)
	}

	server = start(t, config(t.TempDir()))
	idle, err := http.Get(server.Endpoint + "/healthz") // leaves a connection open
	if err != nil {
		t.Fatal(err)
	}
	idle.Body.Close()
	begin := time.Now()
	server.Stop()
	server.Stop()
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("stopping took %s", took)
	}
}

func ended(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("it still runs")
	}
}

// parentDir makes this test binary the parent of a server instead of running
// tests, for a test that kills it.
const parentDir = "DEVSERVER_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentDir); dir != "" {
		c := config(dir)
		c.Scratch = true
		server, err := devserver.Start(context.Background(), c)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("endpoint", server.Endpoint)
		select {}
	}
	os.Exit(m.Run())
}

func TestItEndsWithItsParent(t *testing.T) {
	if _, err := devserver.Build(t.Context(), "", os.Stderr); err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(os.Args[0])
	dir := filepath.Join(t.TempDir(), "scratch")
	parent.Env = append(os.Environ(), parentDir+"="+dir)
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = parent.Process.Kill() }()
	endpoint := waitFor(t, output, "endpoint ")
	if err := parent.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for range 50 {
		_, alive := http.Get(endpoint + "/healthz")
		_, exists := os.Stat(dir)
		if alive != nil && exists != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server or its folder outlived its parent by five seconds")
}

func waitFor(t *testing.T, output io.Reader, prefix string) string {
	t.Helper()
	var text strings.Builder
	buffer := make([]byte, 1024)
	for {
		n, err := output.Read(buffer)
		text.Write(buffer[:n])
		if _, after, found := strings.Cut(text.String(), prefix); found && strings.Contains(after, "\n") {
			line, _, _ := strings.Cut(after, "\n")
			return line
		}
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
	}
}

func TestACutConnectionStoresNothing(t *testing.T) {
	server := start(t, config(t.TempDir()))
	store := store(t, server)
	if _, err := store.Put(t.Context(), "k", strings.NewReader("old"), 3, ""); err != nil {
		t.Fatal(err)
	}
	link, err := store.PresignPut(t.Context(), "k", time.Minute, s3.UploadTerms{Size: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	cutUpload(t, link.URL, 1_000_000, 70_000)
	time.Sleep(200 * time.Millisecond)
	object, err := store.Stat(t.Context(), "k")
	if err != nil || object.Size != 3 {
		t.Fatalf("it holds %d bytes (%v)", object.Size, err)
	}
}

// cutUpload announces a length, sends less and hangs up.
func cutUpload(t *testing.T, link string, announced, sent int) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPut, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", request.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	head := "PUT " + request.URL.RequestURI() + " HTTP/1.1\r\nHost: " + request.URL.Host + "\r\nContent-Length: " + strconv.Itoa(announced) + "\r\n\r\n"
	if _, err := io.WriteString(connection, head+strings.Repeat("x", sent)); err != nil {
		t.Fatal(err)
	}
}

func TestBrowsersCanReadRefusals(t *testing.T) {
	server := start(t, config(t.TempDir()))
	store(t, server)
	for method, want := range map[string]int{http.MethodOptions: http.StatusNoContent, http.MethodPut: http.StatusForbidden, http.MethodGet: http.StatusForbidden} {
		request, err := http.NewRequest(method, server.Endpoint+"/bucket/k", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", "http://app.example")
		request.Header.Set("Access-Control-Request-Method", "PUT")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Access-Control-Allow-Origin"); answer.StatusCode != want || got != "*" {
			t.Errorf("%s: %d with origin %q, want %d with *", method, answer.StatusCode, got, want)
		}
	}
}
