package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// What there is at the end of the profile growth.
const (
	grownBuckets  = 10_000
	grownRows     = 1_000_000
	grownSessions = 100_000
)

// growth measures a small download again and again, while there is more of
// everything: what it costs must not depend on that.
func (s *stack) growth(ctx context.Context, set settings, t target, f files) error {
	small := t.downloads(f, set.connections)[0]
	report := newReport(os.Stdout, "growth")
	for _, step := range []struct {
		name string
		grow func() error
	}{
		{"small, as it is", func() error { return nil }},
		{fmt.Sprintf("+ %d buckets", grownBuckets), func() error { return s.addBuckets(grownBuckets) }},
		{fmt.Sprintf("+ %d files", grownRows), func() error { return s.addRows(grownRows) }},
		{fmt.Sprintf("+ %d sessions", grownSessions), func() error { return s.seeSessions(ctx, t, f, set.connections) }},
	} {
		if err := step.grow(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		small.name = step.name
		r, err := s.measure(ctx, small, set.duration)
		if err != nil {
			return err
		}
		report.add(r)
	}
	return report.save(set.out)
}

// addRows fills the table with files of others.
func (s *stack) addRows(n int) error {
	return s.addMany(n, `insert into "storage.files" (bucket_id, name, size, mime_type) %s select '`+fileBucket+`', 'row ' || i, 1, 'text/plain' from n`)
}

// addBuckets makes buckets, each with a file.
func (s *stack) addBuckets(n int) error {
	if err := s.addMany(n, `insert into "storage.buckets" (id) %s select 'bucket ' || i from n`); err != nil {
		return err
	}
	return s.addMany(n, `insert into "storage.files" (bucket_id, name, size, mime_type) %s select 'bucket ' || i, 'file', 1, 'text/plain' from n`)
}

// addMany runs a statement in which %s makes the numbers n(i) from 1 on.
func (s *stack) addMany(n int, statement string) error {
	if n == 0 {
		return nil
	}
	return s.control.sql(fmt.Sprintf(statement, fmt.Sprintf("with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)", n)))
}

// seeSessions lets many users download, each once.
func (s *stack) seeSessions(ctx context.Context, t target, f files, connections int) error {
	p := t.sessions(f, connections, grownSessions).plan(5 * time.Minute)
	p.Once = true
	_, out, err := observed{t.host(), s.service}.load(ctx, p)
	if err == nil && out.Failed > 0 {
		err = fmt.Errorf("%d failed, the first with: %s", out.Failed, out.Failure)
	}
	return err
}
