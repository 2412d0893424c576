package s3test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

var lists = map[string]promise{
	"a list has every key of the prefix, in order, over several pages": func(b bench) {
		want := b.fill("pages/", 1050)
		b.wantKeys(b.keys("pages/", ""), want)
		b.wantKeys(b.keys("pages/", want[700]), want[701:])
	},
	"a prefix that ends with a slash leaves its neighbour out": func(b bench) {
		b.put("img/a", nil)
		b.put("img2/a", nil)
		b.wantKeys(b.keys("img/", ""), []string{"img/a"})
	},
	"an empty list is no error": func(b bench) {
		b.wantKeys(b.keys("nothing-here/", ""), nil)
	},
	"keys are in the order of their bytes": func(b bench) {
		want := []string{"order/s-x", "order/s.x", "order/s/x", "order/s0"}
		for _, k := range want {
			b.put(k, nil)
		}
		b.wantKeys(b.keys("order/", ""), want)
	},
	"a list tells size and ETag": func(b bench) {
		put := b.put("facts/a", noise(123))
		for object, err := range b.List(b.Context(), "facts/", "") {
			if err != nil {
				b.Fatal(err)
			}
			wantEqual(b, "size", object.Size, 123)
			wantEqual(b, "ETag", object.ETag, put.ETag)
		}
	},
	"a list may be left at any point": func(b bench) {
		b.put("left/a", nil)
		b.put("left/b", nil)
		for _, err := range b.List(b.Context(), "left/", "") {
			if err != nil {
				b.Fatal(err)
			}
			break
		}
	},
	"a list that is cut short says so": func(b bench) {
		b.put("cut/a", nil)
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		var last error
		for _, last = range b.List(ctx, "cut/", "") {
			continue
		}
		if !errors.Is(last, context.Canceled) {
			b.Fatalf("the list ended with %v", last)
		}
	},
}

// fill puts n empty objects under prefix and returns their sorted keys.
func (b bench) fill(prefix string, n int) []string {
	b.Helper()
	keys := make([]string, n)
	work := make(chan string)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for k := range work {
				if _, err := b.Put(b.Context(), k, http.NoBody, 0, ""); err != nil {
					b.Error(err)
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

func (b bench) keys(prefix, startAfter string) []string {
	b.Helper()
	var keys []string
	for object, err := range b.List(b.Context(), prefix, startAfter) {
		if err != nil {
			b.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

func (b bench) wantKeys(got, want []string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Fatalf("%d keys %.300q, want %d %.300q", len(got), got, len(want), want)
	}
}
