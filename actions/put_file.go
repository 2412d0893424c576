package actions

import (
	"context"
	"errors"
	"io"

	"hasura-storage/graphql"
)

// PutFile replaces a file's bytes by those of a form (`file`), and with them its
// name and metadata (`metadata`) where they are given. Whether the sender may is
// asked before a byte is read and again right before the switch; until then
// readers see the old version. With a precondition the switch only happens if
// the version is still the one that it was asked about; otherwise the error is
// conflict.
func (s *Storage) PutFile(ctx context.Context, as Headers, id string, permits Precondition, form Form) (StoredFile, error) {
	caller := s.hasura.Forward(as)
	row, err := s.requestedFile(ctx, caller, id)
	if err != nil {
		return StoredFile{}, err
	}
	var ifMatch *string
	if permits != nil {
		if err := permits(versionIn(row)); err != nil {
			return StoredFile{}, err
		}
		ifMatch = row.Etag
	}
	if err := mayPut(ctx, caller, row, graphql.FileChanges{}); err != nil {
		return StoredFile{}, err
	}
	f := &replaceForm{restUploads: s.restUploads(ctx, caller, form), row: row, ifMatch: ifMatch}
	defer f.close(ctx)
	if err := f.read(ctx); err != nil {
		return StoredFile{}, err
	}
	ctx, cancel := formTaken(ctx)
	defer cancel()
	return f.replace(ctx, permits)
}

// replaceForm is a form with a new version of a file.
type replaceForm struct {
	*restUploads
	row      *graphql.File
	ifMatch  *string
	metadata FileMetadata
}

func (f *replaceForm) read(ctx context.Context) error {
	for {
		part, err := f.form.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.readPart(ctx, part)
		}
		if err != nil {
			return err
		}
	}
	if len(f.files) != 1 {
		return Errorf(BadRequest, "wrong file data in multipart form, one needs to be specified")
	}
	return nil
}

func (f *replaceForm) readPart(ctx context.Context, part FormPart) (err error) {
	switch {
	case part.Field == "metadata":
		f.metadata, err = readMetadata(part)
	case part.Field == "file" && part.FileName != "" && len(f.files) == 0:
		var u *restUpload
		if u, err = f.begin(ctx, kindReplace, f.row.Id, f.ifMatch); err == nil {
			err = f.take(ctx, u, part, int64(f.row.Bucket.MaxUploadFileSize))
		}
	case part.Field == "file":
		return Errorf(BadRequest, "wrong file data in multipart form, one needs to be specified")
	}
	return err
}

// replace makes what was received the file's version. What was asked before the
// bytes came is asked once more, of the row as it is now: the file may have moved
// to another bucket, whose rules count then.
func (f *replaceForm) replace(ctx context.Context, permits Precondition) (StoredFile, error) {
	u := f.files[0]
	if u.err != nil {
		return StoredFile{}, u.err
	}
	row, err := f.requestedFile(ctx, f.caller, f.row.Id)
	if err != nil {
		return StoredFile{}, err
	}
	if permits != nil {
		if err := permits(versionIn(row)); err != nil {
			return StoredFile{}, err
		}
	}
	if err := f.admit(&row.Bucket, u.object.Size, &u.mimeType); err != nil {
		return StoredFile{}, judged(err, u.name)
	}
	if err := mayPut(ctx, f.caller, row, f.changes()); err != nil {
		return StoredFile{}, err
	}
	u.File = row
	file, err := f.switchTo(ctx, u, u.mimeType)
	if err == nil {
		f.goneSoon(ctx, row.Id)
	}
	return file, err
}

// changes are the name and metadata that were given.
func (f *replaceForm) changes() graphql.FileChanges {
	set := graphql.FileChanges{Metadata: f.metadata.Metadata}
	if f.metadata.Name != "" {
		set.Name = &f.metadata.Name
	}
	return set
}

// mayPut asks for the right to update a file, as mayReplace does. A role made for
// hasura-storage may have no column but isUploaded: then that one is set to what it is.
func mayPut(ctx context.Context, caller graphql.Caller, row *graphql.File, set graphql.FileChanges) error {
	err := mayReplace(ctx, caller, row, set)
	if has(err, NotAllowed) && set.Name == nil && set.Metadata == nil {
		uploaded := true
		if done, again := graphql.UpdateFile(ctx, caller, row.Id, graphql.FileChanges{IsUploaded: &uploaded}); again == nil && done.Updated.Affected_rows == 1 {
			return nil
		}
	}
	if has(err, NotAllowed) && errors.Unwrap(err) == nil { // no row of his to update
		return errNotAuthorized.With("permission", "update on files").Because(err)
	}
	return restError(err, "update on files")
}
