package s3test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing/iotest"
	"time"

	"hasura-storage/s3"
)

var objects = map[string]promise{
	"what was put is got, with its size, type and quoted ETag": func(b bench) {
		data := noise(100_000)
		put := b.put(b.key("a"), data)
		got, object := b.read(put.Key, s3.GetOptions{})
		if !bytes.Equal(got, data) {
			b.Fatal("other bytes came back")
		}
		stat, err := b.Stat(b.Context(), put.Key)
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range []s3.Object{put, object, stat} {
			wantEqual(b, "size", o.Size, int64(len(data)))
			wantEqual(b, "type", o.ContentType, "text/plain")
			wantEqual(b, "ETag", o.ETag, put.ETag)
		}
		if len(put.ETag) < 3 || !strings.HasPrefix(put.ETag, `"`) || !strings.HasSuffix(put.ETag, `"`) {
			b.Fatalf("ETag %s has no quotes", put.ETag)
		}
		if age := time.Since(stat.LastModified).Abs(); age > time.Hour {
			b.Fatalf("modified %s ago", age)
		}
	},
	"an object may be empty": func(b bench) {
		b.put(b.key("a"), nil)
		b.holds(b.key("a"), nil)
	},
	"a body that cannot seek is stored as well": func(b bench) {
		data := noise(70_000)
		if _, err := b.Put(b.Context(), b.key("a"), streamed(data), int64(len(data)), ""); err != nil {
			b.Fatal(err)
		}
		b.holds(b.key("a"), data)
	},
	"a body is stored from where it stands": func(b bench) {
		body := bytes.NewReader([]byte("head and tail"))
		_, _ = body.Seek(9, io.SeekStart)
		if _, err := b.Put(b.Context(), b.key("a"), body, 4, ""); err != nil {
			b.Fatal(err)
		}
		b.holds(b.key("a"), []byte("tail"))
	},
	"a body that ends early stores nothing": func(b bench) { badLength(b, 99_999) },
	"a body that goes on stores nothing":    func(b bench) { badLength(b, 100_001) },
	"a body where none was announced stores nothing": func(b bench) {
		_, err := b.Put(b.Context(), b.key("a"), strings.NewReader("x"), 0, "")
		b.wantErr(err, s3.ErrInvalid)
		b.absent(b.key("a"))
	},
	"a put replaces what was there": replaces,
	"readers during a replacement see the old or the new object": func(b bench) {
		whole(b, b.key("a"))
	},
	"what is missing is not found": func(b bench) {
		b.absent(b.key("none"))
		_, _, err := b.Get(b.Context(), b.key("none"), s3.GetOptions{})
		b.wantErr(err, s3.ErrNotFound)
	},
	"a part of an object can be read": ranges,
	"a range beyond the end is invalid": func(b bench) {
		b.put(b.key("a"), noise(10))
		_, _, err := b.Get(b.Context(), b.key("a"), s3.GetOptions{Offset: 10})
		b.wantErr(err, s3.ErrInvalid)
	},
	"IfMatch reads one object only, with or without quotes": func(b bench) {
		old := b.put(b.key("a"), []byte("old"))
		for _, etag := range []string{old.ETag, strings.Trim(old.ETag, `"`)} {
			b.read(b.key("a"), s3.GetOptions{IfMatch: etag})
		}
		b.put(b.key("a"), []byte("new"))
		_, _, err := b.Get(b.Context(), b.key("a"), s3.GetOptions{IfMatch: old.ETag})
		b.wantErr(err, s3.ErrPreconditionFailed)
	},
	"an error of the body's own is told and stores nothing": func(b bench) {
		broken := errors.New("the client is gone")
		_, err := b.Put(b.Context(), b.key("a"), io.MultiReader(strings.NewReader("so far"), iotest.ErrReader(broken)), 100, "")
		b.wantErr(err, broken)
		b.absent(b.key("a"))
	},
	"keys are opaque": oddKeys,
	"a key must have 1 to 1024 bytes": func(b bench) {
		for _, bad := range []string{"", strings.Repeat("k", 1025)} {
			_, err := b.Put(b.Context(), bad, strings.NewReader("x"), 1, "")
			b.wantErr(err, s3.ErrInvalid)
			_, err = b.Stat(b.Context(), bad)
			b.wantErr(err, s3.ErrInvalid)
		}
	},
	"a deleted object is gone, and deleting it again is fine": func(b bench) {
		b.put(b.key("a"), noise(10))
		for range 2 {
			if err := b.Delete(b.Context(), b.key("a")); err != nil {
				b.Fatal(err)
			}
		}
		b.absent(b.key("a"))
	},
	"many keys are deleted at once, absent ones among them": deletesMany,
}

