package migrate

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Check reports whether source is a connection string: a URL such as
// postgres://user:password@host:5432/database?sslmode=disable, or keywords and
// values. It talks to nobody, and its error does not repeat the source, which
// holds a password.
func Check(source string) error {
	_, err := parse(source)
	return err
}

func parse(source string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(source)
	if err != nil {
		return nil, errors.New("is no connection string of Postgres such as postgres://user:password@host:5432/database")
	}
	config.ConnectTimeout = connectTime
	// Nothing is prepared: poolers may hand each transaction another connection.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	for name := range config.RuntimeParams {
		if strings.HasPrefix(name, "x-") { // golang-migrate's own, which a server would refuse
			delete(config.RuntimeParams, name)
		}
	}
	config.RuntimeParams["application_name"] = "hasura-storage"
	return config, nil
}

// unreachableError is a connection that could not be made.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// passingCodes are what Postgres says of conditions that end by themselves.
// Classes have two letters.
var passingCodes = map[string]bool{
	"55P03": true,                               // the lock was not free in time
	"40P01": true,                               // deadlock
	"40001": true,                               // serialization failure
	"57P01": true, "57P02": true, "57P03": true, // it stops, or it starts
	"08": true, "53": true, // connections and resources
}

// passing reports whether another try may end better. Whatever keeps a
// connection from being made is passing: while a whole deployment comes up,
// even the role and the database may be made later than this program starts.
func passing(err error) bool {
	if _, ok := errors.AsType[*unreachableError](err); ok {
		return true
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return passingCodes[refused.Code] || passingCodes[refused.Code[:min(2, len(refused.Code))]]
	}
	return pgconn.SafeToRetry(err) || brokenOff(err)
}

// brokenOff reports whether the connection ended in the middle. The step's
// transaction is gone with it, or complete: the next try finds out.
func brokenOff(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}
