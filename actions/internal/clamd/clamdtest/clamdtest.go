// Package clamdtest starts a real clamd for tests, with one signature of its own
// instead of a database: that of the harmless EICAR test file.
package clamdtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Eicar returns the test file that every scanner takes for a virus. It is put
// together here so that no scanner takes this source for one.
func Eicar() []byte {
	return []byte(`X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR` + `-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`)
}

// Virus is what the daemon calls it.
const Virus = "Eicar-Test.UNOFFICIAL"

// signature is md5:size:name of that file.
const signature = "44d88612fea8a8f36de82e1278abb02f:68:Eicar-Test\n"

// Program returns the path of clamd, or "" if it is not installed.
func Program() string {
	if path, err := exec.LookPath("clamd"); err == nil {
		return path
	}
	const debian = "/usr/sbin/clamd" // not in everybody's PATH
	if _, err := os.Stat(debian); err != nil {
		return ""
	}
	return debian
}

// Start runs a clamd until the test ends and returns its address. A machine
// without one skips the test. limit is its StreamMaxLength in bytes.
func Start(t testing.TB, limit int) string {
	t.Helper()
	program := Program()
	if program == "" {
		t.Skip("clamd is not installed")
	}
	dir := t.TempDir()
	port := freePort(t)
	write(t, filepath.Join(dir, "db", "test.hdb"), signature)
	conf := filepath.Join(dir, "clamd.conf")
	write(t, conf, fmt.Sprintf("DatabaseDirectory %s\nTCPSocket %d\nTCPAddr 127.0.0.1\nForeground yes\nStreamMaxLength %d\nLogFile %s\n",
		filepath.Join(dir, "db"), port, limit, filepath.Join(dir, "log")))
	if os.Geteuid() == 0 {
		write(t, conf, string(read(t, conf))+"User root\n")
	}
	daemon := exec.Command(program, "--config-file", conf) //nolint:noctx // ended below
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	await(t, address, filepath.Join(dir, "log"))
	return "tcp://" + address
}

func await(t testing.TB, address, log string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil { //nolint:noctx // local
			_ = conn.Close()
			return
		}
	}
	t.Fatalf("clamd does not listen: %s", read(t, log))
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // local
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it is one
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
