package s3test

import (
	"testing"

	"hasura-storage/s3"
)

var copies = map[string]promise{
	"a copy has the bytes and none of the metadata": func(t *testing.T, b bench) {
		data := noise(50_000)
		b.put(t, key(t, "from"), data)
		made, err := b.Copy(b.ctx, key(t, "from"), key(t, "to"), s3.CopyOptions{ContentType: "image/png"})
		if err != nil {
			t.Fatal(err)
		}
		b.holds(t, key(t, "to"), data)
		stat, err := b.Stat(b.ctx, key(t, "to"))
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "type", stat.ContentType, "image/png")
		wantEqual(t, "size", made.Size, stat.Size)
		wantEqual(t, "ETag", made.ETag, stat.ETag)
	},
	"a copy with IfMatch and Size takes that object only": func(t *testing.T, b bench) {
		old := b.put(t, key(t, "from"), []byte("old"))
		terms := s3.CopyOptions{IfMatch: old.ETag, Size: old.Size}
		if _, err := b.Copy(b.ctx, key(t, "from"), key(t, "to"), terms); err != nil {
			t.Fatal(err)
		}
		b.put(t, key(t, "from"), []byte("new"))
		_, err := b.Copy(b.ctx, key(t, "from"), key(t, "never"), terms)
		wantErr(t, err, s3.ErrPreconditionFailed)
		_, err = b.Copy(b.ctx, key(t, "from"), key(t, "never"), s3.CopyOptions{IfMatch: old.ETag})
		wantErr(t, err, s3.ErrPreconditionFailed)
		b.absent(t, key(t, "never"))
	},
	"a copy of nothing is not found": func(t *testing.T, b bench) {
		_, err := b.Copy(b.ctx, key(t, "none"), key(t, "to"), s3.CopyOptions{})
		wantErr(t, err, s3.ErrNotFound)
		_, err = b.Copy(b.ctx, key(t, "none"), key(t, "to"), s3.CopyOptions{IfMatch: `"0"`, Size: 1})
		wantErr(t, err, s3.ErrNotFound)
	},
	"an empty object can be copied": func(t *testing.T, b bench) {
		b.put(t, key(t, "from"), nil)
		if _, err := b.Copy(b.ctx, key(t, "from"), key(t, "to"), s3.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		b.holds(t, key(t, "to"), nil)
	},
	"keys with odd letters can be copied": func(t *testing.T, b bench) {
		b.put(t, "copied/a b%41+ü?#", []byte("odd"))
		if _, err := b.Copy(b.ctx, "copied/a b%41+ü?#", "copied/to &ß", s3.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		b.holds(t, "copied/to &ß", []byte("odd"))
	},
	"a copy onto itself changes the type": func(t *testing.T, b bench) {
		b.put(t, key(t, "a"), []byte("same"))
		if _, err := b.Copy(b.ctx, key(t, "a"), key(t, "a"), s3.CopyOptions{ContentType: "image/gif"}); err != nil {
			t.Fatal(err)
		}
		_, object := b.read(t, key(t, "a"), s3.GetOptions{})
		wantEqual(t, "type", object.ContentType, "image/gif")
	},
}
