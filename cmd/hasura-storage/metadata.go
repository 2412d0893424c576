package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	metadata "hasura-storage/hasura-metadata"
)

// runMetadata is `metadata export [-starter] DIR`.
func runMetadata(args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "export" {
		return fmt.Errorf("%w: metadata can only export", errUsage)
	}
	flags := flag.NewFlagSet("metadata export", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	starter := flags.Bool("starter", false, "")
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("%w: metadata export takes one folder", errUsage)
	}
	project := metadata.Project()
	if *starter {
		var err error
		if project, err = metadata.WithStarter(); err != nil {
			return err
		}
	}
	count, err := export(project, flags.Arg(0))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %d files; next: hasura migrate apply, hasura metadata apply, hasura metadata reload\n", count)
	return err
}

// export writes what the Hasura CLI reads of the project into dir, and returns
// how many files. It replaces no file: somebody may have changed it.
func export(project fs.FS, dir string) (int, error) {
	var names []string
	var taken []error
	err := fs.WalkDir(project, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !exported(name) {
			return err
		}
		names = append(names, name)
		target := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
			taken = append(taken, fmt.Errorf("%s is there already", target))
		}
		return nil
	})
	if err := errors.Join(append(taken, err)...); err != nil {
		return 0, fmt.Errorf("nothing was written:\n%w", err)
	}
	for _, name := range names {
		if err := copyFile(project, name, dir); err != nil {
			return 0, err
		}
	}
	return len(names), nil
}

// exported leaves out what is not for Hasura: the starter's sources and the
// migrations for the local stack's SQLite.
func exported(name string) bool {
	return !strings.HasPrefix(name, "starter/") && !strings.HasSuffix(name, ".sqlite.sql")
}

func copyFile(project fs.FS, name, dir string) error {
	content, err := fs.ReadFile(project, name)
	if err != nil {
		return err
	}
	target := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // part of a project, not of a secret
		return err
	}
	return os.WriteFile(target, content, 0o644) //nolint:gosec // as above
}
