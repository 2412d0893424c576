package actions

import (
	"testing"

	"hasura-storage/graphql"
	"hasura-storage/s3"
)

func TestPartsAddUpAndAreNeverTooMany(t *testing.T) {
	const mib = int64(1) << 20
	for name, tc := range map[string]struct {
		size, part int64
		count      int
	}{
		"one byte":                         {1, 16 * mib, 1},
		"exactly one part":                 {16 * mib, 16 * mib, 1},
		"one byte more":                    {16*mib + 1, 16 * mib, 2},
		"the most parts of the least size": {160_000 * mib, 16 * mib, 10_000},
		"one byte more than those":         {160_000*mib + 1, 17 * mib, 9412},
		"six GiB":                          {6 << 30, 16 * mib, 384},
		"the largest object":               {s3.MaxObject, 525 * mib, 9987},
	} {
		t.Run(name, func(t *testing.T) {
			part := graphql.Bigint(s3.PartSize(tc.size, smallestPart))
			size := graphql.Bigint(tc.size)
			u := upload{graphql.Upload{Size: &size, Part_size: &part}}
			if int64(part) != tc.part || u.partCount() != tc.count {
				t.Errorf("%d parts of %d bytes", u.partCount(), part)
			}
			var sum int64
			for n := 1; n <= u.partCount(); n++ {
				length := u.lengthOf(n)
				if length < 1 || length > s3.MaxPut || n < u.partCount() && length < s3.MinPart {
					t.Fatalf("part %d has %d bytes", n, length)
				}
				sum += length
			}
			if sum != tc.size || u.partCount() > s3.MaxParts {
				t.Errorf("%d parts have %d bytes together", u.partCount(), sum)
			}
		})
	}
}
