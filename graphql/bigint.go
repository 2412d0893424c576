package graphql

import (
	"bytes"
	"fmt"
	"strconv"
)

// Bigint is a Postgres bigint. Hasura writes it as a JSON number, or as a
// string with HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES; both are read.
type Bigint int64

// UnmarshalJSON reads 12 and "12"; null leaves the value alone.
func (b *Bigint) UnmarshalJSON(data []byte) error {
	text := bytes.Trim(data, `"`)
	if string(text) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is not a bigint", data)
	}
	*b = Bigint(n)
	return nil
}
