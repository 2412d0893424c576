package main

import (
	"context"
	"fmt"
	"slices"
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
	Flat    numbers       // as fast as answers come
	Half    *numbers      `json:",omitempty"` // at half of that rate
	Floor   *numbers      `json:",omitempty"` // the same load on the floor
	HalfOf  *numbers      `json:",omitempty"` // the floor at the case's half rate
	Engine  *numbers      `json:",omitempty"` // Hasura alone, asked as often as at the half rate
	Late    time.Duration `json:",omitempty"` // the aim for Half.P95, of Engine's and HalfOf's
	Most    float64       `json:",omitempty"` // the aim for Ratio
	Ratio   float64       `json:",omitempty"` // of processor times
	Hasura  float64       // requests to it, per request
	Store   float64       // requests to it, per request
	Resting int64         // bytes of memory after the case
	Peak    int64         // and at most while it ran
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
	return summary(out, out.Took, o.cpu()-before), out, nil
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

// trial is a case on a server, measured piece by piece.
type trial struct {
	benchCase
	observed
	warm   bool
	cost   time.Duration // processor time of all that was measured
	took   time.Duration
	result outcome
	asked  int // requests, warm-up included
}

func (r *trial) measure(ctx context.Context, d time.Duration) error {
	if !r.warm && !r.once {
		_, out, err := r.load(ctx, r.plan(warmUp))
		if err != nil {
			return err
		}
		r.asked += out.Requests + out.Failed
		if r.process != nil {
			r.process.resetPeak()
		}
	}
	r.warm = true
	before := r.cpu()
	_, out, err := r.load(ctx, r.plan(d))
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.cost += r.cpu() - before
	r.asked += out.Requests + out.Failed
	r.took += out.Took
	r.result.add(out)
	if r.once {
		r.requests = r.requests[min(out.Requests+out.Failed, len(r.requests)-1):]
	}
	return nil
}

// numbers are those of all that was measured.
func (r *trial) numbers() numbers {
	slices.Sort(r.result.Waits)
	return summary(r.result, r.took, r.cost)
}

func summary(o outcome, took, cost time.Duration) numbers {
	return numbers{
		PerSecond: float64(o.Requests) / took.Seconds(), Least: o.percentile(0), Median: o.percentile(50),
		P95: o.percentile(95), P99: o.percentile(99), Failed: o.Failed, Failure: o.Failure,
		CPU: cost / time.Duration(max(o.Requests+o.Failed, 1)),
	}
}

// atRate measures a case at a fixed rate of requests a second.
func (c benchCase) atRate(ctx context.Context, o observed, d time.Duration, rate float64) (*numbers, error) {
	p := c.plan(d)
	p.Rate = rate
	n, _, err := o.load(ctx, p)
	return &n, err
}
