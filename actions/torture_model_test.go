package actions_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"slices"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/clamd/clamdtest"
	"hasura-storage/s3"
)

// modelFile is what the client knows of a file.
type modelFile struct {
	id       string
	told     []byte   // the content that was last reported as stored
	possible [][]byte // contents that may have been stored without our being told
	deleting bool     // a delete was sent
	gone     bool     // and confirmed
}

// modelTicket is what the client knows of an upload.
type modelTicket struct {
	actions.Upload
	file    *modelFile
	content []byte    // as it will be stored; nil has to be refused as a virus
	former  [][]byte  // what the client sent before it thought better of it
	until   time.Time // the URL is signed; the store has the real clock, not the program's
	sent    bool
	earlier bool // may have been completed without the client hearing, before others were
	ended   bool // completed or aborted, as far as the client was told
}

// mayStore lists what the upload may make of its file.
func (t *modelTicket) mayStore() [][]byte { return append(slices.Clone(t.former), t.content) }

func (f *modelFile) accepts(content []byte) bool {
	return f.told != nil && bytes.Equal(content, f.told) ||
		slices.ContainsFunc(f.possible, func(c []byte) bool { return c != nil && bytes.Equal(content, c) })
}

// stored notes that content was reported as the file's. by is its ticket, nil for REST.
func (p *program) stored(f *modelFile, content []byte, by *modelTicket) {
	if content == nil {
		p.t.Errorf("a virus was stored in %s", f.id)
	}
	former := slices.Clone(f.possible)
	if f.told != nil {
		former = append(former, f.told)
	}
	f.told, f.possible = content, nil
	f.gone = false // an insert that arrived late brought the row back before this
	if by != nil {
		f.possible = append(f.possible, by.former...) // a sweep was faster than the client
	}
	if by != nil && by.earlier { // then what was told since, or has failed without a clear no, came after it
		f.possible = append(f.possible, former...)
	}
	for _, other := range p.tickets {
		if other != by && other.file == f && other.sent && !other.ended {
			f.possible = append(f.possible, other.mayStore()...)
		}
	}
}

// content makes what will be stored, of a length that all versions share, so that
// an old URL would fit a new version; now and then, where files are scanned, nil:
// a virus, which must not be stored.
func (p *program) content() []byte {
	if p.scans && p.random.IntN(6) == 0 {
		return nil
	}
	if !p.strips {
		return fmt.Appendf(nil, "%016x", p.random.Uint64())
	}
	picture := image.NewGray(image.Rect(0, 0, 4, 4))
	for i := range picture.Pix {
		picture.Pix[i] = byte(p.random.Uint32())
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression}
	if err := encoder.Encode(&b, picture); err != nil {
		p.t.Fatal(err)
	}
	return b.Bytes()
}

// bytesOf is what a client sends for a content: pictures have metadata then.
func (p *program) bytesOf(content []byte) []byte {
	switch {
	case content == nil:
		return clamdtest.Eicar()
	case !p.strips:
		return content
	}
	const header = 8 + 25 // signature and IHDR
	text := "tEXtComment\x00taken at " + place
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(text)-4))
	chunk = append(chunk, text...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE([]byte(text)))
	return slices.Concat(content[:header], chunk, content[header:])
}

// settle ends all faults and lets sweeps finish everything, as time passes until
// no URL can write any more.
func (p *program) settle() {
	p.mu.Lock()
	p.calm = true
	for _, i := range p.instances {
		i.left = -1
	}
	p.mu.Unlock()
	p.bury()
	p.letArrive()
	for _, t := range p.tickets {
		p.mayBeStored(t)
	}
	for _, wait := range []time.Duration{2 * time.Minute, 2 * time.Minute, time.Hour, 4 * time.Hour, 2 * time.Minute, 8 * 24 * time.Hour, 2 * time.Hour, 2 * time.Minute} {
		p.clock.Advance(wait)
		for _, i := range p.instances {
			if _, err := i.service.Sweep(p.t.Context()); err != nil {
				p.t.Errorf("sweep without faults: %v", err)
			}
		}
	}
}

// letArrive waits for requests that are to come once more.
func (p *program) letArrive() {
	for _, proxy := range p.proxies {
		proxy.Settle()
	}
}

// check compares what is there with what clients were told.
func (p *program) check() {
	for _, i := range p.instances {
		ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
		_ = i.service.Close(ctx)
		cancel()
	}
	p.holds()
	for _, f := range p.files {
		p.checkFile(f)
	}
	data := p.graphql(nil, `{ storage_uploads { id state kind } storage_garbage { id object_key } buckets { id usedBytes } files { id size isUploaded objectKey } }`, nil)
	if left := rows(data["storage_uploads"]); len(left) > 0 {
		p.t.Errorf("uploads are left: %v", left)
	}
	if left := rows(data["storage_garbage"]); len(left) > 0 {
		p.t.Errorf("garbage is left: %v", left)
	}
	used := 0.0
	for _, f := range rows(data["files"]) {
		if f["isUploaded"] != true {
			p.t.Errorf("a row that was never uploaded is left: %v", f)
			continue
		}
		used += f["size"].(float64)
	}
	for _, b := range rows(data["buckets"]) {
		if b["id"] == "default" && b["usedBytes"] != used {
			p.t.Errorf("used_bytes is %v, the files have %v", b["usedBytes"], used)
		}
	}
	p.checkParts()
}

func (p *program) checkFile(f *modelFile) {
	row := p.fileRow(f.id)
	switch {
	case row == nil && f.told != nil && !f.deleting:
		p.t.Errorf("I3: %s was stored and is gone", f.id)
	case row != nil && f.gone && f.told != nil && len(f.possible) == 0:
		p.t.Errorf("%s was deleted and is there", f.id)
	case row == nil:
		return
	}
	key, _ := row["objectKey"].(string)
	body, _, err := p.objects.Get(p.t.Context(), key, s3.GetOptions{})
	if err != nil {
		return // holds has reported it
	}
	defer body.Close()
	var content bytes.Buffer
	_, _ = content.ReadFrom(body)
	if !f.accepts(content.Bytes()) {
		p.t.Errorf("I3, I5: %s holds %q, told %q, possible %q", f.id, content.String(), f.told, f.possible)
	}
}

// checkParts looks for uploads in parts that nobody ended.
func (p *program) checkParts() {
	for m, err := range p.objects.ListMultiparts(p.t.Context(), "files/") {
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Errorf("I2: parts are left at %s", m.Key)
	}
}
