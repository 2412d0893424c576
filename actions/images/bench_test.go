package images_test

import (
	"context"
	"testing"

	"hasura-storage/actions/images"
)

func BenchmarkTransform(b *testing.B) {
	for name, s := range map[string]images.Spec{
		"photo_12mp.jpg":               {Width: 600},
		"photo_3mp.jpg":                {Width: 600},
		"seeding_16mp_progressive.jpg": {Width: 600},
	} {
		src := sample(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := images.Transform(context.Background(), src, s, images.DefaultLimits()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
