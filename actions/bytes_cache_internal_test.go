package actions

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// shelf is a store of one version after another, and counts what it gives.
type shelf struct {
	content string
	given   int
	fail    error
}

func (s *shelf) open(_ context.Context, offset, length int64) (Body, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	s.given++
	body := new(memory)
	body.Reset(part([]byte(s.content), offset, length))
	return body, nil
}

// cached is a cache on a clock that tests move.
func cached(limit int64) (*bytesCache, *time.Time) {
	now := time.Unix(1e9, 0)
	return newBytesCache(limit, func() time.Time { return now }), &now
}

func (s *shelf) read(t *testing.T, c *bytesCache, v version, offset, length int64) string {
	t.Helper()
	body, err := c.open(t.Context(), v, int64(len(s.content)), offset, length, s.open)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestOnlyWhatIsAskedForAgainIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		size  int
		pause time.Duration
		limit int64
		want  int // times that the store is asked in four downloads
	}{
		"the second download keeps it":    {size: 100, limit: 1 << 20, want: 2},
		"downloads too far apart":         {size: 100, limit: 1 << 20, pause: 2 * admission, want: 4},
		"a file that is too large":        {size: 1 << 18, limit: 1 << 20, want: 4},
		"the largest file":                {size: 1 << 17, limit: 1 << 20, want: 2},
		"an empty file is not worth it":   {size: 0, limit: 1 << 20, want: 4},
		"a cache that is turned off":      {size: 100, limit: -1, want: 4},
		"a cache smaller than every file": {size: 100, limit: 1, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			c, now := cached(tc.limit)
			store := &shelf{content: strings.Repeat("x", tc.size)}
			for range 4 {
				if got := store.read(t, c, version{"key", "tag"}, 0, 0); got != store.content {
					t.Fatalf("got %d bytes, want %d", len(got), tc.size)
				}
				*now = now.Add(tc.pause)
			}
			if store.given != tc.want {
				t.Errorf("the store gave %d times, want %d", store.given, tc.want)
			}
		})
	}
}

func TestKeptBytesAreThoseOfTheirVersion(t *testing.T) {
	c, _ := cached(1 << 20)
	old, changed := &shelf{content: "the old bytes"}, &shelf{content: "THE NEW BYTES"}
	for range 3 {
		if got := old.read(t, c, version{"key", "one"}, 4, 3); got != "old" {
			t.Errorf("a part of the old version is %q", got)
		}
		if got := changed.read(t, c, version{"key", "two"}, 4, 0); got != "NEW BYTES" {
			t.Errorf("the end of the new version is %q", got)
		}
	}
}

func TestTheLeastUsedGoesFirst(t *testing.T) {
	c, _ := cached(4 * 1024)
	content := strings.Repeat("x", 512)
	stores := map[string]*shelf{}
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		stores[key] = &shelf{content: content}
		for range 2 {
			stores[key].read(t, c, version{key, ""}, 0, 0)
		}
	}
	stores["e"].read(t, c, version{"e", ""}, 0, 0)
	stores["a"].read(t, c, version{"a", ""}, 0, 0)
	if stores["e"].given != 2 || stores["a"].given != 3 {
		t.Errorf("the latest was fetched %d times, want 2; the oldest %d times, want 3", stores["e"].given, stores["a"].given)
	}
	if c.used > c.limit {
		t.Errorf("%d bytes are kept, the limit is %d", c.used, c.limit)
	}
}

// TestSlowReadersDoNotPileUp: bytes that are still being sent count, also once
// they are no longer kept.
func TestSlowReadersDoNotPileUp(t *testing.T) {
	c, _ := cached(8 * 1024)
	store := &shelf{content: strings.Repeat("x", 1024)}
	var bodies []Body
	for i := range 100 {
		v := version{strings.Repeat("k", i+1), ""}
		store.read(t, c, v, 0, 0)
		body, err := c.open(t.Context(), v, 1024, 0, 0, store.open)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	if c.lent > c.limit {
		t.Errorf("%d bytes are lent, the limit is %d", c.lent, c.limit)
	}
	for _, body := range bodies {
		_ = body.Close()
		_ = body.Close() // a second time gives nothing back
	}
	if c.lent != 0 {
		t.Errorf("%d bytes are lent to nobody", c.lent)
	}
}

func TestWhatCouldNotBeLoadedIsAskedForAgain(t *testing.T) {
	c, _ := cached(1 << 20)
	v, gone := version{"key", "tag"}, errors.New("gone")
	store := &shelf{content: "bytes"}
	store.read(t, c, v, 0, 0)
	for _, fail := range []error{gone, nil} {
		store.fail = fail
		_, err := c.open(t.Context(), v, 5, 0, 0, store.open)
		if !errors.Is(err, fail) {
			t.Errorf("opened with %v, want %v", err, fail)
		}
	}
	short := &shelf{content: "byte"}
	other := version{"other", "tag"}
	short.read(t, c, other, 0, 0)
	if _, err := c.open(t.Context(), other, 5, 0, 0, short.open); !has(err, StorageUnavailable) {
		t.Errorf("an object that is too short: %v", err)
	}
	if c.used > 5+overhead {
		t.Errorf("%d bytes are kept", c.used)
	}
}
