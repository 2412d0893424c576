package main

import (
	"context"
	"fmt"
	"time"
)

// warmUp is how long a case runs before it is measured: caches fill,
// connections open, the heap finds its size.
const warmUp = 500 * time.Millisecond

// numbers are what one measurement shows. Times per request are of one
// request, whatever the number of connections.
type numbers struct {
	PerSecond     float64
	Least, Median time.Duration
	P95, P99      time.Duration
	CPU           time.Duration // of the server, per request
	Failed        int           `json:",omitempty"`
	Failure       string        `json:",omitempty"`
}

// result is all that is known of a case.
type result struct {
	Case    string
	Bytes   int64 // of an answer
	Workers int
	Flat    numbers  // as fast as answers come
	Half    *numbers `json:",omitempty"` // at half of that rate
	Floor   *numbers `json:",omitempty"` // the same load on the floor
	HalfOf  *numbers `json:",omitempty"` // the floor at the case's half rate
	Most    float64  `json:",omitempty"` // the aim for Ratio
	Ratio   float64  `json:",omitempty"` // of processor times
	Hasura  float64  // requests to it, per request
	Store   float64  // requests to it, per request
	Resting int64    // bytes of memory after the case
	Peak    int64    // and at most while it ran
	asked   int      // requests of all phases
}

// observed is a server whose costs can be read; process is nil for one elsewhere.
type observed struct {
	addr    string
	process *process
}

// load drives a plan and reads what it cost.
func (o observed) load(ctx context.Context, p plan) (numbers, outcome, error) {
	p.Addr = o.addr
	before := o.cpu()
	out, err := drive(ctx, p)
	if err != nil {
		return numbers{}, out, err
	}
	n := numbers{
		PerSecond: float64(out.Requests) / out.Took.Seconds(), Least: out.percentile(0), Median: out.percentile(50),
		P95: out.percentile(95), P99: out.percentile(99), Failed: out.Failed, Failure: out.Failure,
	}
	n.CPU = (o.cpu() - before) / time.Duration(out.Requests+out.Failed)
	return n, out, nil
}

func (o observed) cpu() time.Duration {
	if o.process == nil {
		return 0
	}
	return o.process.cpu()
}

// plan is the load of a case, without rate.
func (c benchCase) plan(d time.Duration) plan {
	return plan{Requests: c.requests, Once: c.once, Workers: c.workers, Burst: c.burst, Duration: d}
}

// bench measures a case on a server, without floors.
func (c benchCase) bench(ctx context.Context, o observed, d time.Duration) (r result, err error) {
	r = result{Case: c.name, Workers: c.workers * max(c.burst, 1), Most: c.most}
	if r.Bytes, err = c.size(ctx, o.addr); err != nil {
		return r, err
	}
	r.asked++
	if !c.once {
		_, out, err := o.load(ctx, c.plan(warmUp))
		if err != nil {
			return r, err
		}
		r.asked += out.Requests + out.Failed
	}
	if o.process != nil {
		o.process.resetPeak()
	}
	n, out, err := o.load(ctx, c.plan(d))
	if err != nil {
		return r, fmt.Errorf("%s: %w", c.name, err)
	}
	r.Flat = n
	r.asked += out.Requests + out.Failed
	if o.process != nil {
		r.Resting, r.Peak = o.process.memory()
	}
	return r, nil
}

// atRate measures a case at a fixed rate of requests a second.
func (c benchCase) atRate(ctx context.Context, o observed, d time.Duration, rate float64) (*numbers, error) {
	p := c.plan(d)
	p.Rate = rate
	n, _, err := o.load(ctx, p)
	return &n, err
}
