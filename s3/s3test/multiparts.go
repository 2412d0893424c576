package s3test

import (
	"bytes"
	"testing"

	"hasura-storage/s3"
)

var multiparts = map[string]promise{
	"parts become an object": func(t *testing.T, b bench) {
		data := noise(int(s3.MinPart) + 1000)
		id := b.begin(t, key(t, "a"))
		parts := []s3.Part{b.part(t, key(t, "a"), id, 1, data[:s3.MinPart]), b.part(t, key(t, "a"), id, 2, data[s3.MinPart:])}
		made, err := b.CompleteMultipart(b.ctx, key(t, "a"), id, parts)
		if err != nil {
			t.Fatal(err)
		}
		b.holds(t, key(t, "a"), data)
		stat, err := b.Stat(b.ctx, key(t, "a"))
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "ETag", stat.ETag, made.ETag)
		wantEqual(t, "type", stat.ContentType, "video/mp4")
	},
	"an upload can be completed from the list of its parts": func(t *testing.T, b bench) {
		id := b.begin(t, key(t, "a"))
		b.part(t, key(t, "a"), id, 1, []byte("first try"))
		b.part(t, key(t, "a"), id, 1, []byte("second"))
		parts, err := b.ListParts(b.ctx, key(t, "a"), id)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "parts", len(parts), 1)
		wantEqual(t, "size", parts[0].Size, 6)
		if _, err := b.CompleteMultipart(b.ctx, key(t, "a"), id, parts); err != nil {
			t.Fatal(err)
		}
		b.holds(t, key(t, "a"), []byte("second"))
	},
	"more than a thousand parts are listed": manyParts,
	"an upload without parts lists none": func(t *testing.T, b bench) {
		parts, err := b.ListParts(b.ctx, key(t, "a"), b.begin(t, key(t, "a")))
		if err != nil || len(parts) != 0 {
			t.Fatal(parts, err)
		}
	},
	"wrong parts are invalid and change nothing": func(t *testing.T, b bench) {
		id := b.begin(t, key(t, "a"))
		part := b.part(t, key(t, "a"), id, 1, []byte("x"))
		wrong := part
		wrong.ETag = `"00000000000000000000000000000000"`
		for _, parts := range [][]s3.Part{{wrong}, {part, {Number: 2, ETag: part.ETag}}, {}} {
			_, err := b.CompleteMultipart(b.ctx, key(t, "a"), id, parts)
			wantErr(t, err, s3.ErrInvalid)
		}
		b.absent(t, key(t, "a"))
		if _, err := b.CompleteMultipart(b.ctx, key(t, "a"), id, []s3.Part{part}); err != nil {
			t.Fatal(err)
		}
	},
	"a small part that is not the last is invalid": func(t *testing.T, b bench) {
		id := b.begin(t, key(t, "a"))
		parts := []s3.Part{b.part(t, key(t, "a"), id, 1, []byte("x")), b.part(t, key(t, "a"), id, 2, []byte("y"))}
		_, err := b.CompleteMultipart(b.ctx, key(t, "a"), id, parts)
		wantErr(t, err, s3.ErrInvalid)
	},
	"a part of the wrong length is not kept": func(t *testing.T, b bench) {
		id := b.begin(t, key(t, "a"))
		for _, length := range []int{99, 101} {
			_, err := b.PutPart(b.ctx, key(t, "a"), id, 1, streamed(noise(length)), 100)
			wantErr(t, err, s3.ErrInvalid)
		}
		parts, err := b.ListParts(b.ctx, key(t, "a"), id)
		if err != nil || len(parts) != 0 {
			t.Fatal(parts, err)
		}
	},
	"an aborted upload is gone, and aborting it again is fine": func(t *testing.T, b bench) {
		id := b.begin(t, key(t, "a"))
		part := b.part(t, key(t, "a"), id, 1, []byte("x"))
		for range 2 {
			if err := b.AbortMultipart(b.ctx, key(t, "a"), id); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.ListParts(b.ctx, key(t, "a"), id)
		wantErr(t, err, s3.ErrNotFound)
		_, err = b.PutPart(b.ctx, key(t, "a"), id, 1, bytes.NewReader([]byte("x")), 1)
		wantErr(t, err, s3.ErrNotFound)
		_, err = b.CompleteMultipart(b.ctx, key(t, "a"), id, []s3.Part{part})
		wantErr(t, err, s3.ErrNotFound)
	},
	"the uploads at one key are listed and aborted, its neighbours' are not": func(t *testing.T, b bench) {
		mine, neighbour := key(t, "a"), key(t, "ab")
		ids := map[string]bool{b.begin(t, mine): true, b.begin(t, mine): true}
		other := b.begin(t, neighbour)
		for upload, err := range b.ListMultiparts(b.ctx, mine) {
			if err != nil {
				t.Fatal(err)
			}
			if upload.Key == mine {
				delete(ids, upload.ID)
			}
		}
		wantEqual(t, "uploads that are not listed", len(ids), 0)
		if err := b.AbortMultiparts(b.ctx, mine); err != nil {
			t.Fatal(err)
		}
		for upload, err := range b.ListMultiparts(b.ctx, mine) {
			if err != nil || upload.Key == mine {
				t.Fatalf("%s is left (%v)", upload.ID, err)
			}
		}
		if _, err := b.ListParts(b.ctx, neighbour, other); err != nil {
			t.Fatal(err)
		}
	},
}

func manyParts(t *testing.T, b bench) {
	id := b.begin(t, key(t, "a"))
	for number := 1; number <= 1003; number++ {
		b.part(t, key(t, "a"), id, number, []byte{'x'})
	}
	parts, err := b.ListParts(b.ctx, key(t, "a"), id)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "parts", len(parts), 1003)
	for i, p := range parts {
		wantEqual(t, "number", p.Number, i+1)
	}
}

func (b bench) begin(t *testing.T, key string) string {
	t.Helper()
	id, err := b.CreateMultipart(b.ctx, key, "video/mp4")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (b bench) part(t *testing.T, key, id string, number int, data []byte) s3.Part {
	t.Helper()
	part, err := b.PutPart(b.ctx, key, id, number, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return part
}
