package actions

import (
	"time"

	"hasura-storage/graphql"
)

// Precondition says whether a request may go on with the version of a file that
// it finds. It returns the error to answer with.
type Precondition func(Version) error

// Version is what conditions of a request are about.
type Version struct {
	ETag         string // with its quotes
	LastModified time.Time
}

func versionIn(f *graphql.File) Version {
	return Version{ETag: deref(f.Etag), LastModified: f.UpdatedAt}
}
