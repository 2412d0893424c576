package actions_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// The torture test runs random programs of what clients, Hasura, the clock and
// bad networks do, against several instances of the service, and checks the
// invariants after each. TORTURE_STEPS says how many steps, TORTURE_SEED which
// programs: a failure prints the seed of its program.

const programLength = 40 // steps

func TestTorture(t *testing.T) {
	steps, seed := setting(t, "TORTURE_STEPS", 400), uint64(setting(t, "TORTURE_SEED", 0))
	count := faultCount{}
	done := 0
	for ; done < steps; done += programLength {
		if seed == 0 || done > 0 {
			seed = rand.Uint64N(1<<53) + 1
		}
		if !t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { newProgram(t, seed, count).run() }) {
			t.Fatalf("violated after %d steps; TORTURE_SEED=%d TORTURE_STEPS=%d repeats it", done, seed, programLength)
		}
	}
	t.Logf("%d steps, 0 violations; faults: %v", done, count)
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// faultCount counts the faults that were brought about, by kind.
type faultCount map[string]int

// program is one run: a stack, instances that come and go, and a model of what
// clients were told.
type program struct {
	*stack
	random *rand.Rand
	seed   uint64

	mu    sync.Mutex
	count faultCount
	calm  bool // no more faults: the end is checked

	instances []*instance
	proxies   []*faults.Proxy // of all instances that ever were
	owner     actions.Session
	stranger  actions.Session
	files     []*modelFile
	tickets   []*modelTicket
	log       []string
}

// instance is one process of the service behind proxies of its own.
type instance struct {
	service *actions.Storage
	left    int // requests until it is killed; below zero it lives on
	dead    bool
}

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
	content []byte
	until   time.Time // the URL is signed; the store has the real clock, not the program's
	sent    bool
	earlier bool // may have been completed without the client hearing, before others were
	ended   bool // completed or aborted, as far as the client was told
}

func newProgram(t *testing.T, seed uint64, count faultCount) *program {
	p := &program{stack: start(t), seed: seed, random: rand.New(rand.NewPCG(seed, 1)), count: count, owner: user(), stranger: user()}
	for range 2 {
		p.instances = append(p.instances, p.spawn())
	}
	return p
}

// spawn starts an instance whose calls go through proxies that fail at random,
// the same for the same seed: by operation and how often it was called.
func (p *program) spawn() *instance {
	i := &instance{left: -1}
	o := p.options
	hasura := faults.New(p.t, p.admin)
	store := faults.New(p.t, p.store.URL)
	p.proxies = append(p.proxies, hasura, store)
	number := len(p.instances) + 1000*p.random.IntN(1000)
	hasura.Set(p.rule(i, number, 0.07))
	store.Set(p.rule(i, number+1, 0.03))
	client, err := graphql.New(graphql.Options{Endpoint: hasura.URL, AdminSecret: adminSecret, Timeout: 5 * time.Second})
	if err != nil {
		p.t.Fatal(err)
	}
	o.Hasura, o.Store = client, p.storeAt(store.URL)
	o.Log, o.CompletionWait = zap.NewNop(), 300*time.Millisecond
	if i.service, err = actions.New(o); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = i.service.Close(ctx)
	})
	return i
}

// storeAt opens the bucket behind a proxy; clients' URLs go past it.
func (p *program) storeAt(url string) *s3.Store {
	o := p.bucket
	o.Endpoint, o.PublicEndpoint = url, p.store.URL
	store, err := s3.New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return store
}

func (p *program) rule(i *instance, number int, share float64) faults.Rule {
	calls := map[string]int{}
	return func(r faults.Request) (faults.Fault, func()) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if i.dead {
			return faults.Drop, nil
		}
		what := r.Operation
		if what == "" {
			what = r.Method
		}
		calls[what]++
		roll := p.roll(number, what, calls[what])
		if i.left == 0 {
			i.dead = true
			p.count["kill"]++
			return []faults.Fault{faults.Drop, faults.Cut}[roll.IntN(2)], nil
		}
		if i.left > 0 {
			i.left--
		}
		if p.calm || roll.Float64() >= share {
			return faults.None, nil
		}
		kinds := faults.Kinds()
		f := kinds[roll.IntN(len(kinds))]
		p.count[f.String()]++
		return f, nil
	}
}

func (p *program) roll(number int, what string, nth int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, number, what, nth)
	return rand.New(rand.NewPCG(p.seed, h.Sum64()))
}

// step is one thing that a program may do, with its weight.
type step struct {
	weight int
	name   string
	do     func(*program)
}

