package s3

// InSmallParts makes the store treat everything above one smallest part as
// large, so that tests see the paths of large objects without large objects.
func InSmallParts(s *Store) *Store {
	s.limits = limits{whole: MinPart, copyPart: MinPart, putPart: MinPart}
	return s
}
