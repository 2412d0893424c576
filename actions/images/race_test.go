//go:build race

package images_test

// underRace: the race detector makes the compiler of the WebAssembly codecs and the loops over pixels many times slower, and there is one goroutine
// in nearly all of them.
const underRace = true
