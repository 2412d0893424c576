package images_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hasura-storage/actions/images"
)

func TestTheBudgetIsNeverExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := images.NewPool(100, 1000)
		var used, highest atomic.Int64
		var all sync.WaitGroup
		for i := range 200 {
			cost := int64(1 + i%100)
			all.Go(func() {
				err := p.Do(t.Context(), cost, func() error {
					highest.Store(max(highest.Load(), used.Add(cost)))
					time.Sleep(time.Second)
					used.Add(-cost)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if h := highest.Load(); h > 100 || h < 60 {
			t.Errorf("at most %d of 100 were in use", h)
		}
	})
}

func TestAFullQueueIsBusyAndALeaverMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := images.NewPool(10, 1)
		done := make(chan struct{})
		go p.Do(t.Context(), 10, func() error { <-done; return nil })
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- p.Do(ctx, 1, func() error { return nil }) }()
		synctest.Wait()
		if err := p.Do(t.Context(), 1, func() error { return nil }); !errors.Is(err, images.ErrBusy) {
			t.Errorf("a third: %v", err)
		}
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that left: %v", err)
		}
		next := make(chan error, 1)
		go func() { next <- p.Do(t.Context(), 1, func() error { return nil }) }()
		synctest.Wait()
		close(done)
		if err := <-next; err != nil {
			t.Errorf("the one that took its place: %v", err)
		}
	})
}

func TestWorkThatCanNeverFitIsTooLarge(t *testing.T) {
	if err := images.NewPool(10, 1).Do(t.Context(), 11, func() error { return nil }); !errors.Is(err, images.ErrTooLarge) {
		t.Error(err)
	}
}

// TestManyPhotosAtOnceStayWithinTheBudget transforms more photos at once than the budget holds, and watches the heap.
func TestManyPhotosAtOnceStayWithinTheBudget(t *testing.T) {
	name := "photo_12mp.jpg"
	if testing.Short() || underRace {
		name = "photo_03mp.jpg"
	}
	src := sample(t, name)
	info, err := images.Probe(src)
	if err != nil {
		t.Fatal(err)
	}
	const budget = 64 << 20
	p := images.NewPool(budget, 64)
	s := images.Spec{Width: 600}
	runtime.GC()
	stop := make(chan struct{})
	peak := make(chan uint64)
	go watchHeap(stop, peak)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if err := p.Do(t.Context(), images.Cost(info, s), func() error { transformed(t, src, s); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(stop)
	// The collector lets the heap grow to twice of what is alive.
	if got := <-peak; got > 2*budget+32<<20 {
		t.Errorf("the heap grew to %d MiB", got>>20)
	}
}

func watchHeap(stop chan struct{}, peak chan uint64) {
	var m runtime.MemStats
	highest := uint64(0)
	for {
		select {
		case <-stop:
			peak <- highest
			return
		case <-time.After(5 * time.Millisecond):
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapInuse)
		}
	}
}
