package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hasura-storage/cmd/hasura-storage/project"
	metadata "hasura-storage/hasura-metadata"
)

// commandPatience is how long a command waits for Hasura: somebody is watching.
const commandPatience = 10 * time.Second

// runMetadata is the commands of the Hasura project: export, apply and diff.
func runMetadata(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: metadata needs export, apply or diff", errUsage)
	}
	verb := args[0]
	flags := flag.NewFlagSet("metadata "+verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	starter := flags.Bool("starter", false, "")
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if verb == "export" {
		if flags.NArg() != 1 {
			return fmt.Errorf("%w: metadata export takes one folder", errUsage)
		}
		return exportProject(flags.Arg(0), *starter, out)
	}
	if flags.NArg() != 0 {
		return fmt.Errorf("%w: metadata %s takes no argument such as %q", errUsage, bare(verb), bare(flags.Arg(0)))
	}
	switch verb {
	case "apply":
		return applyProject(ctx, getenv, *starter, out)
	case "diff":
		return diffProject(ctx, getenv, *starter, out)
	}
	return fmt.Errorf("%w: metadata has no command %q", errUsage, bare(verb))
}

func exportProject(dir string, starter bool, out io.Writer) error {
	files := metadata.Project()
	if starter {
		var err error
		if files, err = metadata.WithStarter(); err != nil {
			return err
		}
	}
	count, err := export(files, dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %d files; next: hasura migrate apply, hasura metadata apply, hasura metadata reload\n", count)
	return err
}

// hasura is the Hasura that the environment names, with all of the project.
func hasura(getenv func(string) string, starter bool) (project.Options, error) {
	var missing []error
	need := func(name string) string {
		value := strings.TrimSpace(getenv(name))
		if value == "" {
			missing = append(missing, fmt.Errorf("%s is required", name))
		}
		return value
	}
	o := project.Options{
		Endpoint: need("HASURA_ENDPOINT"), AdminSecret: need("HASURA_GRAPHQL_ADMIN_SECRET"),
		Source: strings.TrimSpace(getenv("HASURA_DB_NAME")), Services: true, Starter: starter,
		Reload: true, Patience: commandPatience,
	}
	return o, errors.Join(missing...)
}

func applyProject(ctx context.Context, getenv func(string) string, starter bool, out io.Writer) error {
	o, err := hasura(getenv, starter)
	if err != nil {
		return err
	}
	report, err := project.Apply(ctx, o)
	var b strings.Builder
	for _, change := range report.Done {
		fmt.Fprintf(&b, "+ %s\n", change)
	}
	for _, remark := range slices.Concat(report.Remarks, report.Unusable) {
		fmt.Fprintf(&b, "! %s\n", remark)
	}
	if b.Len() == 0 && err == nil && report.Missing == "" {
		b.WriteString("Hasura has all of it\n")
	}
	if report.Missing != "" {
		err = errors.Join(err, errors.New(report.Missing))
	}
	return errors.Join(write(out, b.String()), err)
}

func diffProject(ctx context.Context, getenv func(string) string, starter bool, out io.Writer) error {
	o, err := hasura(getenv, starter)
	if err != nil {
		return err
	}
	plan, err := project.Diff(ctx, o)
	if err != nil {
		return err
	}
	return write(out, cmp.Or(plan.String(), "Hasura has all of it\n"))
}

// export writes what the Hasura CLI reads of the project into dir, and returns
// how many files. It replaces no file: somebody may have changed it.
func export(files fs.FS, dir string) (int, error) {
	var names []string
	var taken []error
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
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
		if err := copyFile(files, name, dir); err != nil {
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

func copyFile(files fs.FS, name, dir string) error {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	target := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // part of a project, not of a secret
		return err
	}
	return os.WriteFile(target, content, 0o644) //nolint:gosec // as above
}