func badLength(b bench, length int) {
	for name, body := range map[string]io.Reader{"seeks": bytes.NewReader(noise(length)), "streams": streamed(noise(length))} {
		_, err := b.Put(b.Context(), b.key(name), body, 100_000, "")
		b.wantErr(err, s3.ErrInvalid)
		b.absent(b.key(name))
	}
	b.put(b.key("old"), []byte("old"))
	_, err := b.Put(b.Context(), b.key("old"), streamed(noise(length)), 100_000, "")
	b.wantErr(err, s3.ErrInvalid)
	b.holds(b.key("old"), []byte("old"))
}

func replaces(b bench) {
	old := b.put(b.key("a"), []byte("the old one"))
	replaced := b.put(b.key("a"), []byte("new"))
	b.holds(b.key("a"), []byte("new"))
	if old.ETag == replaced.ETag {
		b.Fatal("the ETag did not change")
	}
}

// whole reads while it writes, and accepts no mixture.
func whole(b bench, name string) {
	one, two := bytes.Repeat([]byte("1"), 1<<20), bytes.Repeat([]byte("2"), 1<<20)
	b.put(name, one)
	var writer sync.WaitGroup
	writer.Go(func() {
		for _, data := range [][]byte{two, one, two, one} {
			_, _ = b.Put(b.Context(), name, bytes.NewReader(data), int64(len(data)), "")
		}
	})
	for range 10 {
		if got, _ := b.read(name, s3.GetOptions{}); !bytes.Equal(got, one) && !bytes.Equal(got, two) {
			b.Error("a mixture of two objects was read")
		}
	}
	writer.Wait()
}

func ranges(b bench) {
	data := noise(1000)
	b.put(b.key("a"), data)
	for _, r := range []struct{ offset, length, end int64 }{
		{0, 0, 1000}, {0, 1, 1}, {10, 20, 30}, {990, 0, 1000}, {990, 50, 1000}, {0, 1000, 1000}, {999, 1, 1000},
	} {
		got, object := b.read(b.key("a"), s3.GetOptions{Offset: r.offset, Length: r.length})
		if !bytes.Equal(got, data[r.offset:r.end]) {
			b.Errorf("offset %d length %d: %d other bytes", r.offset, r.length, len(got))
		}
		wantEqual(b, "size", object.Size, 1000)
	}
}

// oddKeys are keys that clients and servers have mangled.
func oddKeys(b bench) {
	want := map[string]bool{}
	for i, name := range []string{
		"a b%41", "plus+sign", "ümläut", "e\u0301", "\u65e5\u672c", "q?r#s", "amp&semi;", "quote\"'", "per%cent", "co,lon:", "tilde~", "(paren)", "$dollar@",
	} {
		name = fmt.Sprintf("odd/%02d/%s", i, name)
		want[name] = true
		b.put(name, []byte(name))
		b.holds(name, []byte(name))
	}
	for object, err := range b.List(b.Context(), "odd/", "") {
		if err != nil {
			b.Fatal(err)
		}
		if !want[object.Key] {
			b.Errorf("listed %q, which was not put", object.Key)
		}
		delete(want, object.Key)
	}
	for name := range want {
		b.Errorf("%q is not listed", name)
	}
}

func deletesMany(b bench) {
	keys := make([]string, 0, 1100)
	for i := range cap(keys) {
		keys = append(keys, fmt.Sprintf("%s%04d", b.key("many"), i))
	}
	for i := 0; i < len(keys); i += 50 {
		b.put(keys[i], []byte("x"))
	}
	if err := b.Delete(b.Context(), keys...); err != nil {
		b.Fatal(err)
	}
	for object, err := range b.List(b.Context(), b.key("many"), "") {
		b.Fatalf("%q is left (%v)", object.Key, err)
	}
}
