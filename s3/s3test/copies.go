package s3test

import (
	"hasura-storage/s3"
)

var copies = map[string]promise{
	"a copy has the bytes and none of the metadata": func(b bench) {
		data := noise(50_000)
		b.put(b.key("from"), data)
		made, err := b.Copy(b.Context(), b.key("from"), b.key("to"), s3.CopyOptions{ContentType: "image/png"})
		if err != nil {
			b.Fatal(err)
		}
		b.holds(b.key("to"), data)
		stat, err := b.Stat(b.Context(), b.key("to"))
		if err != nil {
			b.Fatal(err)
		}
		wantEqual(b, "type", stat.ContentType, "image/png")
		wantEqual(b, "size", made.Size, stat.Size)
		wantEqual(b, "ETag", made.ETag, stat.ETag)
	},
	"a copy with IfMatch and Size takes that object only": func(b bench) {
		old := b.put(b.key("from"), []byte("old"))
		terms := s3.CopyOptions{IfMatch: old.ETag, Size: old.Size}
		if _, err := b.Copy(b.Context(), b.key("from"), b.key("to"), terms); err != nil {
			b.Fatal(err)
		}
		b.put(b.key("from"), []byte("new"))
		_, err := b.Copy(b.Context(), b.key("from"), b.key("never"), terms)
		b.wantErr(err, s3.ErrPreconditionFailed)
		_, err = b.Copy(b.Context(), b.key("from"), b.key("never"), s3.CopyOptions{IfMatch: old.ETag})
		b.wantErr(err, s3.ErrPreconditionFailed)
		b.absent(b.key("never"))
	},
	"a copy of nothing is not found": func(b bench) {
		_, err := b.Copy(b.Context(), b.key("none"), b.key("to"), s3.CopyOptions{})
		b.wantErr(err, s3.ErrNotFound)
		_, err = b.Copy(b.Context(), b.key("none"), b.key("to"), s3.CopyOptions{IfMatch: `"0"`, Size: 1})
		b.wantErr(err, s3.ErrNotFound)
	},
	"an empty object can be copied": func(b bench) {
		b.put(b.key("from"), nil)
		if _, err := b.Copy(b.Context(), b.key("from"), b.key("to"), s3.CopyOptions{}); err != nil {
			b.Fatal(err)
		}
		b.holds(b.key("to"), nil)
	},
	"keys with odd letters can be copied": func(b bench) {
		b.put("copied/a b%41+ü?#", []byte("odd"))
		if _, err := b.Copy(b.Context(), "copied/a b%41+ü?#", "copied/to &ß", s3.CopyOptions{}); err != nil {
			b.Fatal(err)
		}
		b.holds("copied/to &ß", []byte("odd"))
	},
	"a copy onto itself changes the type": func(b bench) {
		b.put(b.key("a"), []byte("same"))
		if _, err := b.Copy(b.Context(), b.key("a"), b.key("a"), s3.CopyOptions{ContentType: "image/gif"}); err != nil {
			b.Fatal(err)
		}
		_, object := b.read(b.key("a"), s3.GetOptions{})
		wantEqual(b, "type", object.ContentType, "image/gif")
	},
}
