package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// benchTarget measures a server that runs elsewhere: only what its clients see.
func benchTarget(ctx context.Context, set settings) error {
	t := target{base: set.target, bucket: set.bucket, headers: set.headers}
	f, err := t.uploadAll(set)
	if err != nil {
		return err
	}
	report := newReport(os.Stdout)
	for _, c := range t.downloads(f, set.connections) {
		if !set.wants(c.name) {
			continue
		}
		r, err := c.bench(ctx, observed{addr: t.host()}, set.duration)
		if err != nil {
			return err
		}
		report.add(r)
	}
	return report.save(set.out)
}

// benchStack starts everything and measures all cases.
func benchStack(ctx context.Context, set settings) error {
	s, err := startStack(ctx, set)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.addRows(set.rows); err != nil {
		return err
	}
	t := target{base: s.base, bucket: fileBucket, headers: s.owner}
	f, err := t.uploadAll(set)
	if err != nil {
		return err
	}
	if err := s.control.setReplay(set.hasura == "replay"); err != nil {
		return err
	}
	cases := append(t.downloads(f, set.connections), t.sessions(f, set.connections), t.slowHasura(f, set.connections))
	if set.article {
		return s.article(ctx, set, cases[:5])
	}
	return s.measureAll(ctx, set, cases)
}

func (s *stack) measureAll(ctx context.Context, set settings, cases []benchCase) error {
	report := newReport(os.Stdout)
	for _, c := range cases {
		if !set.wants(c.name) {
			continue
		}
		r, err := s.measure(ctx, c, set.duration)
		if err != nil {
			return err
		}
		report.add(r)
	}
	if set.wants("upload") {
		if err := s.control.setReplay(false); err != nil {
			return err
		}
		r, err := s.benchUploads(ctx, set.duration)
		if err != nil {
			return err
		}
		report.add(r)
	}
	return report.save(set.out)
}

// measure measures one case beside its floor, in turn, so that both have the
// same neighbours on the machine.
func (s *stack) measure(ctx context.Context, c benchCase, d time.Duration) (r result, err error) {
	if err := s.control.setDelay(c.delay); err != nil {
		return r, err
	}
	defer func() { _ = s.control.setDelay(0) }()
	service := observed{target{base: s.base}.host(), s.service}
	before, err := s.control.counts()
	if err != nil {
		return r, err
	}
	if r, err = c.bench(ctx, service, d); err != nil {
		return r, err
	}
	after, err := s.control.counts()
	if err != nil {
		return r, err
	}
	r.Hasura = float64(after.Hasura-before.Hasura) / float64(r.asked)
	r.Store = float64(after.Store-before.Store) / float64(r.asked)
	if err := s.compare(ctx, c, &r, d); err != nil {
		return r, err
	}
	return r, nil
}

// compare puts the floor beside a result.
func (s *stack) compare(ctx context.Context, c benchCase, r *result, d time.Duration) error {
	if c.floor == noFloor {
		return nil
	}
	process := map[floorKind]*process{memoryFloorKind: s.memory, copyFloorKind: s.copying}[c.floor]
	floor := observed{process.Addr, process}
	same := c
	same.requests, same.once = [][]byte{get(floor.addr, fmt.Sprintf("/%d", r.Bytes), nil)}, false
	least, err := same.bench(ctx, floor, d)
	if err != nil {
		return err
	}
	r.Floor, r.Ratio = &least.Flat, float64(r.Flat.CPU)/float64(least.Flat.CPU)
	if c.alone {
		return nil
	}
	if r.Half, err = c.atRate(ctx, observed{target{base: s.base}.host(), s.service}, d, r.Flat.PerSecond/2); err != nil {
		return err
	}
	r.HalfOf, err = same.atRate(ctx, floor, d, r.Flat.PerSecond/2)
	return err
}

// addRows fills the table with files of others: what a request costs must not
// depend on how many there are.
func (s *stack) addRows(n int) error {
	if n == 0 {
		return nil
	}
	return s.control.sql(fmt.Sprintf(`insert into "storage.files" (bucket_id, name, size, mime_type)
		with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
		select '%s', 'row ' || i, 1, 'text/plain' from n`, n, fileBucket))
}
