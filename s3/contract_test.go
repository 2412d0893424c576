package s3_test

import (
	"testing"

	"hasura-storage/s3/s3test"
)

func TestContractOnTheLocalServer(t *testing.T) {
	s3test.Contract(t, s3test.Open(t, s3test.Local(t)))
}
