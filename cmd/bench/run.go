package main

import (
	"context"
	"errors"
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
	report := newReport(os.Stdout, "results")
	for _, c := range t.downloads(f, set.connections) {
		if !set.wants(c.name) {
			continue
		}
		one := &trial{benchCase: c, observed: observed{addr: t.host()}}
		r, err := c.result(ctx, one.addr)
		if err := errors.Join(err, one.measure(ctx, set.duration)); err != nil {
			return err
		}
		r.Flat = one.numbers()
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
	if err := s.addBuckets(set.buckets); err != nil {
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
	cases := append(t.downloads(f, set.connections), t.sessions(f, set.connections, manySessions), t.slowHasura(f, set.connections))
	profiles := map[string]func() error{
		"":        func() error { return s.measureAll(ctx, set, cases) },
		"article": func() error { return s.article(ctx, set, cases[:5]) },
		"growth":  func() error { return s.growth(ctx, set, t, f) },
		"soak":    func() error { return s.soak(ctx, set, t, f) },
	}
	profiles["all"] = func() error {
		if err := profiles[""](); err != nil {
			return err
		}
		if err := s.control.setReplay(set.hasura == "replay"); err != nil { // uploads have ended that
			return err
		}
		return profiles["article"]()
	}
	return profiles[set.profile]()
}

func (s *stack) measureAll(ctx context.Context, set settings, cases []benchCase) error {
	report := newReport(os.Stdout, "results")
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

// rounds are how often a case and its floor take turns, so that both have the
// same neighbours on the machine.
const rounds = 3

func (s *stack) measure(ctx context.Context, c benchCase, d time.Duration) (r result, err error) {
	if err := s.control.setDelay(c.delay); err != nil {
		return r, err
	}
	defer func() { _ = s.control.setDelay(0) }()
	service := &trial{benchCase: c, observed: observed{target{base: s.base}.host(), s.service}}
	if r, err = c.result(ctx, service.addr); err != nil {
		return r, err
	}
	floor := s.floor(c, r.Bytes)
	before, err := s.control.counts()
	if err != nil {
		return r, err
	}
	if err := takeTurns(ctx, d, service, floor); err != nil {
		return r, err
	}
	after, err := s.control.counts()
	if err != nil {
		return r, err
	}
	r.Flat = service.numbers()
	r.Hasura = float64(after.Hasura-before.Hasura) / float64(service.asked)
	r.Store = float64(after.Store-before.Store) / float64(service.asked)
	r.Resting, r.Peak = s.service.memory()
	if err := r.compare(ctx, service, floor, d); err != nil || r.Half == nil || c.question == nil {
		return r, err
	}
	if r.Engine, err = s.engine(ctx, c, r.Half.PerSecond*r.Hasura/2, d); err == nil {
		r.Late = 2*r.Engine.P95 + 3*r.HalfOf.P95
	}
	return r, err
}

// engine asks Hasura alone what the service asks it.
func (s *stack) engine(ctx context.Context, c benchCase, rate float64, d time.Duration) (*numbers, error) {
	c.requests = [][]byte{c.question}
	return c.atRate(ctx, observed{addr: s.hasura}, d, rate)
}

// result is what is known before a case runs.
func (c benchCase) result(ctx context.Context, addr string) (r result, err error) {
	r = result{Case: c.name, Workers: c.workers * max(c.burst, 1), Most: c.most}
	r.Bytes, err = c.size(ctx, addr)
	return r, err
}

func takeTurns(ctx context.Context, d time.Duration, service, floor *trial) error {
	for range rounds {
		if err := service.measure(ctx, d/rounds); err != nil {
			return err
		}
		if floor == nil {
			continue
		}
		if err := floor.measure(ctx, d/rounds); err != nil {
			return err
		}
	}
	return nil
}

// floor is the same load on the least that net/http can do, a session's headers
// included; nil if there is none.
func (s *stack) floor(c benchCase, size int64) *trial {
	if c.floor == noFloor {
		return nil
	}
	process := map[floorKind]*process{memoryFloorKind: s.memory, copyFloorKind: s.copying}[c.floor]
	c.requests, c.once = [][]byte{get(process.Addr, fmt.Sprintf("/%d", size), s.owner)}, false
	return &trial{benchCase: c, observed: observed{process.Addr, process}}
}

// compare puts the floor beside a result, and measures both at half of the rate
// that the service reached.
func (r *result) compare(ctx context.Context, service, floor *trial, d time.Duration) error {
	if floor == nil {
		return nil
	}
	least := floor.numbers()
	r.Floor, r.Ratio = &least, float64(r.Flat.CPU)/float64(least.CPU)
	if service.alone {
		return nil
	}
	var err error
	if r.Half, err = service.atRate(ctx, service.observed, d, r.Flat.PerSecond/2); err != nil {
		return err
	}
	r.HalfOf, err = floor.atRate(ctx, floor.observed, d, r.Flat.PerSecond/2)
	return err
}
