package actions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// The methods of StorageUploadMethod.
const (
	methodAuto      = "AUTO"
	methodPut       = "PUT"
	methodMultipart = "MULTIPART"
)

const (
	autoPutLimit int64 = 64 << 20 // above it AUTO means multipart
	putLimit     int64 = 1 << 30  // above it PUT is refused: a copy must end within a lease
	smallestPart int64 = 16 << 20 // of our own choosing; S3 allows 5 MiB
)

// CreateUpload reserves a file and hands out a ticket for its bytes. The upload's
// row is written first, then the file's row as the caller; whatever his
// permissions and presets make of it, the rules of the bucket it then stands in
// apply. Repeating a create by id, bucket, name and size answers the open ticket again.
func (s *Storage) CreateUpload(ctx context.Context, as Session, in CreateUpload) (Upload, error) {
	tickets, err := s.create(ctx, as, []CreateUpload{in})
	if err != nil {
		return Upload{}, err
	}
	return tickets[0], nil
}

// CreateUploads does the same for up to 100 files: either all are reserved or none.
func (s *Storage) CreateUploads(ctx context.Context, as Session, in CreateUploads) ([]Upload, error) {
	if len(in.Files) == 0 || len(in.Files) > maxIDs {
		return nil, Errorf(BadRequest, "files must hold 1 to %d files, not %d", maxIDs, len(in.Files))
	}
	return s.create(ctx, as, in.Files)
}

func (s *Storage) create(ctx context.Context, as Session, files []CreateUpload) ([]Upload, error) {
	caller, err := s.as(as)
	if err != nil {
		return nil, err
	}
	drafts, err := s.drafts(ctx, as, files)
	if err != nil {
		return nil, err
	}
	if err := s.openUploads(ctx, drafts); err != nil {
		return s.again(ctx, caller, drafts, files, err)
	}
	if err := s.insertFiles(ctx, caller, drafts, files); err != nil {
		return s.refused(ctx, caller, drafts, files, err)
	}
	return s.tickets(ctx, drafts)
}

// drafts checks what is asked for, before anything is written, and makes the
// rows of the uploads.
func (s *Storage) drafts(ctx context.Context, as Session, files []CreateUpload) ([]graphql.UploadValues, error) {
	drafts := make([]graphql.UploadValues, len(files))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(8)
	for i := range files {
		if err := files[i].validate(s.now()); err != nil {
			return nil, indexed(err, i, len(files))
		}
		work.Go(func() error {
			bucket, err := s.namedBucket(ctx, files[i])
			if err == nil {
				drafts[i], err = s.draft(as, files[i], bucket)
			}
			return indexed(err, i, len(files))
		})
	}
	return drafts, work.Wait()
}

// indexed says which of several files an error is about.
func indexed(err error, i, of int) error {
	var e *Error
	if of > 1 && errors.As(err, &e) {
		return e.With("index", i)
	}
	return err
}

// namedBucket spares everybody the work where a bucket is named and its rules
// already say no; they are judged again where the row really stands. It returns
// nil where no bucket is named: the column's default or a preset decides.
func (s *Storage) namedBucket(ctx context.Context, in CreateUpload) (*graphql.Bucket, error) {
	if in.BucketID == nil {
		return nil, nil
	}
	// Admin: a caller need not see buckets to upload into one.
	found, err := graphql.GetBucket(ctx, s.hasura.Admin(), *in.BucketID)
	if err != nil {
		return nil, hasuraError(err)
	}
	if found.Bucket == nil {
		return nil, Errorf(BucketNotFound, "bucket not found")
	}
	return found.Bucket, s.admit(found.Bucket, int64(in.Size), in.MimeType)
}

// draft makes the upload's row of a create.
func (s *Storage) draft(as Session, in CreateUpload, bucket *graphql.Bucket) (graphql.UploadValues, error) {
	fileID := newID()
	if in.ID != nil {
		id, err := validID("id", *in.ID)
		if err != nil {
			return graphql.UploadValues{}, err
		}
		fileID = id
	}
	u := s.newUpload(as, kindCreate, fileID, bucket)
	u.Name, u.Size, u.MimeType, u.SHA256 = &in.Name, int64(in.Size), in.MimeType, in.SHA256
	if in.ID != nil {
		u.ChosenID, u.BucketID = true, nil // place names it once the file's row is the caller's own
	}
	return u, s.chooseMethod(&u, in.Method)
}

// newUpload makes the row of an upload of any kind, for a PUT until said otherwise.
func (s *Storage) newUpload(as Session, kind, fileID string, bucket *graphql.Bucket) graphql.UploadValues {
	version, now := newVersion(), s.now()
	u := graphql.UploadValues{
		ID: newID(), FileID: fileID, Kind: kind, Version: version, ObjectKey: s.keys.object(version, fileID),
		Session: as.Stored(), SessionKey: s.sessionKey(as),
		NextCheckAt: now.Add(firstCheck), ExpiresAt: now.Add(uploadLife(bucket) + putGrace),
	}
	if bucket != nil {
		u.BucketID = &bucket.Id
	}
	return u
}