var steps = []step{
	{16, "create", (*program).doCreate},
	{18, "send", (*program).doSend},
	{18, "complete", (*program).doComplete},
	{4, "complete twice at once", (*program).doCompleteTwice},
	{4, "abort", (*program).doAbort},
	{8, "replace", (*program).doReplace},
	{4, "copy", (*program).doCopy},
	{6, "delete", (*program).doDelete},
	{6, "event", (*program).doEvent},
	{8, "sweep", (*program).doSweep},
	{6, "wait", (*program).doWait},
	{5, "kill", (*program).doKill},
	{5, "read", (*program).doRead},
	{3, "picture", (*program).doPicture},
}

func (p *program) run() {
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	for range programLength {
		n := p.random.IntN(total)
		for _, s := range steps {
			if n -= s.weight; n < 0 {
				p.note("%s", s.name)
				s.do(p)
				break
			}
		}
		p.bury()
	}
	p.settle()
	p.check()
	if p.t.Failed() {
		p.t.Logf("program:\n%s", strings.Join(p.log, "\n"))
	}
}

func (p *program) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// bury replaces the instances that were killed.
func (p *program) bury() {
	for n, i := range p.instances {
		p.mu.Lock()
		dead := i.dead
		p.mu.Unlock()
		if dead {
			p.instances[n] = p.spawn()
		}
	}
}

func (p *program) any() *actions.Storage { return p.instances[p.random.IntN(len(p.instances))].service }

func pick[T any](p *program, from []T) (one T, ok bool) {
	if len(from) == 0 {
		return one, false
	}
	return from[p.random.IntN(len(from))], true
}

// content makes bytes of a length that all versions share, so that an old URL
// would fit a new version.
func (p *program) content() []byte {
	return fmt.Appendf(nil, "%016x", p.random.Uint64())
}

func (p *program) doCreate() {
	content := p.content()
	in := actions.CreateUpload{Name: "torture", Size: graphql.Bigint(len(content))}
	if p.random.IntN(3) == 0 {
		in.Method = "MULTIPART"
	}
	id := p.uuid()
	in.ID = &id
	f := &modelFile{id: id}
	for range 2 { // a client that hears nothing asks again
		ticket, err := p.any().CreateUpload(p.t.Context(), p.owner, in)
		if err != nil {
			p.note("  create: %v", err)
			continue
		}
		p.files = append(p.files, f)
		p.tickets = append(p.tickets, &modelTicket{Upload: ticket, file: f, content: content, until: p.clock.Now().Add(time.Hour)})
		return
	}
}

func (p *program) uuid() string {
	a, b := p.random.Uint64(), p.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), a>>52, b&0xfff, b>>16)
}

func (p *program) doSend() {
	t, ok := pick(p, p.tickets)
	if !ok || p.clock.Now().After(t.until) {
		return
	}
	content := t.content
	if t.ended { // I5: what an old URL brings must not be seen
		content = p.content()
	}
	url := t.URL
	if len(t.Parts) > 0 {
		url = &t.Parts[0].URL
	}
	if status := put(p.t, *url, t.Headers, content); status == http.StatusOK && !t.ended {
		t.sent = true
		p.mayBeStored(t) // a sweep may complete it at any time
	}
}

// noteEnd notes what an answer to complete tells the client.
func (p *program) noteEnd(t *modelTicket, err error) {
	p.note("  complete %s: %v", t.FileID, err)
	switch code(err) {
	case "":
		former := t.file.told
		t.ended = true
		t.file.told, t.file.possible = t.content, nil
		t.file.gone = false             // an insert that arrived late brought the row back before this
		if t.earlier && former != nil { // then what was told since came after it
			t.file.possible = append(t.file.possible, former)
		}
		for _, other := range p.tickets {
			if other != t && other.file == t.file && other.sent && !other.ended {
				t.file.possible = append(t.file.possible, other.content)
			}
		}
	case actions.UploadNotFound, actions.FileNotFound, actions.Conflict:
		t.ended = true
	default:
		t.earlier = true
	}
}

func (p *program) doComplete() {
	t, ok := pick(p, p.tickets)
	if !ok {
		return
	}
	p.mayBeStored(t)
	_, err := p.any().CompleteUpload(p.t.Context(), p.owner, actions.CompleteUpload{UploadID: t.UploadID})
	if !t.ended {
		p.noteEnd(t, err)
	}
}

// mayBeStored notes that a sent upload may become the file's content without the client hearing.
func (p *program) mayBeStored(t *modelTicket) {
	if t.sent && !t.ended {
		t.file.possible = append(t.file.possible, t.content)
	}
}

func (p *program) doCompleteTwice() {
	t, ok := pick(p, p.tickets)
	if !ok {
		return
	}
	p.mayBeStored(t)
	results := make(chan error, 2)
	for _, i := range p.instances {
		go func() {
			_, err := i.service.CompleteUpload(p.t.Context(), p.owner, actions.CompleteUpload{UploadID: t.UploadID})
			results <- err
		}()
	}
	for range p.instances {
		if err := <-results; !t.ended {
			p.noteEnd(t, err)
		}
	}
}

