package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// plan is what a load process does.
type plan struct {
	Addr     string   // host:port
	Requests [][]byte // sent in turn, again and again
	Once     bool     // each one only once
	Workers  int
	Burst    int           // requests that a worker sends at once and waits for together; 0 is 1
	Ramp     time.Duration // in which workers start one after the other
	Duration time.Duration // after the ramp
	Rate     float64       // bursts a second by all workers together; 0 is as fast as answers come
}

// outcome is what came of it.
type outcome struct {
	Requests int
	Failed   int
	Failure  string        // the first one
	Bytes    int64         // of bodies
	Took     time.Duration // until the last answer
	Waits    []time.Duration
}

// drive runs a plan in a process of its own, so that what it costs is nobody else's.
func drive(ctx context.Context, p plan) (outcome, error) {
	var in, out bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(p); err != nil {
		return outcome{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	command := exec.CommandContext(ctx, self, "load")
	command.Stdin, command.Stdout, command.Stderr = &in, &out, os.Stderr
	if err := command.Run(); err != nil {
		return outcome{}, fmt.Errorf("load: %w", err)
	}
	var o outcome
	err = gob.NewDecoder(&out).Decode(&o)
	if err == nil && o.Requests == 0 {
		err = errors.New("load: nothing was answered")
	}
	return o, err
}

// runLoad is the load process: a plan comes in, an outcome goes out.
func runLoad(ctx context.Context, _ []string) error {
	var p plan
	if err := gob.NewDecoder(os.Stdin).Decode(&p); err != nil {
		return err
	}
	return gob.NewEncoder(os.Stdout).Encode(p.run(ctx))
}

// crowd is a plan that runs.
type crowd struct {
	plan
	begin  time.Time
	end    time.Time
	next   atomic.Int64 // request to send
	turn   atomic.Int64 // burst to begin, at a fixed rate
	mu     sync.Mutex
	result outcome
}

func (p plan) run(ctx context.Context) outcome {
	p.Burst = max(p.Burst, 1)
	c := &crowd{plan: p, begin: time.Now()}
	c.end = c.begin.Add(p.Ramp + p.Duration)
	ctx, cancel := context.WithDeadline(ctx, c.end)
	defer cancel()
	var workers sync.WaitGroup
	for i := range p.Workers {
		workers.Go(func() { c.work(ctx, p.Ramp*time.Duration(i)/time.Duration(p.Workers)) })
	}
	workers.Wait()
	c.result.Took = time.Since(c.begin)
	slices.Sort(c.result.Waits)
	return c.result
}

// work is one worker from its start to the end.
func (c *crowd) work(ctx context.Context, delay time.Duration) {
	wires := make([]*wire, c.Burst)
	for i := range wires {
		wires[i] = &wire{addr: c.Addr}
		defer wires[i].close()
	}
	var own outcome
	sleep(ctx, time.Now().Add(delay))
	for ctx.Err() == nil {
		start, ok := c.start(ctx)
		if !ok {
			break
		}
		requests := c.take()
		if requests == nil {
			break
		}
		own.add(burst(wires, requests))
		own.Waits = append(own.Waits, time.Since(start))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.add(own)
}

// start waits for the next turn. At a fixed rate a wait begins when the request
// was due: a server that stalls must not hide it by keeping the client waiting.
func (c *crowd) start(ctx context.Context) (time.Time, bool) {
	if c.Rate == 0 {
		return time.Now(), true
	}
	turn := float64(c.turn.Add(1) - 1)
	due := c.begin.Add(time.Duration(turn / c.Rate * float64(time.Second)))
	if due.After(c.end) {
		return due, false
	}
	sleep(ctx, due)
	return due, ctx.Err() == nil
}

func (c *crowd) take() [][]byte {
	first := int(c.next.Add(int64(c.Burst))) - c.Burst
	if c.Once && first+c.Burst > len(c.Requests) {
		return nil
	}
	requests := make([][]byte, c.Burst)
	for i := range requests {
		requests[i] = c.Requests[(first+i)%len(c.Requests)]
	}
	return requests
}

// burst sends requests at once, each on its connection.
func burst(wires []*wire, requests [][]byte) outcome {
	if len(requests) == 1 {
		return one(wires[0], requests[0])
	}
	outcomes := make([]outcome, len(requests))
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() { outcomes[i] = one(wires[i], requests[i]) })
	}
	all.Wait()
	var sum outcome
	for _, o := range outcomes {
		sum.add(o)
	}
	return sum
}

func one(w *wire, request []byte) outcome {
	answer, err := w.ask(request)
	switch {
	case err != nil:
		return outcome{Failed: 1, Failure: err.Error()}
	case answer.status >= 300:
		return outcome{Failed: 1, Failure: fmt.Sprintf("status %d", answer.status)}
	}
	return outcome{Requests: 1, Bytes: answer.bytes}
}

func (o *outcome) add(more outcome) {
	o.Requests += more.Requests
	o.Failed += more.Failed
	o.Bytes += more.Bytes
	if o.Failure == "" {
		o.Failure = more.Failure
	}
	o.Waits = append(o.Waits, more.Waits...)
}

// percentile of the sorted waits, from 0 to 100.
func (o *outcome) percentile(p int) time.Duration {
	if len(o.Waits) == 0 {
		return 0
	}
	return o.Waits[min(len(o.Waits)*p/100, len(o.Waits)-1)]
}

func sleep(ctx context.Context, until time.Time) {
	if wait := time.Until(until); wait > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
