package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	articleShare = 0.1 // of one processor
	articleRamp  = 10 * time.Second
	articleTime  = 60 * time.Second
	holdEvery    = 5 * time.Millisecond
	holdCredit   = 20 * time.Millisecond // of processor time that may be used at once
)

// article repeats the measurement that hasura-storage was published with: workers
// grow from 1 to N in ten seconds and stay for a minute, while the service may
// use a tenth of a processor.
func (s *stack) article(ctx context.Context, set settings, cases []benchCase) error {
	report := newReport(os.Stdout, "article")
	for _, c := range cases {
		if !set.wants(c.name) {
			continue
		}
		r, err := s.held(ctx, c)
		if err != nil {
			return err
		}
		report.add(r)
	}
	return report.save(set.out)
}

func (s *stack) held(ctx context.Context, c benchCase) (result, error) {
	o := observed{target{base: s.base}.host(), s.service}
	size, err := c.size(ctx, o.addr)
	if err != nil {
		return result{}, err
	}
	r := result{Case: c.name, Bytes: size, Workers: c.workers}
	s.service.resetPeak()
	release := s.service.hold(articleShare)
	defer release()
	p := c.plan(articleTime)
	p.Ramp = articleRamp
	if r.Flat, _, err = o.load(ctx, p); err != nil {
		return r, fmt.Errorf("%s: %w", c.name, err)
	}
	r.Resting, r.Peak = s.service.memory()
	return r, nil
}

// hold keeps a process at a share of one processor, by stopping it whenever it
// has used more, until release is called. It needs no rights over control
// groups; like them it makes requests wait that come in while it stops.
func (p *process) hold(share float64) (release func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		p.keepTo(share, done)
		_ = p.command.Process.Signal(syscall.SIGCONT)
	}()
	return func() { close(done); <-ended }
}

func (p *process) keepTo(share float64, done <-chan struct{}) {
	ticker := time.NewTicker(holdEvery)
	defer ticker.Stop()
	begin, used, stopped := time.Now(), p.cpu(), false
	for {
		select {
		case <-done:
			return
		case now := <-ticker.C:
			allowed := time.Duration(float64(now.Sub(begin)) * share)
			spent := p.cpu() - used
			if spent < allowed-holdCredit { // what was not used is lost
				begin, used = now.Add(-time.Duration(float64(holdCredit)/share)), p.cpu()
			}
			if over := spent > allowed; over != stopped {
				stopped = over
				_ = p.command.Process.Signal(map[bool]syscall.Signal{true: syscall.SIGSTOP, false: syscall.SIGCONT}[over])
			}
		}
	}
}
