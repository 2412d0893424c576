package actions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"hasura-storage/graphql"
)

// ReplaceFile opens an upload for a new version of a file, which keeps its id
// and permissions. Readers see the old version until the new one is complete.
// The right to update is asked now, before the first byte, and again as the
// same session right before the switch. ifMatch makes it conditional on the
// version with that ETag; otherwise the last to complete wins.
func (s *Storage) ReplaceFile(ctx context.Context, as Session, in ReplaceFile) (Upload, error) {
	caller, err := s.as(as)
	if err != nil {
		return Upload{}, err
	}
	if err := in.validate(); err != nil {
		return Upload{}, err
	}
	f, err := s.visibleFile(ctx, as, in.ID)
	if err != nil {
		return Upload{}, err
	}
	if in.IfMatch != nil && !sameETag(*in.IfMatch, deref(f.Etag)) {
		return Upload{}, errNotTheVersion
	}
	if err := s.admit(&f.Bucket, int64(in.Size), in.MimeType); err != nil {
		return Upload{}, err
	}
	if err := mayReplace(ctx, caller, f, in.changesNothing(f)); err != nil {
		return Upload{}, err
	}
	return s.openReplace(ctx, as, f, in)
}

func (in *ReplaceFile) validate() error {
	if in.Name != nil {
		if err := validName(*in.Name); err != nil {
			return err
		}
	}
	if bytes.Equal(bytes.TrimSpace(in.Metadata), []byte("null")) {
		in.Metadata = nil
	}
	id, err := validID("id", in.ID)
	if err != nil {
		return err
	}
	in.ID = id
	in.Method = cmp.Or(in.Method, methodAuto)
	return validBytes(in.Method, int64(in.Size), in.MimeType, in.SHA256, in.Metadata)
}

// changesNothing returns the columns that the replace will write, with the
// values that they have: setting those asks for the right and changes nothing.
func (in *ReplaceFile) changesNothing(f *graphql.File) graphql.FileChanges {
	var same graphql.FileChanges
	if in.Name != nil {
		same.Name = f.Name
	}
	if in.Metadata != nil {
		same.Metadata = json.RawMessage("null")
		if f.Metadata != nil {
			same.Metadata = *f.Metadata
		}
	}
	return same
}

func (s *Storage) openReplace(ctx context.Context, as Session, f *graphql.File, in ReplaceFile) (Upload, error) {
	u := s.newUpload(as, kindReplace, f.Id, &f.Bucket)
	u.Name, u.Metadata, u.Size, u.MimeType, u.SHA256 = in.Name, in.Metadata, int64(in.Size), in.MimeType, in.SHA256
	if in.IfMatch != nil {
		u.IfMatch = f.Etag
	}
	if err := s.chooseMethod(&u, in.Method); err != nil {
		return Upload{}, err
	}
	if err := s.openUploads(ctx, []graphql.UploadValues{u}); err != nil {
		return Upload{}, err
	}
	tickets, err := s.tickets(ctx, []graphql.UploadValues{u})
	if err != nil {
		return Upload{}, err
	}
	return tickets[0], nil
}

// mayReplace asks Hasura, as the caller, for the right to update the file: by
// setting the given columns, or without any by appending nothing to metadata,
// or by setting the name it has where the role may not touch metadata.
func mayReplace(ctx context.Context, caller graphql.Caller, f *graphql.File, set graphql.FileChanges) error {
	if set.Name == nil && set.Metadata == nil {
		if same := nothingToAppend(f.Metadata); same != nil {
			done, err := graphql.TouchFile(ctx, caller, f.Id, same)
			if err == nil {
				return oneRow(done.Touched.Affected_rows)
			}
			if !errors.Is(err, graphql.ErrNotAllowed) {
				return hasuraError(err)
			}
		}
		if f.Name == nil {
			return Errorf(NotAllowed, "the session may not update the file's metadata, and the file has no name to set instead")
		}
		set.Name = f.Name
	}
	done, err := graphql.UpdateFile(ctx, caller, f.Id, set)
	if err != nil {
		return hasuraError(err)
	}
	return oneRow(done.Updated.Affected_rows)
}

func oneRow(affected int) error {
	if affected != 1 {
		return errNoRowToUpdate
	}
	return nil
}

// errNoRowToUpdate is a permission's no to a row, and not to the role.
var errNoRowToUpdate = Errorf(NotAllowed, "the session may not update the file")

// nothingToAppend returns what leaves a jsonb value as it is when appended with
// Hasura's _append: {} for an object or NULL, [] for an array, nil for anything else.
func nothingToAppend(value *json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("{}")
	}
	switch text := bytes.TrimSpace(*value); {
	case len(text) == 0, text[0] == '{', string(text) == "null":
		return json.RawMessage("{}")
	case text[0] == '[':
		return json.RawMessage("[]")
	}
	return nil
}

// askAgain asks for the right to replace right before the switch, as the session
// that opened the upload, and writes the name and metadata given with it.
func (s *Storage) askAgain(ctx context.Context, u upload) error {
	var stored Session
	if u.Session == nil || json.Unmarshal(*u.Session, &stored) != nil {
		return Errorf(NotAllowed, "the upload has no session to ask as")
	}
	caller, err := s.as(stored)
	if err != nil {
		return err
	}
	f, err := s.file(ctx, u.File_id) // as it is now: setting what it was would take a change back
	switch {
	case err != nil:
		return err
	case f == nil:
		return errDeletedMeanwhile
	case u.If_match != nil && !sameETag(*u.If_match, deref(f.Etag)):
		return errNotTheVersion
	}
	set := graphql.FileChanges{Name: u.Name}
	if u.Metadata != nil && string(*u.Metadata) != "null" {
		set.Metadata = *u.Metadata
	}
	return mayReplace(ctx, caller, f, set)
}
