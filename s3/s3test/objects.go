package s3test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"hasura-storage/s3"
)

var objects = map[string]promise{
	"what was put is got, with its size, type and quoted ETag": func(t *testing.T, b bench) {
		data := noise(100_000)
		put := b.put(t, key(t, "a"), data)
		got, object := b.read(t, put.Key, s3.GetOptions{})
		if !bytes.Equal(got, data) {
			t.Fatal("other bytes came back")
		}
		stat, err := b.Stat(b.ctx, put.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []s3.Object{put, object, stat} {
			wantEqual(t, "size", o.Size, int64(len(data)))
			wantEqual(t, "type", o.ContentType, "text/plain")
			wantEqual(t, "ETag", o.ETag, put.ETag)
		}
		if len(put.ETag) < 3 || !strings.HasPrefix(put.ETag, `"`) || !strings.HasSuffix(put.ETag, `"`) {
			t.Fatalf("ETag %s has no quotes", put.ETag)
		}
		if age := time.Since(stat.LastModified).Abs(); age > time.Hour {
			t.Fatalf("modified %s ago", age)
		}
	},
	"an object may be empty": func(t *testing.T, b bench) {
		b.put(t, key(t, "a"), nil)
		b.holds(t, key(t, "a"), nil)
	},
	"a body that cannot seek is stored as well": func(t *testing.T, b bench) {
		data := noise(70_000)
		if _, err := b.Put(b.ctx, key(t, "a"), streamed(data), int64(len(data)), ""); err != nil {
			t.Fatal(err)
		}
		b.holds(t, key(t, "a"), data)
	},
	"a body is stored from where it stands": func(t *testing.T, b bench) {
		body := bytes.NewReader([]byte("head and tail"))
		_, _ = body.Seek(9, io.SeekStart)
		if _, err := b.Put(b.ctx, key(t, "a"), body, 4, ""); err != nil {
			t.Fatal(err)
		}
		b.holds(t, key(t, "a"), []byte("tail"))
	},
	"a body that ends early stores nothing": func(t *testing.T, b bench) { badLength(t, b, 99_999) },
	"a body that goes on stores nothing":    func(t *testing.T, b bench) { badLength(t, b, 100_001) },
	"a body where none was announced stores nothing": func(t *testing.T, b bench) {
		_, err := b.Put(b.ctx, key(t, "a"), strings.NewReader("x"), 0, "")
		wantErr(t, err, s3.ErrInvalid)
		b.absent(t, key(t, "a"))
	},
	"a put replaces what was there": replaces,
	"readers during a replacement see the old or the new object": func(t *testing.T, b bench) {
		whole(t, b, key(t, "a"))
	},
	"what is missing is not found": func(t *testing.T, b bench) {
		b.absent(t, key(t, "none"))
		_, _, err := b.Get(b.ctx, key(t, "none"), s3.GetOptions{})
		wantErr(t, err, s3.ErrNotFound)
	},
	"a part of an object can be read": ranges,
	"a range beyond the end is invalid": func(t *testing.T, b bench) {
		b.put(t, key(t, "a"), noise(10))
		_, _, err := b.Get(b.ctx, key(t, "a"), s3.GetOptions{Offset: 10})
		wantErr(t, err, s3.ErrInvalid)
	},
	"IfMatch reads one object only, with or without quotes": func(t *testing.T, b bench) {
		old := b.put(t, key(t, "a"), []byte("old"))
		for _, etag := range []string{old.ETag, strings.Trim(old.ETag, `"`)} {
			b.read(t, key(t, "a"), s3.GetOptions{IfMatch: etag})
		}
		b.put(t, key(t, "a"), []byte("new"))
		_, _, err := b.Get(b.ctx, key(t, "a"), s3.GetOptions{IfMatch: old.ETag})
		wantErr(t, err, s3.ErrPreconditionFailed)
	},
	"an error of the body's own is told and stores nothing": func(t *testing.T, b bench) {
		broken := errors.New("the client is gone")
		_, err := b.Put(b.ctx, key(t, "a"), io.MultiReader(strings.NewReader("so far"), iotest.ErrReader(broken)), 100, "")
		wantErr(t, err, broken)
		b.absent(t, key(t, "a"))
	},
	"keys are opaque": oddKeys,
	"a key must have 1 to 1024 bytes": func(t *testing.T, b bench) {
		for _, bad := range []string{"", strings.Repeat("k", 1025)} {
			_, err := b.Put(b.ctx, bad, strings.NewReader("x"), 1, "")
			wantErr(t, err, s3.ErrInvalid)
			_, err = b.Stat(b.ctx, bad)
			wantErr(t, err, s3.ErrInvalid)
		}
	},
	"a deleted object is gone, and deleting it again is fine": func(t *testing.T, b bench) {
		b.put(t, key(t, "a"), noise(10))
		for range 2 {
			if err := b.Delete(b.ctx, key(t, "a")); err != nil {
				t.Fatal(err)
			}
		}
		b.absent(t, key(t, "a"))
	},
	"many keys are deleted at once, absent ones among them": deletesMany,
}

func badLength(t *testing.T, b bench, length int) {
	for name, body := range map[string]io.Reader{"seeks": bytes.NewReader(noise(length)), "streams": streamed(noise(length))} {
		_, err := b.Put(b.ctx, key(t, name), body, 100_000, "")
		wantErr(t, err, s3.ErrInvalid)
		b.absent(t, key(t, name))
	}
	b.put(t, key(t, "old"), []byte("old"))
	_, err := b.Put(b.ctx, key(t, "old"), streamed(noise(length)), 100_000, "")
	wantErr(t, err, s3.ErrInvalid)
	b.holds(t, key(t, "old"), []byte("old"))
}

func replaces(t *testing.T, b bench) {
	old := b.put(t, key(t, "a"), []byte("the old one"))
	replaced := b.put(t, key(t, "a"), []byte("new"))
	b.holds(t, key(t, "a"), []byte("new"))
	if old.ETag == replaced.ETag {
		t.Fatal("the ETag did not change")
	}
}

// whole reads while it writes, and accepts no mixture.
func whole(t *testing.T, b bench, name string) {
	one, two := bytes.Repeat([]byte("1"), 1<<20), bytes.Repeat([]byte("2"), 1<<20)
	b.put(t, name, one)
	var writer sync.WaitGroup
	writer.Go(func() {
		for _, data := range [][]byte{two, one, two, one} {
			_, _ = b.Put(b.ctx, name, bytes.NewReader(data), int64(len(data)), "")
		}
	})
	for range 10 {
		if got, _ := b.read(t, name, s3.GetOptions{}); !bytes.Equal(got, one) && !bytes.Equal(got, two) {
			t.Error("a mixture of two objects was read")
		}
	}
	writer.Wait()
}

func ranges(t *testing.T, b bench) {
	data := noise(1000)
	b.put(t, key(t, "a"), data)
	for _, r := range []struct{ offset, length, end int64 }{
		{0, 0, 1000}, {0, 1, 1}, {10, 20, 30}, {990, 0, 1000}, {990, 50, 1000}, {0, 1000, 1000}, {999, 1, 1000},
	} {
		got, object := b.read(t, key(t, "a"), s3.GetOptions{Offset: r.offset, Length: r.length})
		if !bytes.Equal(got, data[r.offset:r.end]) {
			t.Errorf("offset %d length %d: %d other bytes", r.offset, r.length, len(got))
		}
		wantEqual(t, "size", object.Size, 1000)
	}
}

// oddKeys are keys that clients and servers have mangled.
func oddKeys(t *testing.T, b bench) {
	want := map[string]bool{}
	for i, name := range []string{
		"a b%41", "plus+sign", "ümläut", "e\u0301", "日本", "q?r#s", "amp&semi;", "quote\"'", "per%cent", "co,lon:", "tilde~", "(paren)", "$dollar@",
	} {
		name = fmt.Sprintf("odd/%02d/%s", i, name)
		want[name] = true
		b.put(t, name, []byte(name))
		b.holds(t, name, []byte(name))
	}
	for object, err := range b.List(b.ctx, "odd/", "") {
		if err != nil {
			t.Fatal(err)
		}
		if !want[object.Key] {
			t.Errorf("listed %q, which was not put", object.Key)
		}
		delete(want, object.Key)
	}
	for name := range want {
		t.Errorf("%q is not listed", name)
	}
}

func deletesMany(t *testing.T, b bench) {
	var keys []string
	for i := range 1100 {
		keys = append(keys, fmt.Sprintf("%s%04d", key(t, "many"), i))
	}
	for i := 0; i < len(keys); i += 50 {
		b.put(t, keys[i], []byte("x"))
	}
	if err := b.Delete(b.ctx, keys...); err != nil {
		t.Fatal(err)
	}
	for object, err := range b.List(b.ctx, key(t, "many"), "") {
		t.Fatalf("%q is left (%v)", object.Key, err)
	}
}
