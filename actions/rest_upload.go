package actions

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// restUpload is one file on its way through the service. Its row says so before
// a byte is at the store, and is kept alive while bytes move; should this
// process die, the sweep removes everything once the row's lease is over.
type restUpload struct {
	upload
	received

	name     string // as the part says
	err      error  // why it cannot become a file, known before the form was complete
	finished bool   // nothing is left to clean up
}

// restUploads are the files of one form.
type restUploads struct {
	*Storage
	caller graphql.Caller
	form   Form
	files  []*restUpload

	stop func()
	mu   sync.Mutex
	ids  []string // of the rows to keep alive
}

func (s *Storage) restUploads(ctx context.Context, caller graphql.Caller, form Form) *restUploads {
	r := &restUploads{Storage: s, caller: caller, form: form}
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx)) // until close: the work outlives a client who leaves
	go r.keepAlive(ctx)
	return r
}

// keepAlive renews the leases until close is called.
func (r *restUploads) keepAlive(ctx context.Context) {
	tick := time.NewTicker(leaseTime / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		r.mu.Lock()
		ids := slices.Clone(r.ids)
		r.mu.Unlock()
		for _, id := range ids {
			// Admin: uploads are the service's own.
			_, _ = graphql.KeepRestUpload(ctx, r.hasura.Admin(), id, r.now().Add(leaseTime))
		}
	}
}

// close removes what has not become a file.
func (r *restUploads) close(ctx context.Context) {
	r.stop()
	for _, u := range r.files {
		if !u.finished {
			r.giveUp(ctx, u)
		}
	}
}

// giveUp closes and cleans the upload as its row stands, if it was written.
func (r *restUploads) giveUp(ctx context.Context, u *restUpload) {
	ctx, cancel := detached(ctx)
	defer cancel()
	if row, err := r.upload(ctx, u.Id); err == nil {
		r.abandon(ctx, row)
	}
}

// begin writes the row of an upload for a file, and takes it back unless there is
// room for it. Its kind tells the sweep that nobody can complete
// it; kind says what it is here.
func (r *restUploads) begin(ctx context.Context, kind, fileID string, ifMatch *string) (*restUpload, error) {
	version, now := newVersion(), r.now()
	until := now.Add(leaseTime)
	size := intakePart
	draft := graphql.UploadValues{
		ID: newID(), FileID: fileID, Kind: kindREST, Version: version, ObjectKey: r.keys.object(version, fileID),
		PartSize: &size, IfMatch: ifMatch, SessionKey: r.callerKey(r.caller), NextCheckAt: now, ExpiresAt: until, LeasedUntil: &until,
	}
	u := &restUpload{upload: upload{graphql.Upload{
		Id: draft.ID, File_id: fileID, Kind: kind, State: stateOpen, Version: &version, Object_key: &draft.ObjectKey,
		Part_size: (*graphql.Bigint)(&size), If_match: ifMatch, Created_at: now, Expires_at: until,
	}}}
	r.files = append(r.files, u) // first, since the row may be written without an answer
	// Admin: uploads are the service's own.
	if _, err := graphql.InsertUploads(ctx, r.hasura.Admin(), []graphql.UploadValues{draft}); err != nil {
		return nil, hasuraError(err)
	}
	r.counts.upload(u.Kind, UploadOpened)
	draft.Kind = kind // as it is counted
	if err := r.unlessTooMany(ctx, []graphql.UploadValues{draft}); err != nil {
		u.finished = true // nothing else exists of it
		return nil, err
	}
	r.mu.Lock()
	r.ids = append(r.ids, u.Id)
	r.mu.Unlock()
	return u, nil
}

// formTaken gives what follows a complete form a context of its own: a client
// that hangs up now must not leave rows half way.
func formTaken(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), completionLimit)
}

// take streams a part to the store. A file that is too large is noted as such:
// the form may hold others.
func (r *restUploads) take(ctx context.Context, u *restUpload, part FormPart, limit int64) error {
	u.name = part.FileName
	b := body{Reader: part.Body, sender: r.callerKey(r.caller), key: u.key(), name: part.FileName, declared: part.ContentType, limit: limit, length: r.form.Length()}
	got, err := r.intake.receive(ctx, b, func(content []byte) images.Facts { return r.pictureFacts(ctx, content) })
	if long, ok := errors.AsType[*tooLongError](err); ok {
		u.err = tooBig(part.FileName, long.size, limit)
		return nil
	}
	if err != nil {
		return err
	}
	u.received = got
	if !got.pieces {
		u.Part_size = nil // there are no parts to clean up
	}
	return nil
}

