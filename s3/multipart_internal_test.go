package s3

import (
	"slices"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

func TestOnlyTheLatestPartOfANumberCounts(t *testing.T) {
	early := time.Unix(1000, 0)
	late := early.Add(time.Second)
	listed := []minio.ObjectPart{
		{PartNumber: 1, ETag: "a", Size: 1, LastModified: late},
		{PartNumber: 1, ETag: "b", Size: 2, LastModified: early},
		{PartNumber: 2, ETag: "c", Size: 3, LastModified: early},
		{PartNumber: 3, ETag: "d", Size: 4, LastModified: early},
		{PartNumber: 3, ETag: "e", Size: 5, LastModified: early},
		{PartNumber: 4, ETag: "f", Size: 6, LastModified: early},
		{PartNumber: 4, ETag: "g", Size: 7, LastModified: early},
		{PartNumber: 4, ETag: "h", Size: 8, LastModified: late},
	}
	want := []Part{{1, `"a"`, 1}, {2, `"c"`, 3}, {4, `"h"`, 8}}
	if got := latest(listed); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
