// Command bench compares transforms of this package with the plain way in Go – image/jpeg and imaging – and with libvips, by the CPU time and the
// peak memory of child processes in one run, and prints a Markdown table. It needs vipsthumbnail (Debian: libvips-tools) for libvips' rows; without it
// they are left out. Run it from the repository's root:
//
//	go run -tags nodynamic ./actions/images/bench
//
// Each figure is the difference between a child that transforms one file and a child that transforms several copies, divided by their number: the
// start of a process does not count. Candidates take turns in each round, and the median of the rounds is given.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hasura-storage/actions/images"
)

// task is one row of the table.
type task struct {
	title, file string
	format      images.Format
	width       int
	quality     int
	copies      int
}

// tasks are those that docs/images.md promises something about.
var tasks = []task{
	{"12 MP to 600 wide JPEG", "photo_12mp.jpg", images.JPEG, 600, 85, 8},
	{"12 MP to 200 wide JPEG", "photo_12mp.jpg", images.JPEG, 200, 85, 8},
	{"12 MP to 1200 wide JPEG", "photo_12mp.jpg", images.JPEG, 1200, 85, 6},
	{"3 MP to 600 wide JPEG", "photo_3mp.jpg", images.JPEG, 600, 85, 16},
	{"3 MP progressive to 600 wide JPEG", "photo_3mp_progressive.jpg", images.JPEG, 600, 85, 12},
	{"3 MP 4:4:4 to 600 wide JPEG", "photo_3mp_444.jpg", images.JPEG, 600, 85, 12},
	{"16 MP progressive to 600 wide JPEG", "seeding_16mp_progressive.jpg", images.JPEG, 600, 85, 4},
	{"12 MP to 600 wide WebP", "photo_12mp.jpg", images.WebP, 600, 80, 6},
	{"12 MP to 600 wide PNG", "photo_12mp.jpg", images.PNG, 600, 0, 6},
	{"0.3 MP to 300 wide JPEG", "photo_03mp.jpg", images.JPEG, 300, 85, 40},
	{"0.1 MP PNG to 200 wide PNG", "rgba.png", images.PNG, 200, 0, 40},
}

func main() {
	child := flag.String("child", "", "what a child process is to do: ours, plain or likeness")
	spec := flag.String("spec", "", "for a child: the canonical form of what is wanted")
	rounds := flag.Int("rounds", 5, "how many times each candidate has its turn")
	only := flag.String("only", "", "run only tasks whose title contains this")
	samples := flag.String("samples", "actions/images/testdata", "folder of the sample pictures")
	flag.Parse()
	if *child != "" {
		work(*child, *spec, flag.Args())
		return
	}
	if err := table(*samples, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// work is a child's life: it transforms each file and leaves the result beside it, or compares the results.
func work(how, spec string, files []string) {
	s, err := images.ParseCanonical(spec)
	if err == nil && how == "likeness" {
		fmt.Print(likeness(s, files))
		return
	}
	for _, name := range files {
		var src, out []byte
		if err == nil {
			src, err = os.ReadFile(name)
		}
		if err == nil && how == "plain" {
			out, err = plain(src, s)
		} else if err == nil {
			out, err = ours(src, s)
		}
		if err == nil {
			err = os.WriteFile(name+"."+how, out, 0o600) //nolint:gosec // the parent names the file
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ours(src []byte, s images.Spec) ([]byte, error) {
	res, err := images.Transform(context.Background(), src, s, images.DefaultLimits())
	return res.Bytes, err
}

func table(samples string, rounds int, only string) error {
	dir, err := os.MkdirTemp("", "bench-images-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Println("| transform | ours: ms, MB | plain Go: ms, MB | libvips: ms, MB | ours / plain | ours / libvips | SSIM ours, libvips |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, t := range tasks {
		if !strings.Contains(t.title, only) {
			continue
		}
		if err := t.row(filepath.Join(samples, t.file), dir, rounds); err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
	}
	return nil
}
