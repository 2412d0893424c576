package actions

import (
	"context"
	"sync"
	"time"

	"hasura-storage/graphql"
)

const (
	// defaultCompletionWait is how long the action waits before it answers
	// upload-completing; Hasura's own limit for it is 60 s.
	defaultCompletionWait = 25 * time.Second
	// joinPause lies between two looks at what another instance completes.
	joinPause = 300 * time.Millisecond
	// completionLimit bounds the detached work of one completion.
	completionLimit = 15 * time.Minute
	// maxCompletions bounds how many run at once in this process.
	maxCompletions = 256
)

// CompleteUpload checks what the client sent and lets the file's row name it.
// Whoever holds the ticket may complete; completing twice answers the same
// file. Calls for the same upload join one piece of work, which goes on if all
// of them leave.
func (s *Storage) CompleteUpload(ctx context.Context, as Session, in CompleteUpload) (File, error) {
	caller, err := s.as(as)
	if err != nil {
		return File{}, err
	}
	id, err := validID("uploadId", in.UploadID)
	if err != nil {
		return File{}, err
	}
	u, err := s.upload(ctx, id)
	if err != nil {
		return File{}, err
	}
	patience, cancel := context.WithTimeout(ctx, s.completionWait)
	defer cancel()
	for u.isOpen() {
		if err := s.join(patience, u, in.Parts); err != nil {
			return File{}, err
		}
		if u, err = s.upload(ctx, id); err != nil {
			return File{}, err
		}
	}
	return s.told(ctx, caller, as, u)
}

// told is what a ticket's holder learns of a closed upload's file: who opened it
// learns of the bytes as long as they are the file's, anybody else the id alone.
func (s *Storage) told(ctx context.Context, caller graphql.Caller, as Session, u upload) (File, error) {
	if u.State != stateCommitted {
		return File{}, errNoUpload
	}
	f := u.File
	if f == nil {
		return File{}, Errorf(FileNotFound, "the file was deleted since")
	}
	if deref(u.Session_key) != s.sessionKey(as) || s.keys.of(f.Id, f.ObjectKey) != u.key() {
		return File{ID: f.Id}, nil
	}
	bucket, name, err := s.labels(ctx, caller, u)
	if err != nil {
		return File{}, err
	}
	return File{
		ID: f.Id, BucketID: bucket, Name: name, Size: (*int64)(f.Size), MimeType: f.MimeType, ETag: f.Etag,
		SHA256: f.Sha256, Width: f.Width, Height: f.Height, Placeholder: f.Placeholder,
	}, nil
}

// labels returns bucket and name of an upload's file. They can change without new
// bytes, and so can who may see them: where they are not as the upload has
// them, Hasura decides whether the caller learns what they are now.
func (s *Storage) labels(ctx context.Context, caller graphql.Caller, u upload) (bucket, name *string, err error) {
	f := u.File
	if f.BucketId == deref(u.Bucket_id) && deref(f.Name) == deref(u.Name) {
		return &f.BucketId, f.Name, nil
	}
	f, err = s.fileFor(ctx, caller, f.Id)
	switch {
	case err == nil:
		return &f.BucketId, f.Name, nil
	case has(err, FileNotFound, NotAllowed):
		return u.Bucket_id, u.Name, nil
	default:
		return nil, nil, err
	}
}

// join starts the completion of an upload, or waits for the one that runs, here
// or elsewhere, while ctx lasts. It returns nil once there is news.
func (s *Storage) join(ctx context.Context, u upload, parts []UploadedPart) error {
	run, err := s.completions.join(ctx, u.Id, func(ctx context.Context) error { return s.complete(ctx, u, parts) })
	if err != nil {
		return err
	}
	select {
	case <-run.done:
		if !has(run.err, UploadCompleting) {
			return run.err
		}
	case <-ctx.Done():
		return u.completing()
	}
	select { // another instance holds the lease
	case <-time.After(joinPause):
		return nil
	case <-ctx.Done():
		return u.completing()
	}
}

// completing tells a caller to ask again.
func (u upload) completing() error {
	return Errorf(UploadCompleting, "the upload is being completed, ask again").With("uploadId", u.Id)
}

// completions are the uploads that this process completes now.
type completions struct {
	background *background

	mu      sync.Mutex
	running map[string]*completion
}

type completion struct {
	done chan struct{} // closed at the end
	err  error         // readable after done
}

func newCompletions(b *background) *completions {
	return &completions{background: b, running: map[string]*completion{}}
}

// join returns the running completion of an upload, or starts work as one.
func (c *completions) join(ctx context.Context, id string, work func(context.Context) error) (*completion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run := c.running[id]; run != nil {
		return run, nil
	}
	if len(c.running) >= maxCompletions {
		return nil, Errorf(Busy, "too many uploads are being completed, try again")
	}
	run := &completion{done: make(chan struct{})}
	started := c.background.run(ctx, completionLimit, work, func(err error) {
		run.err = err
		c.mu.Lock()
		delete(c.running, id)
		c.mu.Unlock()
		close(run.done)
	})
	if !started {
		return nil, Errorf(Busy, "the service is stopping, try again")
	}
	c.running[id] = run
	return run, nil
}
