package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
)

const (
	manySessions = 10_000
	galleryFiles = 50
	largeWorkers = 8
	photoFolder  = "actions/images/testdata"
)

// floorKind is what a case is held against.
type floorKind int

const (
	noFloor floorKind = iota
	memoryFloorKind
	copyFloorKind
)

// benchCase is one thing that clients do, again and again.
type benchCase struct {
	name     string
	requests [][]byte
	once     bool
	workers  int
	burst    int
	floor    floorKind
	most     float64       // times the floor's processor time, the aim; 0 is none
	delay    time.Duration // of Hasura's answers
	alone    bool          // not measured at a fixed rate
	question []byte        // what Hasura is asked for one request
}

// files are what the cases serve.
type files struct {
	small, medium, large, photo3, photo12 string
	gallery                               []string
}

// target is a server and how it is asked.
type target struct {
	base    string
	bucket  string
	headers http.Header
}

func (t target) host() string {
	u, _ := url.Parse(t.base) // was checked
	return u.Host
}

func (t target) path(id, query string) string {
	u, _ := url.Parse(t.base)
	return u.Path + "/files/" + id + query
}

func (t target) get(id, query string) []byte { return get(t.host(), t.path(id, query), t.headers) }

// uploadAll stores what the cases need.
func (t target) uploadAll(set settings) (f files, err error) {
	put := func(name, contentType string, content []byte) string {
		if err != nil {
			return ""
		}
		var id string
		id, err = upload(t.base, t.bucket, name, contentType, t.headers, content)
		return id
	}
	photo := func(name string) []byte {
		content, e := os.ReadFile(filepath.Join(photoFolder, name))
		if err == nil {
			err = e
		}
		return content
	}
	f.small = put("small.bin", "application/octet-stream", random(10<<10))
	f.medium = put("medium.bin", "application/octet-stream", random(1<<20))
	if set.wants("large") {
		f.large = put("large.bin", "application/octet-stream", random(50<<20))
	}
	f.photo3 = put("photo_3mp.jpg", "image/jpeg", photo("photo_3mp.jpg"))
	f.photo12 = put("photo_12mp.jpg", "image/jpeg", photo("photo_12mp.jpg"))
	for i := range galleryFiles {
		if set.wants("gallery") {
			f.gallery = append(f.gallery, put(fmt.Sprintf("photo_%d.jpg", i), "image/jpeg", photo("photo_03mp.jpg")))
		}
	}
	return f, err
}

func random(n int) []byte {
	content := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	return content
}

func (s settings) wants(name string) bool { return len(s.cases) == 0 || slices.Contains(s.cases, name) }

// downloads are the cases that any server with this REST interface can be asked.
func (t target) downloads(f files, connections int) []benchCase {
	single := func(name, id, query string, floor floorKind, most float64) benchCase {
		return benchCase{
			name: name, requests: [][]byte{t.get(id, query)}, workers: connections, floor: floor, most: most, question: t.question(id),
		}
	}
	large := single("large", f.large, "", copyFloorKind, 1)
	large.workers, large.alone = min(connections, largeWorkers), true
	return []benchCase{
		single("small", f.small, "", memoryFloorKind, 2),
		single("medium", f.medium, "", memoryFloorKind, 1.4),
		large,
		single("image", f.photo3, "", memoryFloorKind, 1.6),
		single("image_manipulated", f.photo3, "?w=600", memoryFloorKind, 2),
		t.unseen("image_unseen_3mp", f.photo3),
		t.unseen("image_unseen_12mp", f.photo12),
		t.thumbnails(f),
	}
}

// unseen asks for a picture that nobody has asked for before, each time: sizes
// around 600 pixels in all qualities of use.
func (t target) unseen(name, id string) benchCase {
	c := benchCase{name: name, once: true, workers: 2, alone: true}
	for width := 590; width < 610; width++ {
		for quality := 70; quality < 95; quality++ {
			c.requests = append(c.requests, t.get(id, fmt.Sprintf("?w=%d&q=%d", width, quality)))
		}
	}
	rand.Shuffle(len(c.requests), func(i, j int) { c.requests[i], c.requests[j] = c.requests[j], c.requests[i] })
	return c
}

// thumbnails is one page with a picture of each of many files, asked for at once.
func (t target) thumbnails(f files) benchCase {
	c := benchCase{name: "gallery", workers: 1, burst: galleryFiles, alone: true, floor: memoryFloorKind}
	for _, id := range f.gallery {
		c.requests = append(c.requests, t.get(id, "?w=100&h=100"))
	}
	return c
}

// question is what the service asks Hasura about a file, as its caller.
func (t target) question(id string) []byte {
	body := `{"query":"query VisibleFiles ($ids: [uuid!]!) {files(where: {id: {_in: $ids}}) {id}}","variables":{"ids":["` + id +
		`"]},"operationName":"VisibleFiles"}`
	return post(t.host(), "/v1/graphql", t.headers, []byte(body))
}

// sessions are small downloads, each by another one of n users: nothing can be shared.
func (t target) sessions(f files, connections, n int) benchCase {
	c := benchCase{name: "sessions", workers: connections, floor: memoryFloorKind, most: 6}
	for range n {
		other := t
		other.headers = session(uuid.NewString())
		c.requests = append(c.requests, other.get(f.small, ""))
	}
	return c
}

// slowHasura is the small case behind a Hasura that takes its time.
func (t target) slowHasura(f files, connections int) benchCase {
	return benchCase{
		name: "slow_hasura", requests: [][]byte{t.get(f.small, "")}, workers: connections,
		floor: memoryFloorKind, delay: 5 * time.Millisecond,
	}
}

// smallest tells the bytes of an answer, and that it is one.
func (c benchCase) size(ctx context.Context, addr string) (int64, error) {
	w := &wire{addr: addr}
	defer w.close()
	answer, err := w.ask(c.requests[0])
	if err == nil && answer.status != http.StatusOK {
		err = fmt.Errorf("%s: status %d", c.name, answer.status)
	}
	if err == nil {
		err = ctx.Err()
	}
	return answer.bytes, err
}
