package s3test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
)

var lists = map[string]promise{
	"a list has every key of the prefix, in order, over several pages": func(t *testing.T, b bench) {
		want := b.fill(t, "pages/", 1050)
		wantKeys(t, b.keys(t, "pages/", ""), want)
		wantKeys(t, b.keys(t, "pages/", want[700]), want[701:])
	},
	"a prefix that ends with a slash leaves its neighbour out": func(t *testing.T, b bench) {
		b.put(t, "img/a", nil)
		b.put(t, "img2/a", nil)
		wantKeys(t, b.keys(t, "img/", ""), []string{"img/a"})
	},
	"an empty list is no error": func(t *testing.T, b bench) {
		wantKeys(t, b.keys(t, "nothing-here/", ""), nil)
	},
	"keys are in the order of their bytes": func(t *testing.T, b bench) {
		want := []string{"order/s-x", "order/s.x", "order/s/x", "order/s0"}
		for _, k := range want {
			b.put(t, k, nil)
		}
		wantKeys(t, b.keys(t, "order/", ""), want)
	},
	"a list tells size and ETag": func(t *testing.T, b bench) {
		put := b.put(t, "facts/a", noise(123))
		for object, err := range b.List(b.ctx, "facts/", "") {
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "size", object.Size, 123)
			wantEqual(t, "ETag", object.ETag, put.ETag)
		}
	},
	"a list may be left at any point": func(t *testing.T, b bench) {
		b.put(t, "left/a", nil)
		b.put(t, "left/b", nil)
		for range b.List(b.ctx, "left/", "") {
			break
		}
	},
	"a list that is cut short says so": func(t *testing.T, b bench) {
		b.put(t, "cut/a", nil)
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		var last error
		for _, last = range b.List(ctx, "cut/", "") {
			continue
		}
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("the list ended with %v", last)
		}
	},
}

// fill puts n empty objects under prefix and returns their sorted keys.
func (b bench) fill(t *testing.T, prefix string, n int) []string {
	t.Helper()
	keys := make([]string, n)
	work := make(chan string)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for k := range work {
				if _, err := b.Put(b.ctx, k, http.NoBody, 0, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range keys {
		keys[i] = fmt.Sprintf("%s%05d", prefix, i)
		work <- keys[i]
	}
	close(work)
	workers.Wait()
	return keys
}

func (b bench) keys(t *testing.T, prefix, startAfter string) []string {
	t.Helper()
	var keys []string
	for object, err := range b.List(b.ctx, prefix, startAfter) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

func wantKeys(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%d keys %.300q, want %d %.300q", len(got), got, len(want), want)
	}
}
