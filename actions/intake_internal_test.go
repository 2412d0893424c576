package actions

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestOneSenderLeavesMemoryForOthers(t *testing.T) {
	in := newIntake(nil, 256<<20)
	held := []func(){}
	for range in.share / intakePart {
		release, err := in.reserve(t.Context(), "one", intakePart)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, release)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := in.reserve(short, "one", intakePart); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beyond the share: %v", err)
	}
	release, err := in.reserve(t.Context(), "another", intakePart)
	if err != nil {
		t.Fatalf("another sender: %v", err)
	}
	for _, release := range append(held, release) {
		release()
	}
	if len(in.senders) > 0 {
		t.Errorf("%d senders are remembered", len(in.senders))
	}
	if !in.room.TryAcquire(256 << 20) {
		t.Error("not all memory came back")
	}
}
