package service

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestUntilReadySaysEachReasonOnce(t *testing.T) {
	refused, secret := errors.New("connection refused"), errors.New("admin secret refused")
	answers := []error{refused, refused, secret, nil}
	core, lines := observer.New(zap.InfoLevel)
	ask := func(context.Context) error {
		err := answers[0]
		answers = answers[1:]
		return err
	}
	untilReady(t.Context(), ask, 0, zap.New(core))

	got := make([]string, 0, 3)
	for _, line := range lines.All() {
		reason, _ := line.ContextMap()["error"].(string)
		got = append(got, line.Message+" "+reason)
	}
	want := []string{"not ready yet connection refused", "not ready yet admin secret refused", "ready: Hasura and the store answer "}
	if !slices.Equal(got, want) {
		t.Errorf("said %q, want %q", got, want)
	}
}
