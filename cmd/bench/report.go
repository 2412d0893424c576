package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// report prints results as they come, and keeps them.
type report struct {
	out     io.Writer
	name    string // of the file with the results
	results []result
}

func newReport(out io.Writer, name string) *report {
	fmt.Fprint(out, name+": CPU is the server's processor time per request; ratio is that to the floor's, in the same run.\n\n")
	return &report{out: out, name: name}
}

func (r *report) add(one result) {
	if len(r.results) == 0 {
		fmt.Fprintf(r.out, "%-28s %9s %5s %9s %9s %9s %9s %9s %10s %6s %6s %7s %7s %7s\n", "case", "bytes", "conns", "req/s", "min", "p50", "p95", "p99", "CPU", "ratio", "aim", "hasura", "store", "peak")
	}
	r.results = append(r.results, one)
	fmt.Fprintf(r.out, "%-28s %9d %5d %s %10s %6s %6s %7.3f %7.3f %7s\n", one.Case, one.Bytes, one.Workers, one.Flat.columns(),
		short(one.Flat.CPU), ratio(one.Ratio), ratio(one.Most), one.Hasura, one.Store, mebibytes(one.Peak))
	r.line("at half the rate", one.Half)
	r.line("floor", one.Floor)
	r.line("floor, that rate", one.HalfOf)
	r.line("Hasura alone, asked as often", one.Engine)
	if one.Late > 0 {
		fmt.Fprintf(r.out, "  %-42s %39s\n", "p95 aim: 2 × Hasura's + 3 × the floor's", short(one.Late))
	}
	if one.Half != nil && one.HalfOf != nil {
		fmt.Fprintf(r.out, "  %-42s %60.2f\n", "ratio at that rate", float64(one.Half.CPU)/float64(one.HalfOf.CPU))
	}
	if one.Flat.Failed > 0 {
		fmt.Fprintf(r.out, "  %d FAILED, the first with: %s\n", one.Flat.Failed, one.Flat.Failure)
	}
}

func (r *report) line(name string, n *numbers) {
	if n != nil {
		fmt.Fprintf(r.out, "  %-42s %s %10s\n", name, n.columns(), short(n.CPU))
	}
}

// columns are those that a case and its floor have in common.
func (n numbers) columns() string {
	return fmt.Sprintf("%9.1f %9s %9s %9s %9s", n.PerSecond, short(n.Least), short(n.Median), short(n.P95), short(n.P99))
}

// save writes the results as JSON and the plots into a folder, if there is to be one.
func (r *report) save(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	content, err := json.MarshalIndent(r.results, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, r.name+".json"), append(content, '\n'), 0o600); err != nil {
		return err
	}
	if r.name != "results" {
		return nil
	}
	return os.WriteFile(filepath.Join(folder, "cpu.svg"), []byte(r.bars()), 0o600)
}

// short writes a time with three digits.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0fms", d.Seconds()*1e3)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3gms", d.Seconds()*1e3)
	default:
		return fmt.Sprintf("%.3gµs", d.Seconds()*1e6)
	}
}

func ratio(r float64) string {
	if r == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", r)
}

func mebibytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fM", float64(n)/(1<<20))
}
