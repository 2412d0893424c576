package telemetry

import (
	"context"
	"errors"
	"net/http"

	"hasura-storage/graphql"
)

// The outcomes of what is asked of others, and of work of our own.
const (
	okay        = "ok"
	refused     = "refused"     // a clear no
	unavailable = "unavailable" // no answer, or a fault of the other side
	failed      = "failed"      // of our own work
	cancelled   = "cancelled"   // nobody waited any more
)

// asked tells what came of a request to Hasura.
func asked(err error) string {
	switch {
	case err == nil:
		return okay
	case errors.Is(err, context.Canceled):
		return cancelled
	case errors.Is(err, graphql.ErrUnavailable), errors.Is(err, graphql.ErrUnknownOutcome):
		return unavailable
	default:
		return refused
	}
}

// called tells what came of a request to the store. Not to have an object is an
// answer, too, and many are asked for to find that out.
func called(answer *http.Response, err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return cancelled
	case err != nil, answer.StatusCode >= http.StatusInternalServerError:
		return unavailable
	case answer.StatusCode >= http.StatusBadRequest:
		return refused
	default:
		return okay
	}
}

// worked tells what came of work of our own.
func worked(err error) string {
	switch {
	case err == nil:
		return okay
	case errors.Is(err, context.Canceled):
		return cancelled
	default:
		return failed
	}
}
