package service

import (
	"runtime/debug"
	"testing"
	"testing/fstest"

	"go.uber.org/zap"
)

func TestMemoryLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, tc := range map[string]struct {
		root fstest.MapFS
		want int64
	}{
		"a container of today":   {fstest.MapFS{"sys/fs/cgroup/memory.max": file("536870912\n")}, 512 << 20},
		"a container of old":     {fstest.MapFS{"sys/fs/cgroup/memory/memory.limit_in_bytes": file("1000\n")}, 1000},
		"no limit":               {fstest.MapFS{"sys/fs/cgroup/memory.max": file("max\n")}, 0},
		"no limit of old":        {fstest.MapFS{"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, 0},
		"no container, no Linux": {fstest.MapFS{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := memoryLimit(tc.root); got != tc.want {
				t.Errorf("memoryLimit = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestGOMEMLIMITIsLeftAlone(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	container := fstest.MapFS{"sys/fs/cgroup/memory.max": &fstest.MapFile{Data: []byte("10000000000")}}
	for given, want := range map[string]int64{"1GiB": before, "": 9_000_000_000} {
		debug.SetMemoryLimit(before)
		c, err := load(with("GOMEMLIMIT", given))
		if err != nil {
			t.Fatal(err)
		}
		c.boundMemory(container, zap.NewNop())
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("GOMEMLIMIT=%s: the limit is %d, want %d", given, got, want)
		}
	}
}
