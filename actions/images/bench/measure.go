package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"hasura-storage/actions/images"
)

// candidate is a way to do the work, in a process of its own.
type candidate struct {
	name string
	// command returns the process that transforms the files.
	command func(t task, files []string) *exec.Cmd
	// result returns where the process leaves the result of a file.
	result func(t task, file string) string
}

// usage is what a child took.
type usage struct {
	cpu float64 // ms
	rss float64 // MB
}

func candidates() []candidate {
	self, _ := os.Executable()
	own := func(how string) candidate {
		return candidate{how, func(t task, files []string) *exec.Cmd {
			//nolint:gosec // this program itself
			return exec.CommandContext(context.Background(), self, append([]string{"-child", how, "-spec", t.spec()}, files...)...)
		}, func(_ task, file string) string { return file + "." + how }}
	}
	list := []candidate{own("ours"), own("plain")}
	if vips, err := exec.LookPath("vipsthumbnail"); err == nil {
		list = append(list, candidate{"libvips", func(t task, files []string) *exec.Cmd {
			//nolint:gosec // found in PATH by its name
			c := exec.CommandContext(context.Background(), vips, append([]string{"-s", fmt.Sprintf("%dx", t.width), "-o", "%s.vips" + t.vipsSuffix()}, files...)...)
			c.Env = append(os.Environ(), "VIPS_CONCURRENCY=1")
			return c
		}, vipsResult})
	}
	return list
}

func (t task) spec() string {
	return images.Spec{Width: t.width, Format: t.format, Quality: t.quality}.Canonical()
}

func (t task) vipsSuffix() string {
	switch t.format {
	case images.PNG:
		return ".png"
	case images.WebP:
		return fmt.Sprintf(".webp[Q=%d]", t.quality)
	default:
	}
	return fmt.Sprintf(".jpg[Q=%d]", t.quality)
}

func vipsResult(t task, file string) string {
	suffix := map[images.Format]string{images.JPEG: "jpg", images.PNG: "png", images.WebP: "webp"}[t.format]
	base := file[:len(file)-len(filepath.Ext(file))]
	return base + ".vips." + suffix
}

// row measures a task and prints its line.
func (t task) row(src, dir string, rounds int) error {
	files, err := t.copy(src, dir)
	if err != nil {
		return err
	}
	list := candidates()
	took := make([][]usage, len(list))
	for range rounds {
		for i, c := range list {
			u, err := t.measure(c, files)
			if errors.Is(err, errNotDone) {
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took[i] = append(took[i], u)
		}
	}
	t.print(src, files[0], list, took)
	return nil
}

// copy makes copies of the source: libvips remembers what it did to a name.
func (t task) copy(src, dir string) ([]string, error) {
	b, err := os.ReadFile(src)
	if err != nil {
		return nil, err
	}
	var files []string
	for i := range t.copies + 1 {
		name := filepath.Join(dir, fmt.Sprintf("%d%s", i, filepath.Ext(src)))
		if err := os.WriteFile(name, b, 0o600); err != nil { //nolint:gosec // in a folder made for it
			return nil, err
		}
		files = append(files, name)
	}
	return files, nil
}

var errNotDone = errors.New("this candidate does not do that")

// measure returns what one transform takes.
func (t task) measure(c candidate, files []string) (usage, error) {
	if c.name == "plain" && (t.format == images.WebP || filepath.Ext(files[0]) == ".webp") {
		return usage{}, errNotDone
	}
	one, err := run(c.command(t, files[:1]))
	if err != nil {
		return usage{}, err
	}
	all, err := run(c.command(t, files))
	return usage{cpu: (all.cpu - one.cpu) / float64(t.copies), rss: one.rss}, err
}

func run(c *exec.Cmd) (usage, error) {
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return usage{}, err
	}
	r, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return usage{}, errors.New("this system does not say what a child used")
	}
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return usage{cpu: float64(cpu.Microseconds()) / 1000, rss: float64(r.Maxrss) / 1024}, nil
}

// print writes the medians. Ratios are those of the same round.
func (t task) print(src, first string, list []candidate, took [][]usage) {
	fmt.Printf("| %s |", t.title)
	for i := range 3 {
		if i >= len(list) || len(took[i]) == 0 {
			fmt.Print(" – |")
			continue
		}
		fmt.Printf(" %.1f, %.0f |", median(took[i], usage.time), median(took[i], usage.memory))
	}
	for i := 1; i < 3; i++ {
		if i >= len(list) || len(took[i]) != len(took[0]) {
			fmt.Print(" – |")
			continue
		}
		var ratio []usage
		for n, u := range took[i] {
			ratio = append(ratio, usage{cpu: took[0][n].cpu / u.cpu})
		}
		fmt.Printf(" %.2f |", median(ratio, usage.time))
	}
	fmt.Printf(" %s |\n", t.likeness(src, first, list))
}

// likeness asks a child, whose memory then does not count as that of the children to come.
func (t task) likeness(src, first string, list []candidate) string {
	self, _ := os.Executable()
	args := []string{"-child", "likeness", "-spec", t.spec(), src}
	for _, c := range list {
		if c.name != "plain" {
			args = append(args, c.result(t, first))
		}
	}
	out, _ := exec.CommandContext(context.Background(), self, args...).Output() //nolint:gosec // this program itself
	return string(out)
}

func (u usage) time() float64   { return u.cpu }
func (u usage) memory() float64 { return u.rss }

func median(list []usage, of func(usage) float64) float64 {
	v := make([]float64, 0, len(list))
	for _, u := range list {
		v = append(v, of(u))
	}
	slices.Sort(v)
	return v[len(v)/2]
}