func (p *program) doAbort() {
	t, ok := pick(p, p.tickets)
	if !ok {
		return
	}
	done, err := p.any().AbortUpload(p.t.Context(), p.owner, actions.AbortUpload{UploadID: t.UploadID})
	if err == nil && done.Aborted {
		t.ended = true
	}
}

func (p *program) doReplace() {
	f, ok := pick(p, p.files)
	if !ok {
		return
	}
	content := p.content()
	ticket, err := p.any().ReplaceFile(p.t.Context(), p.owner, actions.ReplaceFile{ID: f.id, Size: graphql.Bigint(len(content))})
	if err != nil {
		return
	}
	t := &modelTicket{Upload: ticket, file: f, content: content, until: p.clock.Now().Add(time.Hour)}
	p.tickets = append(p.tickets, t)
	if put(p.t, *t.URL, t.Headers, content) == http.StatusOK {
		t.sent = true
		f.possible = append(f.possible, content)
	}
}

func (p *program) doCopy() {
	f, ok := pick(p, p.files)
	if !ok || f.told == nil {
		return
	}
	id := p.uuid()
	file, err := p.any().CopyFile(p.t.Context(), p.owner, actions.CopyFile{ID: f.id, NewID: &id})
	p.note("  copy %s to %s: %v", f.id, id, err)
	source := append([][]byte{f.told}, f.possible...)
	c := &modelFile{id: id, possible: source}
	if err == nil {
		if len(f.possible) == 0 {
			c.told, c.possible = f.told, nil
		}
		if file.ID != id {
			p.t.Errorf("the copy is %s, not %s", file.ID, id)
		}
	}
	p.files = append(p.files, c)
}

func (p *program) doDelete() {
	f, ok := pick(p, p.files)
	if !ok {
		return
	}
	f.deleting = true
	done, err := p.any().DeleteFiles(p.t.Context(), p.owner, actions.DeleteFiles{IDs: []string{f.id}})
	p.note("  delete %s: %+v %v", f.id, done, err)
	if err == nil {
		f.gone = true
	}
}

// doEvent delivers an event, which may be about anything, at any time, twice.
func (p *program) doEvent() {
	if f, ok := pick(p, p.files); ok {
		for range 1 + p.random.IntN(2) {
			_ = p.any().FileGone(p.t.Context(), actions.FileEvent{ID: f.id})
		}
	}
}

func (p *program) doSweep() {
	_, err := p.any().Sweep(p.t.Context())
	p.note("  sweep: %v", err)
	for _, t := range p.tickets {
		t.earlier = t.earlier || t.sent
	}
}

func (p *program) doWait() {
	p.clock.Advance([]time.Duration{time.Second, 2 * time.Minute, 40 * time.Minute, 2 * time.Hour}[p.random.IntN(4)])
}

func (p *program) doKill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.instances[p.random.IntN(len(p.instances))].left = p.random.IntN(12)
}

// doRead checks what can be read at once: a stranger sees nothing, and the owner
// what he was told.
func (p *program) doRead() {
	f, ok := pick(p, p.files)
	if !ok {
		return
	}
	if _, err := p.any().Download(p.t.Context(), p.stranger, actions.GetDownload{ID: f.id}); err == nil {
		p.t.Errorf("I4: a stranger got a link to %s", f.id)
	}
	link, err := p.any().Download(p.t.Context(), p.owner, actions.GetDownload{ID: f.id})
	if code(err) == actions.FileNotFound && f.told != nil && !f.deleting {
		p.t.Errorf("I3: %s was stored and cannot be found", f.id)
	}
	if err != nil {
		return
	}
	status, body, _ := get(p.t, link.URL)
	if f.deleting && status == http.StatusNotFound {
		return
	}
	if status != http.StatusOK || !f.accepts(body) {
		p.t.Errorf("I3, I5: %s reads %d %q, told %q, possible %q", f.id, status, body, f.told, f.possible)
	}
}

func (f *modelFile) accepts(content []byte) bool {
	return f.told != nil && bytes.Equal(content, f.told) ||
		slices.ContainsFunc(f.possible, func(c []byte) bool { return bytes.Equal(c, content) })
}

// doPicture asks for a picture of what is none: nothing may be left of it.
func (p *program) doPicture() {
	if f, ok := pick(p, p.files); ok {
		width := 10
		_, _ = p.any().Download(p.t.Context(), p.owner, actions.GetDownload{ID: f.id, Image: &actions.Image{Width: &width}})
	}
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
	for _, proxy := range p.proxies {
		proxy.Settle()
	}
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