// pictureFacts returns width, height and placeholder of a picture; of what is
// none, nothing.
func (s *Storage) pictureFacts(ctx context.Context, content []byte) images.Facts {
	if !s.variants.decodes(content) {
		return images.Facts{}
	}
	facts, err := s.variants.factsOf(ctx, content)
	if err != nil {
		return images.Facts{}
	}
	return facts
}

func tooBig(name string, size, limit int64) *Error {
	return Errorf(FileTooBig, "file too big").With("filename", name).With("size", size).With("maxSize", limit)
}

// judged words a bucket's refusal as clients of the REST interface know it.
func judged(err error, name string) error {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Code == FileTooBig:
		e = &Error{Code: e.Code, Message: "file too big", Details: e.Details}
	case e.Code == FileTooSmall:
		e = &Error{Code: e.Code, Message: "file too small", Details: e.Details}
	}
	return e.With("filename", name)
}

// switchTo lets the file's row name what was received, and returns the row.
func (r *restUploads) switchTo(ctx context.Context, u *restUpload, mimeType string) (StoredFile, error) {
	known := facts{
		key: u.object.Key, etag: u.object.ETag, size: graphql.Bigint(u.object.Size),
		mimeType: &mimeType, sha256: &u.sha256, placeholder: optional(u.facts.Blurhash),
	}
	if u.facts.Width > 0 {
		known.width, known.height = &u.facts.Width, &u.facts.Height
	} else if u.pieces && strings.HasPrefix(mimeType, "image/") {
		r.inspectStored(ctx, u.object, &known)
	}
	known, err := r.pass(ctx, u, known)
	if err != nil {
		return StoredFile{}, err
	}
	u.finished = true // from here on commit cleans up, or the sweep does where the outcome is unknown
	if err := r.commit(ctx, u.upload, known); err != nil {
		return StoredFile{}, err
	}
	return r.committed(ctx, u)
}

// inspectStored notes width, height and placeholder of a picture that came in parts.
func (s *Storage) inspectStored(ctx context.Context, o s3.Object, known *facts) {
	if head, err := s.head(ctx, o); err == nil {
		s.inspectPicture(ctx, o, head, known)
	}
}

// committed reads the row back. A commit that found its upload closed by the
// sweep has not happened.
func (r *restUploads) committed(ctx context.Context, u *restUpload) (StoredFile, error) {
	f, err := r.file(ctx, u.File_id)
	if err != nil {
		return StoredFile{}, err
	}
	if f == nil {
		return StoredFile{}, errDeletedMeanwhile
	}
	if r.keys.of(f.Id, f.ObjectKey) == u.object.Key {
		return stored(f), nil
	}
	row, err := r.upload(ctx, u.Id)
	if err != nil || row.State != stateCommitted {
		return StoredFile{}, Errorf(Conflict, "the upload took too long and was given up, send it again").Because(err)
	}
	return stored(f), nil // and replaced by somebody else since
}

// callerKey identifies the sender of REST requests without telling his headers: a
// hash would let a weak secret be guessed, so it has a key.
func (s *Storage) callerKey(caller graphql.Caller) string {
	mac := hmac.New(sha256.New, s.links.keys[0])
	mac.Write([]byte("rest-caller-1\n" + caller.Sender()))
	return hex.EncodeToString(mac.Sum(nil))
}

// withdrawREST removes an upload whose file's row Hasura refused: its bytes and
// its row, and nothing of a file that may have the same id.
func (r *restUploads) withdrawREST(ctx context.Context, u *restUpload) {
	u.finished = true
	ctx, cancel := detached(ctx)
	defer cancel()
	keys := []string{u.key()}
	if u.Staging_key != nil {
		keys = append(keys, *u.Staging_key)
	}
	err := r.store.Delete(ctx, keys...)
	if err == nil {
		// Admin: uploads are the service's own.
		_, err = graphql.WithdrawUploads(ctx, r.hasura.Admin(), []string{u.Id})
	}
	if err != nil {
		r.log.Warn("an upload that was refused is left to the sweep", zap.Error(err))
		return
	}
	r.counts.upload(u.Kind, UploadWithdrawn)
}
