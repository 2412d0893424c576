package actions

import (
	"context"
)

// maxSignedParts is how many URLs one call of storageUploadParts signs.
const maxSignedParts = 1000

// UploadParts tells which parts of an upload have arrived and signs URLs for
// those that are asked for, or for the first that are missing. It prolongs the
// ticket, so that an app that was killed goes on another day. A part of the
// wrong size counts as missing.
func (s *Storage) UploadParts(ctx context.Context, as Session, in ListParts) (Parts, error) {
	if _, err := s.as(as); err != nil {
		return Parts{}, err
	}
	u, err := s.partsTicket(ctx, in)
	if err != nil {
		return Parts{}, err
	}
	expires := s.now().Add(multipartTicket)
	if err := s.place(ctx, u, expires); err != nil {
		return Parts{}, err
	}
	arrived, err := s.partsOf(ctx, u)
	if err != nil {
		return Parts{}, err
	}
	answer := Parts{
		UploadID: u.Id, FileID: u.File_id, PartSize: int64(*u.Part_size), PartCount: u.partCount(),
		Uploaded: []ArrivedPart{}, Missing: []Part{}, ExpiresAt: expires.UTC(),
	}
	have := map[int]bool{}
	for _, p := range arrived {
		have[p.Number] = true
		answer.Uploaded = append(answer.Uploaded, ArrivedPart{PartNumber: p.Number, ETag: p.ETag, Size: p.Size})
	}
	for _, n := range wantedParts(in.PartNumbers, have, answer.PartCount) {
		part, err := s.signPart(ctx, u, n, uploadLife(&u.File.Bucket))
		if err != nil {
			return Parts{}, err
		}
		answer.Missing = append(answer.Missing, part)
	}
	return answer, nil
}

// partsTicket returns the open upload in parts that a ticket stands for.
func (s *Storage) partsTicket(ctx context.Context, in ListParts) (upload, error) {
	id, err := validID("uploadId", in.UploadID)
	if err != nil {
		return upload{}, err
	}
	u, err := s.upload(ctx, id)
	switch {
	case err != nil:
		return u, err
	case !u.isOpen():
		return u, errNoUpload
	case u.File == nil:
		return u, errDeletedMeanwhile
	case !u.isMultipart() || u.Multipart_id == nil:
		return u, Errorf(BadRequest, "the upload is not one in parts")
	case len(in.PartNumbers) > maxSignedParts:
		return u, Errorf(BadRequest, "partNumbers holds %d numbers, at most %d are allowed", len(in.PartNumbers), maxSignedParts)
	}
	for _, n := range in.PartNumbers {
		if n < 1 || n > u.partCount() {
			return u, Errorf(BadRequest, "partNumbers must lie between 1 and %d", u.partCount())
		}
	}
	return u, nil
}

// wantedParts are those that were asked for, or the first missing ones.
func wantedParts(asked []int, have map[int]bool, count int) []int {
	if asked != nil {
		return asked
	}
	var missing []int
	for n := 1; n <= count && len(missing) < firstParts; n++ {
		if !have[n] {
			missing = append(missing, n)
		}
	}
	return missing
}
