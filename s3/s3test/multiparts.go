package s3test

import (
	"bytes"
	"slices"
	"time"

	"hasura-storage/s3"
)

var multiparts = map[string]promise{
	"parts become an object": func(b bench) {
		data := noise(int(s3.MinPart) + 1000)
		id := b.begin(b.key("a"))
		parts := []s3.Part{b.part(b.key("a"), id, 1, data[:s3.MinPart]), b.part(b.key("a"), id, 2, data[s3.MinPart:])}
		made, err := b.CompleteMultipart(b.Context(), b.key("a"), id, parts)
		if err != nil {
			b.Fatal(err)
		}
		b.holds(b.key("a"), data)
		stat, err := b.Stat(b.Context(), b.key("a"))
		if err != nil {
			b.Fatal(err)
		}
		wantEqual(b, "ETag", stat.ETag, made.ETag)
		wantEqual(b, "type", stat.ContentType, "video/mp4")
	},
	"an upload can be completed from the list of its parts": func(b bench) {
		id := b.begin(b.key("a"))
		b.part(b.key("a"), id, 1, []byte("first try"))
		time.Sleep(1100 * time.Millisecond) // SeaweedFS tells the later part by the second
		b.part(b.key("a"), id, 1, []byte("second"))
		parts, err := b.ListParts(b.Context(), b.key("a"), id)
		if err != nil {
			b.Fatal(err)
		}
		wantEqual(b, "parts", len(parts), 1)
		wantEqual(b, "size", parts[0].Size, 6)
		if _, err := b.CompleteMultipart(b.Context(), b.key("a"), id, parts); err != nil {
			b.Fatal(err)
		}
		b.holds(b.key("a"), []byte("second"))
	},
	"more than a thousand parts are listed": manyParts,
	"an upload without parts lists none": func(b bench) {
		parts, err := b.ListParts(b.Context(), b.key("a"), b.begin(b.key("a")))
		if err != nil || len(parts) != 0 {
			b.Fatal(parts, err)
		}
	},
	"wrong parts are invalid and change nothing": func(b bench) {
		id := b.begin(b.key("a"))
		part := b.part(b.key("a"), id, 1, []byte("x"))
		wrong := part
		wrong.ETag = `"00000000000000000000000000000000"`
		for _, parts := range [][]s3.Part{{wrong}, {part, {Number: 2, ETag: part.ETag}}, {}} {
			_, err := b.CompleteMultipart(b.Context(), b.key("a"), id, parts)
			b.wantErr(err, s3.ErrInvalid)
		}
		b.absent(b.key("a"))
		if _, err := b.CompleteMultipart(b.Context(), b.key("a"), id, []s3.Part{part}); err != nil {
			b.Fatal(err)
		}
	},
	"a small part that is not the last is invalid": func(b bench) {
		id := b.begin(b.key("a"))
		parts := []s3.Part{b.part(b.key("a"), id, 1, []byte("x")), b.part(b.key("a"), id, 2, []byte("y"))}
		_, err := b.CompleteMultipart(b.Context(), b.key("a"), id, parts)
		b.wantErr(err, s3.ErrInvalid)
	},
	"a part of the wrong length is not kept": func(b bench) {
		id := b.begin(b.key("a"))
		for _, length := range []int{99, 101} {
			_, err := b.PutPart(b.Context(), b.key("a"), id, 1, streamed(noise(length)), 100)
			b.wantErr(err, s3.ErrInvalid)
		}
		parts, err := b.ListParts(b.Context(), b.key("a"), id)
		if err != nil || slices.ContainsFunc(parts, func(p s3.Part) bool { return p.Size == 100 }) {
			b.Fatal(parts, err) // an empty one, as SeaweedFS keeps, is no harm
		}
	},
	"an aborted upload is gone, and aborting it again is fine": func(b bench) {
		id := b.begin(b.key("a"))
		part := b.part(b.key("a"), id, 1, []byte("x"))
		for range 2 {
			if err := b.AbortMultipart(b.Context(), b.key("a"), id); err != nil {
				b.Fatal(err)
			}
		}
		_, err := b.ListParts(b.Context(), b.key("a"), id)
		b.wantErr(err, s3.ErrNotFound)
		_, err = b.PutPart(b.Context(), b.key("a"), id, 1, bytes.NewReader([]byte("x")), 1)
		b.wantErr(err, s3.ErrNotFound)
		_, err = b.CompleteMultipart(b.Context(), b.key("a"), id, []s3.Part{part})
		b.wantErr(err, s3.ErrNotFound)
	},
	"the uploads at one key are listed and aborted, its neighbours' are not": func(b bench) {
		mine, neighbour := b.key("a"), b.key("ab")
		ids := map[string]bool{b.begin(mine): true, b.begin(mine): true}
		other := b.begin(neighbour)
		for upload, err := range b.ListMultiparts(b.Context(), mine) {
			if err != nil {
				b.Fatal(err)
			}
			if upload.Key == mine {
				delete(ids, upload.ID)
			}
		}
		wantEqual(b, "uploads that are not listed", len(ids), 0)
		if err := b.AbortMultiparts(b.Context(), mine); err != nil {
			b.Fatal(err)
		}
		for upload, err := range b.ListMultiparts(b.Context(), mine) {
			if err != nil || upload.Key == mine {
				b.Fatalf("%s is left (%v)", upload.ID, err)
			}
		}
		if _, err := b.ListParts(b.Context(), neighbour, other); err != nil {
			b.Fatal(err)
		}
	},
}

func manyParts(b bench) {
	id := b.begin(b.key("a"))
	for number := 1; number <= 1003; number++ {
		b.part(b.key("a"), id, number, []byte{'x'})
	}
	parts, err := b.ListParts(b.Context(), b.key("a"), id)
	if err != nil {
		b.Fatal(err)
	}
	wantEqual(b, "parts", len(parts), 1003)
	for i, p := range parts {
		wantEqual(b, "number", p.Number, i+1)
	}
}

func (b bench) begin(key string) string {
	b.Helper()
	id, err := b.CreateMultipart(b.Context(), key, "video/mp4")
	if err != nil {
		b.Fatal(err)
	}
	return id
}

func (b bench) part(key, id string, number int, data []byte) s3.Part {
	b.Helper()
	part, err := b.PutPart(b.Context(), key, id, number, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	return part
}
