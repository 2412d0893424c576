package actions

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// UploadFiles takes a form with files (`file[]`), the bucket that they are for
// (`bucket-id`) and what is said of each (`metadata[]`), in any order. Before a
// byte is read Hasura is asked whether the sender may insert files at all; once
// the form is complete each file's row is inserted as the sender, with the size
// and type that the bytes have, and only then is it a file. The first file that
// is refused ends it: those before it are returned beside the error.
func (s *Storage) UploadFiles(ctx context.Context, as Headers, form Form) ([]StoredFile, error) {
	caller := s.hasura.Forward(as)
	limit, err := s.admitForm(ctx, caller)
	if err != nil {
		return nil, err
	}
	f := &uploadForm{restUploads: s.restUploads(ctx, caller, form), limit: limit}
	defer f.close(ctx)
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := formTaken(ctx)
	defer cancel()
	var done []StoredFile
	for i, u := range f.files {
		file, err := f.insert(ctx, u, f.metadataOf(i))
		if err != nil {
			return done, err
		}
		done = append(done, file)
	}
	return done, nil
}

// admitForm asks for the right to insert by inserting nothing, and returns the
// most that any bucket takes.
func (s *Storage) admitForm(ctx context.Context, caller graphql.Caller) (int64, error) {
	var limit int64
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		_, err := graphql.InsertFiles(ctx, caller, []graphql.FileValues{})
		return restError(hasuraError(err), "insert on files")
	})
	work.Go(func() error {
		// Admin: a caller need not see buckets to upload into one.
		largest, err := graphql.LargestBucket(ctx, s.hasura.Admin())
		if err == nil && len(largest.Buckets) > 0 {
			limit = int64(largest.Buckets[0].MaxUploadFileSize)
		}
		return hasuraError(err)
	})
	return limit, work.Wait()
}

// uploadForm is a form with new files.
type uploadForm struct {
	*restUploads
	limit    int64 // of one file
	bucket   *graphql.Bucket
	metadata []FileMetadata
}

// read takes the form to its end. Files go to the store as they come.
func (f *uploadForm) read(ctx context.Context) error {
	for {
		part, err := f.form.Next()
		if errors.Is(err, io.EOF) {
			return f.complete()
		}
		if err == nil {
			err = f.readPart(ctx, part)
		}
		if err != nil {
			return err
		}
	}
}

func (f *uploadForm) readPart(ctx context.Context, part FormPart) error {
	switch {
	case part.Field == "bucket-id":
		return f.readBucket(ctx, part)
	case part.Field == "metadata[]":
		m, err := readMetadata(part)
		f.metadata = append(f.metadata, m)
		return err
	case part.Field == "file[]" && part.FileName != "":
		id, err := f.nextID()
		if err != nil {
			return err
		}
		u, err := f.begin(ctx, kindCreate, id, nil)
		if err != nil {
			return err
		}
		return f.take(ctx, u, part, f.limit)
	}
	return nil
}

// nextID is the id of the next file, if its metadata came before it.
func (f *uploadForm) nextID() (string, error) {
	if i := len(f.files); i < len(f.metadata) && f.metadata[i].ID != "" {
		return validID("id", f.metadata[i].ID)
	}
	return newID(), nil
}

// readBucket looks the bucket up; files that come after it are held to its limit
// at once.
func (f *uploadForm) readBucket(ctx context.Context, part FormPart) error {
	id, err := readField(part)
	if err != nil || id == "" {
		return err
	}
	// Admin: a caller need not see buckets to upload into one.
	found, err := graphql.GetBucket(ctx, f.hasura.Admin(), id)
	if err != nil {
		return hasuraError(err)
	}
	if found.Bucket == nil {
		return errNoBucket
	}
	f.bucket, f.limit = found.Bucket, int64(found.Bucket.MaxUploadFileSize)
	return nil
}

func (f *uploadForm) complete() error {
	if len(f.files) == 0 {
		return Errorf(BadRequest, "file[] not found in Multipart form")
	}
	if len(f.metadata) > 0 && len(f.metadata) != len(f.files) {
		return Errorf(BadRequest, "file metadata length doesn't match number of files in request")
	}
	return nil
}

func (f *uploadForm) metadataOf(i int) FileMetadata {
	if len(f.metadata) == 0 {
		return FileMetadata{}
	}
	return f.metadata[i]
}

