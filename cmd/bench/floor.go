package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// runFloor is the least that net/http can do: args[0] memory serves /<size>
// bytes from memory; args[0] copy serves them from the URL args[1] by io.Copy.
func runFloor(_ context.Context, args []string) error {
	handler := http.HandlerFunc(new(memoryFloor).serve)
	if len(args) == 2 && args[0] == "copy" {
		handler = copyFloor{upstream: args[1]}.serve
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, handler) }()
	announce(listener.Addr().String())
	return nil
}

// memoryFloor keeps one body for each size.
type memoryFloor struct{ bodies sync.Map }

func (m *memoryFloor) serve(w http.ResponseWriter, r *http.Request) {
	size := r.URL.Path[1:]
	body, ok := m.bodies.Load(size)
	if !ok {
		n, err := strconv.Atoi(size)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		// Real bytes: memory that was never written is one page of zeros, which
		// a processor copies out of its nearest cache.
		body, _ = m.bodies.LoadOrStore(size, random(n))
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", size)
	_, _ = w.Write(body.([]byte)) //nolint:forcetypeassert // nothing else is kept
}

// copyFloor fetches the same path elsewhere.
type copyFloor struct{ upstream string }

func (c copyFloor) serve(w http.ResponseWriter, r *http.Request) {
	answer, err := http.Get(c.upstream + r.URL.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(answer.ContentLength, 10))
	if _, err := io.Copy(w, answer.Body); err != nil && !errors.Is(err, net.ErrClosed) {
		panic(http.ErrAbortHandler)
	}
}
