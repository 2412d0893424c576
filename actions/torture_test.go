package actions_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"hasura-storage/actions"
	"hasura-storage/actions/internal/clamd/clamdtest"
	"hasura-storage/actions/internal/faults"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// The torture test runs random programs of what clients, Hasura, the clock and
// bad networks do, against several instances of the service, and checks the
// invariants after each. A third of the programs store in a bucket that removes
// metadata and, where clamd is installed, a third have their files scanned.
// TORTURE_STEPS says how many steps, TORTURE_SEED which programs: a failure prints
// the seed of its program.

const (
	programLength  = 40 // steps
	programsAtOnce = 4  // they wait more than they work
)

func TestTorture(t *testing.T) {
	steps, seed := setting(t, "TORTURE_STEPS", 400), uint64(setting(t, "TORTURE_SEED", 0))
	scanner := ""
	if clamdtest.Program() != "" {
		scanner = clamdtest.Start(t, 2<<20)
	}
	var begun atomic.Int64
	count := faultCount{kinds: map[string]int{}}
	var programs sync.WaitGroup
	for range programsAtOnce {
		programs.Go(func() {
			for !t.Failed() {
				n := begun.Add(programLength)
				if n-programLength >= int64(steps) {
					return
				}
				seed := seed
				if seed == 0 || n > programLength {
					seed = rand.Uint64N(1<<53) + 1
				}
				if !t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { newProgram(t, seed, &count, scanner).run() }) {
					t.Errorf("violated; TORTURE_SEED=%d TORTURE_STEPS=%d repeats it", seed, programLength)
				}
			}
		})
	}
	programs.Wait()
	if !t.Failed() {
		t.Logf("%d steps, 0 violations; faults: %v", (steps+programLength-1)/programLength*programLength, count.kinds)
	}
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// faultCount counts the faults that were brought about, by kind.
type faultCount struct {
	mu    sync.Mutex
	kinds map[string]int
}

func (c *faultCount) add(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds[kind]++
}

// program is one run: a stack, instances that come and go, and a model of what
// clients were told.
type program struct {
	*stack
	random *rand.Rand
	seed   uint64

	mu    sync.Mutex
	count *faultCount
	calm  bool // no more faults: the end is checked

	strips bool // the bucket removes metadata: files are pictures
	scans  bool // files are scanned

	instances []*instance
	proxies   []*faults.Proxy // of all instances that ever were
	owner     actions.Session
	stranger  actions.Session
	files     []*modelFile
	tickets   []*modelTicket
	log       []string
}

// instance is one process of the service behind proxies of its own.
type instance struct {
	service *actions.Storage
	left    int // requests until it is killed; below zero it lives on
	dead    bool
}

func newProgram(t *testing.T, seed uint64, count *faultCount, scanner string) *program {
	p := &program{stack: start(t), seed: seed, random: rand.New(rand.NewPCG(seed, 1)), count: count, owner: user(), stranger: user()}
	switch p.random.IntN(3) {
	case 0:
		p.strips = true
		p.bucketIs(map[string]any{"stripMetadata": true})
	case 1:
		p.scans = scanner != ""
		p.options.Antivirus = actions.Antivirus{Server: scanner, MaxSize: 1 << 20}
	}
	for range 2 {
		p.instances = append(p.instances, p.spawn())
	}
	return p
}

// spawn starts an instance whose calls go through proxies that fail at random,
// the same for the same seed: by operation and how often it was called.
func (p *program) spawn() *instance {
	i := &instance{left: -1}
	o := p.options
	hasura := faults.New(p.t, p.admin)
	store := faults.New(p.t, p.store.URL)
	p.proxies = append(p.proxies, hasura, store)
	number := len(p.instances) + 1000*p.random.IntN(1000)
	hasura.Set(p.rule(i, number, 0.07))
	store.Set(p.rule(i, number+1, 0.03))
	client, err := graphql.New(graphql.Options{Endpoint: hasura.URL, AdminSecret: adminSecret, Timeout: time.Minute})
	if err != nil {
		p.t.Fatal(err)
	}
	o.Hasura, o.Store = client, p.storeAt(store.URL)
	o.Log, o.CompletionWait = zap.NewNop(), 300*time.Millisecond
	if i.service, err = actions.New(o); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = i.service.Close(ctx)
	})
	return i
}

// storeAt opens the bucket behind a proxy; clients' URLs go past it.
func (p *program) storeAt(url string) *s3.Store {
	o := p.bucket
	o.Endpoint, o.PublicEndpoint = url, p.store.URL
	store, err := s3.New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return store
}

func (p *program) rule(i *instance, number int, share float64) faults.Rule {
	calls := map[string]int{}
	return func(r faults.Request) (faults.Fault, func()) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if i.dead {
			return faults.Drop, nil
		}
		what := r.Operation
		if what == "" {
			what = r.Method
		}
		calls[what]++
		roll := p.roll(number, what, calls[what])
		if i.left == 0 {
			i.dead = true
			p.count.add("kill")
			return []faults.Fault{faults.Drop, faults.Cut}[roll.IntN(2)], nil
		}
		if i.left > 0 {
			i.left--
		}
		if p.calm || roll.Float64() >= share {
			return faults.None, nil
		}
		kinds := faults.Kinds()
		f := kinds[roll.IntN(len(kinds))]
		p.count.add(f.String())
		return f, nil
	}
}

func (p *program) roll(number int, what string, nth int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, number, what, nth)
	return rand.New(rand.NewPCG(p.seed, h.Sum64()))
}

func (p *program) run() {
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	for range programLength {
		n := p.random.IntN(total)
		for _, s := range steps {
			if n -= s.weight; n < 0 {
				p.note("%s", s.name)
				s.do(p)
				break
			}
		}
		p.bury()
	}
	p.settle()
	p.check()
	if p.t.Failed() {
		p.t.Logf("program:\n%s", strings.Join(p.log, "\n"))
	}
}

func (p *program) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// bury replaces the instances that were killed.
func (p *program) bury() {
	for n, i := range p.instances {
		p.mu.Lock()
		dead := i.dead
		p.mu.Unlock()
		if dead {
			p.instances[n] = p.spawn()
		}
	}
}
