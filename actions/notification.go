package actions

import (
	"context"
	"strings"

	"go.uber.org/zap"

	"hasura-storage/graphql"
)

// maxHints is how many keys one notification may name.
const maxHints = 1000

// Hinted says how many uploads a notification of the store began to complete.
type Hinted struct {
	Completing int `json:"completing"`
}

// Arrived takes the store's word that objects were written at these keys as a
// hint: what a client has sent is completed at once, as the sweep would do a
// little later. Nothing else comes of it, so a lie or a repeat does no harm, and
// an error is only worth a new try of whoever sent it.
func (s *Storage) Arrived(ctx context.Context, keys []string) (Hinted, error) {
	if len(keys) > maxHints {
		return Hinted{}, Errorf(BadRequest, "the notification names %d objects, at most %d are taken", len(keys), maxHints)
	}
	staged := []string{}
	for _, key := range keys {
		if strings.HasPrefix(key, s.keys.staging("")) {
			staged = append(staged, key)
		}
	}
	if len(staged) == 0 {
		return Hinted{}, nil
	}
	// Admin: uploads are the service's own.
	found, err := graphql.StagedUploads(ctx, s.hasura.Admin(), staged)
	if err != nil {
		return Hinted{}, hasuraError(err)
	}
	var done Hinted
	for _, row := range found.Uploads {
		if s.completeSoon(ctx, upload{row}) {
			done.Completing++
		}
	}
	return done, nil
}

// completeSoon completes an upload without keeping anybody waiting, and reports
// whether it began to.
func (s *Storage) completeSoon(ctx context.Context, u upload) bool {
	if u.Kind == kindREST { // its request completes it
		return false
	}
	_, err := s.completions.join(ctx, u.Id, func(ctx context.Context) error {
		arrived, err := s.hasArrived(ctx, u)
		if err == nil && arrived {
			err = s.complete(ctx, u, nil)
		}
		if err != nil {
			s.log.Debug("what a notification named was not completed", zap.String("file_id", u.File_id), zap.Error(err))
		}
		return err
	})
	return err == nil
}
