package main

import (
	"context"
	"errors"
	"io"
)

func runStack(_ context.Context, getenv func(string) string, _ io.Writer) error {
	if _, err := newEnvironment(getenv); err != nil {
		return err
	}
	return errors.New("the stack is not wired yet")
}

func runHasura(context.Context, []string, func(string) string, io.Writer) error {
	return errors.New("the local Hasura is not wired yet")
}
