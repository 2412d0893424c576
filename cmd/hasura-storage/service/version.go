package service

import "runtime/debug"

// version is set by the linker: -X hasura-storage/cmd/hasura-storage/service.version=1.2.3
var version string

// Version is the release, or the commit that the binary was built from, or "dev".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return "dev"
}
