package actions

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
)

// TestAPanicIsAnErrorOfThoseWhoWaitForIt and of nobody else.
func TestAPanicIsAnErrorOfThoseWhoWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlights(newBackground(zap.NewNop()), time.Minute)
		begin := make(chan struct{})
		errs := make(chan error, 2)
		for range cap(errs) {
			go func() {
				_, err := f.do(t.Context(), "a", func(context.Context) (*picture, error) {
					<-begin
					panic("a decoder gave up")
				})
				errs <- err
			}()
		}
		synctest.Wait()
		close(begin)
		for range cap(errs) {
			if err := <-errs; err == nil || Public(err).Code != Internal {
				t.Errorf("%v", err)
			}
		}
		if p, err := f.do(t.Context(), "a", func(context.Context) (*picture, error) { return &picture{key: "a"}, nil }); err != nil || p.key != "a" {
			t.Errorf("the next: %v, %v", p, err)
		}
	})
}