// insert makes a file of what was received.
func (f *uploadForm) insert(ctx context.Context, u *restUpload, m FileMetadata) (StoredFile, error) {
	if m.Name != "" {
		u.name = m.Name
	}
	if err := f.acceptable(u); err != nil {
		return StoredFile{}, err
	}
	if m.ID != "" {
		if err := f.rename(ctx, u, m.ID); err != nil {
			return StoredFile{}, err
		}
	}
	if err := f.insertRow(ctx, u, m.ID != ""); err != nil {
		return StoredFile{}, err
	}
	row, err := f.file(ctx, u.File_id)
	switch {
	case err != nil:
		return StoredFile{}, err
	case row == nil:
		return StoredFile{}, errDeletedMeanwhile
	}
	mimeType := u.mimeType
	if row.MimeType != nil {
		mimeType = *row.MimeType // a preset chose it
	}
	if err := f.admit(&row.Bucket, u.object.Size, &mimeType); err != nil {
		return StoredFile{}, judged(err, u.name)
	}
	if m.Metadata != nil {
		// Admin: clients of hasura-storage send metadata under roles that lack the column.
		if _, err := graphql.SetMetadata(ctx, f.hasura.Admin(), u.File_id, m.Metadata); err != nil {
			return StoredFile{}, hasuraError(err)
		}
	}
	u.File = row
	return f.switchTo(ctx, u, mimeType)
}

// acceptable holds a file to what is known without its row: the row may still
// stand in another bucket.
func (f *uploadForm) acceptable(u *restUpload) error {
	if u.err != nil {
		return u.err
	}
	if err := validName(u.name); err != nil {
		return err
	}
	if f.bucket == nil {
		return nil
	}
	return judged(f.admit(f.bucket, u.object.Size, &u.mimeType), u.name)
}

// insertRow writes the file's row as the caller.
func (f *uploadForm) insertRow(ctx context.Context, u *restUpload, chosenID bool) error {
	row := graphql.FileValues{ID: &u.File_id, Name: &u.name, Size: &u.object.Size, MimeType: &u.mimeType}
	if f.bucket != nil {
		row.BucketID = &f.bucket.Id
	}
	done, err := graphql.InsertFiles(ctx, f.caller, []graphql.FileValues{row})
	inserted := err == nil && done.Inserted.Affected_rows == 1
	if errors.Is(err, graphql.ErrConflict) {
		draft := graphql.UploadValues{ID: u.Id, Name: &u.name, Size: u.object.Size, ChosenID: chosenID}
		err = f.unlessInsertedTwice(ctx, f.caller, []graphql.UploadValues{draft}, []CreateUpload{{BucketID: row.BucketID}}, err)
		inserted = err == nil
	}
	switch {
	case inserted && chosenID:
		return f.closeFormer(ctx, u.upload)
	case inserted:
		return nil
	case err == nil || graphql.Undone(err):
		f.withdrawREST(ctx, u)
		if err == nil {
			return errNotInserted
		}
		if errors.Is(err, graphql.ErrConflict) {
			err = f.conflictOfCreate(ctx, []graphql.UploadValues{{FileID: u.File_id}}, err)
		}
	default:
		u.finished = true // the row may be there: the sweep closes it after the lease
	}
	return restError(hasuraError(err), "insert on files")
}

// rename gives an upload the id that its metadata asks for, if that came after
// its bytes. A key ends in its file's id, so the bytes are copied.
func (f *uploadForm) rename(ctx context.Context, u *restUpload, id string) error {
	id, err := validID("id", id)
	if err != nil || id == u.File_id {
		return err
	}
	former, key := u.key(), f.keys.object(newVersion(), id)
	// Admin: uploads are the service's own.
	named, err := graphql.NameRestUpload(ctx, f.hasura.Admin(), u.Id, id, key, &former)
	if err != nil {
		return hasuraError(err)
	}
	if named.Named.Affected_rows == 0 {
		return errNoUpload
	}
	u.File_id, u.Object_key, u.Staging_key = id, &key, &former
	_, err = f.store.Copy(ctx, former, key, s3.CopyOptions{IfMatch: u.object.ETag, ContentType: u.mimeType, Size: u.object.Size})
	if err != nil {
		return storeError(err)
	}
	o, err := f.store.Stat(ctx, key)
	u.object = o
	return storeError(err)
}
