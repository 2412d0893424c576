package actions

import (
	"errors"
	"strings"

	"hasura-storage/graphql"
)

// The texts by which clients of nhost/hasura-storage know what happened.
var (
	errNotAuthorized = Errorf(NotAllowed, "you are not authorized")
	errNotUploaded   = Errorf(NotAllowed, "file is not uploaded")
	errNotInserted   = Errorf(NotAllowed, "file was not inserted")
	errNoBucket      = Errorf(BucketNotFound, "bucket not found")
	errNoLinks       = Errorf(PresignedURLsDisabled, "presigned URLs are not enabled on the bucket where this file is located in")
)

// restError words an answer of Hasura's as clients of the REST interface know
// it. wanted is the permission that the request needs, for whoever has to give
// it. Hasura's own words stand beside it: the caller would read them by asking
// Hasura himself.
func restError(err error, wanted string) error {
	var e *graphql.Error
	if !errors.As(err, &e) || has(err, guarded...) || has(err, AlreadyExists) {
		return err
	}
	switch e.Code {
	case "access-denied", "validation-failed", "permission-error", "permission-denied", "not-found":
		return errNotAuthorized.With("permission", wanted).With("reason", e.Message).Because(err)
	case "invalid-jwt", "jwt-invalid-claims", "jwt-missing-role-claims":
		return Errorf(Unauthenticated, "invalid or expired jwt").With("reason", e.Message).Because(err)
	case "constraint-violation":
		if strings.HasPrefix(e.Message, "Uniqueness violation") {
			return Errorf(AlreadyExists, "%s", e.Message).Because(err)
		}
		return Errorf(BadRequest, "%s", e.Message).Because(err)
	}
	return err
}
