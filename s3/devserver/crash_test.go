package devserver_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hasura-storage/s3"
)

const crashKeys = 8

// diary is what a writer knows of its key: the last object that the store
// acknowledged, and those whose answer it never saw.
type diary struct {
	acknowledged string
	open         map[string]bool
}

func TestAKillTearsAndLosesNothing(t *testing.T) {
	kills := 4
	if testing.Short() {
		kills = 1
	}
	dir := t.TempDir()
	diaries := make([]diary, crashKeys)
	for range kills {
		killUnderLoad(t, dir, diaries)
		server := start(t, config(dir))
		check(t, store(t, server), diaries)
		server.Stop()
	}
	err := filepath.WalkDir(filepath.Join(dir, "buckets"), func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.Contains(filepath.Base(path), ".sgwtmp.") {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// killUnderLoad lets every writer replace its object again and again until the
// server is gone.
func killUnderLoad(t *testing.T, dir string, diaries []diary) {
	t.Helper()
	server := start(t, config(dir))
	store := store(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for i := range diaries {
		writers.Go(func() {
			for ctx.Err() == nil {
				diaries[i].write(ctx, store, i)
			}
		})
	}
	time.Sleep(time.Duration(200+rand.IntN(300)) * time.Millisecond)
	server.Kill()
	cancel()
	writers.Wait()
}

// write puts a new object. Its type holds the digest of its bytes, so that a
// mixture of two objects, or of one's bytes and the other's metadata, shows.
func (d *diary) write(ctx context.Context, store *s3.Store, i int) {
	data := make([]byte, 1+rand.IntN(200_000))
	for at := range data {
		data[at] = byte(at * (i + len(data)))
	}
	sum := digest(data)
	if _, err := store.Put(ctx, fmt.Sprint("key", i), bytes.NewReader(data), int64(len(data)), "x/"+sum); err == nil {
		*d = diary{acknowledged: sum}
		return
	}
	if d.open == nil {
		d.open = map[string]bool{}
	}
	d.open[sum] = true
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func check(t *testing.T, store *s3.Store, diaries []diary) {
	t.Helper()
	for i, d := range diaries {
		body, object, err := store.Get(t.Context(), fmt.Sprint("key", i), s3.GetOptions{})
		if errors.Is(err, s3.ErrNotFound) && d.acknowledged == "" {
			continue // a slow machine was killed before the first answer
		}
		if err != nil {
			t.Fatalf("key%d: %v", i, err)
		}
		data, err := io.ReadAll(body)
		body.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := digest(data)
		if object.ContentType != "x/"+got {
			t.Errorf("key%d is torn: %d bytes under another object's type", i, len(data))
		}
		if got != d.acknowledged && !d.open[got] {
			t.Errorf("key%d holds an object that was replaced before", i)
		}
		listed := 0
		for range store.List(t.Context(), fmt.Sprint("key", i), "") {
			listed++
		}
		if listed != 1 {
			t.Errorf("key%d is listed %d times", i, listed)
		}
	}
}
