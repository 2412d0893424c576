package metadata

import (
	"bytes"
	"io/fs"
	"path"
	"time"
)

// overlay is base with the contents of some of its files replaced.
type overlay struct {
	base  fs.FS
	files map[string][]byte
}

// Open opens the replaced file if there is one, and base's otherwise.
func (o overlay) Open(name string) (fs.File, error) {
	if content, ok := o.files[name]; ok {
		return &memoryFile{memoryInfo{path.Base(name), int64(len(content))}, bytes.NewReader(content)}, nil
	}
	return o.base.Open(name)
}

// memoryFile is a replaced file that is open.
type memoryFile struct {
	info memoryInfo
	*bytes.Reader
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memoryFile) Close() error               { return nil }

// memoryInfo describes a replaced file.
type memoryInfo struct {
	name string
	size int64
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) Mode() fs.FileMode  { return 0o444 }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return false }
func (i memoryInfo) Sys() any           { return nil }
