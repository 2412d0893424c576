package actions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"hasura-storage/actions"
	"hasura-storage/graphql"
)

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
	{6, "upload by REST", (*program).doPost},
	{5, "replace by REST", (*program).doPut},
	{3, "notify", (*program).doNotify},
	{2, "reconcile", (*program).doReconcile},
}

func (p *program) any() *actions.Storage { return p.instances[p.random.IntN(len(p.instances))].service }

func pick[T any](p *program, from []T) (one T, ok bool) {
	if len(from) == 0 {
		return one, false
	}
	return from[p.random.IntN(len(from))], true
}

func (p *program) doCreate() {
	content := p.content()
	in := actions.CreateUpload{Name: "torture", Size: graphql.Bigint(len(p.bytesOf(content)))}
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
	} else if t.sent && p.random.IntN(3) == 0 {
		p.thinkBetter(t)
		content = t.content
	}
	url := t.URL
	if len(t.Parts) > 0 {
		url = &t.Parts[0].URL
	}
	if status := put(p.t, *url, t.Headers, p.bytesOf(content)); status == http.StatusOK && !t.ended {
		t.sent = true
		p.mayBeStored(t) // a sweep may complete it at any time
	}
}

// thinkBetter lets a client send other bytes than before.
func (p *program) thinkBetter(t *modelTicket) {
	if content := p.content(); content != nil && t.content != nil {
		t.former, t.content = append(t.former, t.content), content
		p.mayBeStored(t)
	}
}

// noteEnd notes what an answer to complete tells the client.
func (p *program) noteEnd(t *modelTicket, err error) {
	p.note("  complete %s: %v", t.FileID, err)
	switch code(err) {
	case "":
		t.ended = true
		p.stored(t.file, t.content, t)
	case actions.UploadNotFound, actions.FileNotFound, actions.Conflict, actions.VirusFound:
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
		t.file.possible = append(t.file.possible, t.mayStore()...)
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
	ticket, err := p.any().ReplaceFile(p.t.Context(), p.owner, actions.ReplaceFile{ID: f.id, Size: graphql.Bigint(len(p.bytesOf(content)))})
	if err != nil {
		return
	}
	t := &modelTicket{Upload: ticket, file: f, content: content, until: p.clock.Now().Add(time.Hour)}
	p.tickets = append(p.tickets, t)
	if put(p.t, *t.URL, t.Headers, p.bytesOf(content)) == http.StatusOK {
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
	p.letArrive() // nothing is on its way for longer than the service reckons with
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

// doPicture asks for a picture of what is none: nothing may be left of it.
func (p *program) doPicture() {
	if f, ok := pick(p, p.files); ok {
		width := 10
		_, _ = p.any().Download(p.t.Context(), p.owner, actions.GetDownload{ID: f.id, Image: &actions.Image{Width: &width}})
	}
}

// doPost uploads by REST, under an id of the client's own or one that the answer tells.
func (p *program) doPost() {
	content := p.content()
	form := parts{{"file[]", "torture", p.bytesOf(content)}}
	f := &modelFile{possible: [][]byte{content}}
	if p.random.IntN(2) == 0 {
		f.id = p.uuid()
		form = append(form, struct {
			field, name string
			body        []byte
		}{"metadata[]", "", fmt.Appendf(nil, `{"id": %q}`, f.id)})
	}
	done, err := p.any().UploadFiles(p.t.Context(), sentBy(p.owner), &form)
	p.note("  upload of %q: %v", f.id, err)
	if err == nil {
		f.id = done[0].ID
		p.stored(f, content, nil)
	}
	if f.id != "" {
		p.files = append(p.files, f)
	}
}

// doPut replaces by REST.
func (p *program) doPut() {
	f, ok := pick(p, p.files)
	if !ok {
		return
	}
	content := p.content()
	_, err := p.any().PutFile(p.t.Context(), sentBy(p.owner), f.id, nil, &parts{{"file", "torture", p.bytesOf(content)}})
	p.note("  put of %s: %v", f.id, err)
	if err != nil {
		f.possible = append(f.possible, content)
		return
	}
	p.stored(f, content, nil)
}

// doNotify passes on what the store has to tell of every object that clients wrote.
func (p *program) doNotify() {
	staged := slices.DeleteFunc(p.keys(), func(key string) bool { return !strings.HasPrefix(key, "files-staging/") })
	done, err := p.any().Arrived(p.t.Context(), staged)
	p.note("  %+v %v", done, err)
	for _, t := range p.tickets {
		t.earlier = t.earlier || t.sent
	}
}

// doReconcile compares store and rows, beside whatever comes next. The store has
// the real clock: once the program's is a day ahead, nothing is too young.
func (p *program) doReconcile() {
	done, err := p.any().Reconcile(p.t.Context())
	p.note("  %+v %v", done, err)
}
