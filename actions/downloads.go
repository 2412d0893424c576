package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"hasura-storage/graphql"
)

// Downloads hands out links to many files at once: those of the ids that the
// session may select, or those that its own condition finds. Files that cannot
// be read are left out, and one of which no picture can be made gets its plain link.
func (s *Storage) Downloads(ctx context.Context, as Session, in GetDownloads) ([]Download, error) {
	caller, err := s.as(as)
	if err != nil {
		return nil, err
	}
	single := GetDownload{ExpiresIn: in.ExpiresIn, Disposition: in.Disposition, Image: in.Image}
	if err := single.validate(); err != nil {
		return nil, err
	}
	if err := s.mayChoose(as.Role(), in.Image); err != nil {
		return nil, err
	}
	if err := s.validImage(in.Image); err != nil {
		return nil, err
	}
	ids, err := s.chosen(ctx, caller, in)
	if err != nil || len(ids) == 0 {
		return []Download{}, err
	}
	// Which files may be seen was asked as the caller.
	byID, err := s.loader.Files(ctx, ids)
	if err != nil {
		return nil, hasuraError(err)
	}
	links := make([]Download, 0, len(ids))
	for _, id := range ids {
		f := byID[id]
		if f == nil || !s.readable(f) {
			continue
		}
		one, err := s.linkTo(ctx, as, f, single)
		if err != nil {
			return nil, err
		}
		links = append(links, one)
	}
	return links, nil
}

// linkTo makes one link of a gallery: a plain one where no picture can be made
// of the file. The arguments are valid: what is wrong with a picture is wrong with
// this file, or with its bucket's preset.
func (s *Storage) linkTo(ctx context.Context, as Session, f *graphql.File, in GetDownload) (Download, error) {
	one, err := s.link(ctx, as, f, in)
	if in.Image != nil && has(err, BadRequest, NotAnImage, ImageTooLarge) {
		in.Image = nil
		return s.link(ctx, as, f, in)
	}
	return one, err
}

// chosen returns the ids of the files that are asked for and that the caller may
// see, in the order asked for.
func (s *Storage) chosen(ctx context.Context, caller graphql.Caller, in GetDownloads) ([]string, error) {
	where := bytes.TrimSpace(in.Where)
	byCondition := len(where) > 0 && string(where) != "null"
	if byCondition == (in.IDs != nil) {
		return nil, Errorf(BadRequest, "give either ids or where")
	}
	if byCondition {
		return in.found(ctx, caller)
	}
	ids, err := validIDs("ids", in.IDs)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	may, err := s.visible(ctx, caller, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !may[id] }), nil
}

// found runs the caller's own condition.
func (in GetDownloads) found(ctx context.Context, caller graphql.Caller) ([]string, error) {
	var where graphql.Condition
	if err := json.Unmarshal(in.Where, &where); err != nil {
		return nil, Errorf(BadRequest, "where must be an object, a files_bool_exp")
	}
	order, err := in.order()
	if err != nil {
		return nil, err
	}
	limit, offset := maxIDs, deref(in.Offset)
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 0 || limit > maxIDs || offset < 0 {
		return nil, Errorf(BadRequest, "limit must be between 0 and %d, offset not negative", maxIDs)
	}
	seen, err := graphql.FindFiles(ctx, caller, where, order, limit, offset)
	if err != nil {
		return nil, hasuraError(err)
	}
	ids := make([]string, 0, len(seen.Files))
	for _, f := range seen.Files {
		ids = append(ids, f.Id)
	}
	return ids, nil
}

// order returns orderBy as a list.
func (in GetDownloads) order() ([]json.RawMessage, error) {
	order := bytes.TrimSpace(in.OrderBy)
	switch {
	case len(order) == 0, string(order) == "null":
		return []json.RawMessage{}, nil
	case order[0] == '{':
		return []json.RawMessage{order}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(order, &list); err != nil {
		return nil, Errorf(BadRequest, "orderBy must be a files_order_by or a list of them")
	}
	return list, nil
}