// chooseMethod settles how the bytes come. An empty file has no parts.
func (s *Storage) chooseMethod(u *graphql.UploadValues, method string) error {
	if method == methodAuto && u.Size > autoPutLimit || method == methodMultipart && u.Size > 0 {
		size := s3.PartSize(u.Size, smallestPart)
		u.PartSize, u.ExpiresAt = &size, s.now().Add(multipartTicket)
		return nil
	}
	if u.Size > putLimit {
		return Errorf(BadRequest, "method PUT takes at most %d bytes, use MULTIPART", putLimit)
	}
	staging := s.keys.staging(u.Version)
	u.StagingKey = &staging
	return nil
}

// insertUploads writes the uploads' rows. Their ids are new and ours: if they
// exist already, something between us and Hasura sent the request twice.
func (s *Storage) insertUploads(ctx context.Context, drafts []graphql.UploadValues) error {
	// Admin: uploads belong to the service, no role may see them.
	_, err := graphql.InsertUploads(ctx, s.hasura.Admin(), drafts)
	if err != nil && !errors.Is(err, graphql.ErrConflict) {
		return hasuraError(err)
	}
	for _, u := range drafts {
		s.counts.upload(u.Kind, UploadOpened)
	}
	return nil
}

// openUploads writes rows of uploads of one session, and takes them back unless it
// is certain that it may have them.
func (s *Storage) openUploads(ctx context.Context, drafts []graphql.UploadValues) error {
	if err := s.insertUploads(ctx, drafts); err != nil {
		return err
	}
	return s.unlessTooMany(ctx, drafts)
}

// unlessTooMany takes back uploads of one session that were written, unless it is
// certain that it may have them: counted with them in, none of many calls at once
// slips past the limit.
func (s *Storage) unlessTooMany(ctx context.Context, drafts []graphql.UploadValues) error {
	err := s.roomForUploads(ctx, drafts[0].SessionKey)
	if err != nil {
		s.withdraw(ctx, drafts)
	}
	return err
}

// insertFiles writes the files' rows as the caller, naming exactly what is known.
func (s *Storage) insertFiles(ctx context.Context, caller graphql.Caller, drafts []graphql.UploadValues, files []CreateUpload) error {
	rows := make([]graphql.FileValues, len(files))
	for i, in := range files {
		rows[i] = graphql.FileValues{
			ID: &drafts[i].FileID, BucketID: in.BucketID, Size: &drafts[i].Size,
			MimeType: in.MimeType, Metadata: in.Metadata, ExpiresAt: in.ExpiresAt,
		}
		if in.Name != "" { // else it is a copy of a file that has none
			rows[i].Name = &files[i].Name
		}
	}
	done, err := graphql.InsertFiles(ctx, caller, rows)
	if errors.Is(err, graphql.ErrConflict) {
		return s.unlessInsertedTwice(ctx, caller, drafts, files, err)
	}
	if err != nil {
		return err
	}
	if done.Inserted.Affected_rows != len(rows) {
		return Errorf(NotAllowed, "the file was not inserted")
	}
	return nil
}

// refused ends a create whose file rows were not written. Where the outcome is
// unknown everything stays for the sweep; a clear no takes the tickets back.
func (s *Storage) refused(ctx context.Context, caller graphql.Caller, drafts []graphql.UploadValues, files []CreateUpload, cause error) ([]Upload, error) {
	if !graphql.Undone(cause) && !has(cause, NotAllowed) {
		return nil, hasuraError(cause)
	}
	s.withdraw(ctx, drafts)
	return s.again(ctx, caller, drafts, files, cause)
}

// again answers a create for which there was no room, or whose files exist, with
// the tickets that the same request was given before; otherwise with the cause.
func (s *Storage) again(ctx context.Context, caller graphql.Caller, drafts []graphql.UploadValues, files []CreateUpload, cause error) ([]Upload, error) {
	taken := errors.Is(cause, graphql.ErrConflict)
	if !taken && !has(cause, Busy) {
		return nil, hasuraError(cause)
	}
	tickets := make([]Upload, len(files))
	for i := range files {
		ticket, ok, err := s.repeated(ctx, caller, drafts[i], files[i])
		if err != nil {
			return nil, err
		}
		if !ok && taken {
			return nil, s.conflictOfCreate(ctx, drafts, cause)
		}
		if !ok {
			return nil, cause
		}
		tickets[i] = ticket
	}
	return tickets, nil
}

// withdraw deletes the rows of uploads of which nothing else exists. A failure
// is left to the sweep.
func (s *Storage) withdraw(ctx context.Context, drafts []graphql.UploadValues) {
	ctx, cancel := detached(ctx)
	defer cancel()
	ids := make([]string, len(drafts))
	for i, u := range drafts {
		ids[i] = u.ID
	}
	// Admin: uploads are the service's own.
	if _, err := graphql.WithdrawUploads(ctx, s.hasura.Admin(), ids); err != nil {
		s.log.Warn("uploads could not be withdrawn; the sweep will close them", zap.Error(err))
		return
	}
	for _, u := range drafts {
		s.counts.upload(u.Kind, UploadWithdrawn)
	}
}

