// Package metadata carries the Hasura CLI project of the storage service: the metadata of its
// tables, actions and triggers, and the migrations that make the tables.
//
// The folder is a project of its own, which the Hasura CLI applies as it is. The package is how the
// service and the tools for development find the same files without the folder.
package metadata

import (
	"embed"
	"io/fs"
)

// FS is the project as it stands in the folder: config.yaml, metadata, migrations and starter.
//
//go:embed config.yaml metadata migrations starter
var FS embed.FS

// Project returns the project without permissions of any role. Its root holds metadata and
// migrations; fs.Sub(Project(), "metadata") is what an engine loads.
func Project() fs.FS { return FS }
