//go:build !race

package images_test

const underRace = false