// conflictOfCreate words a constraint's no.
func (s *Storage) conflictOfCreate(ctx context.Context, drafts []graphql.UploadValues, cause error) error {
	ids := make([]string, len(drafts))
	for i, u := range drafts {
		ids[i] = u.FileID
	}
	// Admin: whether an id is taken decides the word, nothing of the row is told.
	if found, err := graphql.GetFiles(ctx, s.hasura.Admin(), ids); err == nil && len(found.Files) > 0 {
		return Errorf(AlreadyExists, "a file with id %s exists already", found.Files[0].Id).Because(cause)
	}
	return hasuraError(cause)
}

// tickets reads back what the caller's permissions and presets made of the
// files, holds them to the rules of their buckets and signs the URLs. If one of
// them may not be, none is.
func (s *Storage) tickets(ctx context.Context, drafts []graphql.UploadValues) ([]Upload, error) {
	uploads, err := s.uploads(ctx, drafts)
	if err != nil {
		return nil, err
	}
	tickets := make([]Upload, len(uploads))
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(8)
	for i, u := range uploads {
		work.Go(func() error {
			var err error
			if drafts[i].ChosenID {
				err = s.closeFormer(workCtx, u)
			}
			if err == nil {
				tickets[i], err = s.placed(workCtx, u)
			}
			return indexed(err, i, len(uploads))
		})
	}
	if err := work.Wait(); err != nil {
		s.withoutTickets(ctx, drafts, uploads, err)
		return nil, err
	}
	return tickets, nil
}

// withoutTickets ends uploads whose tickets were not given for cause. Where files
// may not be, they go at once. Otherwise the same call may succeed when it is
// repeated, if it can be: if all ids are the client's, and he has a name. Nobody
// waits for Hasura again and again; the sweep ends what is left.
func (s *Storage) withoutTickets(ctx context.Context, drafts []graphql.UploadValues, uploads []upload, cause error) {
	final := has(cause, append(guarded, FileNotFound)...)
	ours := slices.ContainsFunc(drafts, func(u graphql.UploadValues) bool { return !u.ChosenID })
	if !final && !ours && !s.nameless(drafts[0].Session) {
		return
	}
	for _, u := range uploads {
		if final {
			s.abandon(ctx, u)
		} else if !s.abandonSoon(ctx, u) {
			return
		}
	}
}

// closeFormer closes uploads that were to create the same file: its row was deleted
// since, and whoever has their tickets must not give the new one its bytes. Only
// an id that a client chose can have been another file's.
func (s *Storage) closeFormer(ctx context.Context, u upload) error {
	// Admin: uploads are the service's own. The sweep removes what they left.
	done, err := graphql.CloseFormerUploads(ctx, s.hasura.Admin(), u.File_id, u.Created_at, newID(), s.now().Add(closedCheck))
	if err != nil {
		return hasuraError(err)
	}
	for _, former := range done.Closed.Returning {
		s.counts.upload(former.Kind, UploadAborted)
	}
	return nil
}

// placed holds a new file to the rules of the bucket where it stands.
func (s *Storage) placed(ctx context.Context, u upload) (Upload, error) {
	if u.File == nil {
		return Upload{}, Errorf(FileNotFound, "the file was deleted while its upload was created")
	}
	if u.Kind != kindReplace { // whose bucket was known before
		if err := s.admit(&u.File.Bucket, u.size(), u.File.MimeType); err != nil {
			return Upload{}, err
		}
	}
	return s.ticket(ctx, u)
}

// roomForUploads refuses more open uploads than a session, or all together, may have.
func (s *Storage) roomForUploads(ctx context.Context, sessionKey string) error {
	// Admin: uploads are the service's own.
	open, err := graphql.CountOpenUploads(ctx, s.hasura.Admin(), sessionKey, maxOpenPerSession+1, s.maxOpen)
	if err != nil {
		return hasuraError(err)
	}
	if len(open.OfSession) > maxOpenPerSession {
		return Errorf(Busy, "the session may have at most %d open uploads", maxOpenPerSession)
	}
	if len(open.Beyond) > 0 {
		return Errorf(Busy, "too many uploads are open, try again later")
	}
	return nil
}

// maxOpenPerSession is how many uploads one session may have open.
const maxOpenPerSession = 100

// sessionKey identifies a session without telling its variables. All of the
// unauthorized role are one: its variables are the clients' own words.
func (s *Storage) sessionKey(as Session) string {
	key := as.Key()
	if s.nameless(as) {
		key = Session{"x-hasura-role": as.Role()}.Key()
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// nameless reports whether a session is of the unauthorized role, all of whose
// callers are one.
func (s *Storage) nameless(as Session) bool {
	return as.Role() == s.unauthorizedRole && as.Role() != ""
}
