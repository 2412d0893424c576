//go:build second

package s3_test

import (
	"testing"

	"hasura-storage/s3/s3test"
)

// TestContractOnAnotherServer is compiled only where there is one, so that
// nowhere else a test is skipped; see second-server.sh.
func TestContractOnAnotherServer(t *testing.T) {
	s3test.Contract(t, s3test.Store(t))
}
