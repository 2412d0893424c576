package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	soakRate   = 1700 // requests a second: a million in ten minutes
	soakSample = 2 * time.Second
	soakOthers = 5_000 // sessions beside the owner's
)

// soak drives a mixture at a steady rate and draws the service's memory: it must
// be flat, however many requests and sessions have gone by.
func (s *stack) soak(ctx context.Context, set settings, t target, f files) error {
	p := plan{Addr: t.host(), Requests: t.mixture(f), Workers: set.connections, Rate: soakRate, Duration: set.duration}
	ended := make(chan error, 1)
	var out outcome
	go func() {
		var err error
		out, err = drive(ctx, p)
		ended <- err
	}()
	begin, ticker := time.Now(), time.NewTicker(soakSample)
	defer ticker.Stop()
	var points []point
	for {
		select {
		case err := <-ended:
			fmt.Printf("%d requests in %s, %d failed %s\n", out.Requests, time.Since(begin).Round(time.Second), out.Failed, out.Failure)
			return saveCurve(set.out, points, err)
		case <-ticker.C:
			now, _ := s.service.memory()
			points = append(points, point{time.Since(begin).Seconds(), float64(now) / (1 << 20)})
			if len(points)%15 == 1 {
				fmt.Printf("%6.0f s %8s\n", time.Since(begin).Seconds(), mebibytes(now))
			}
		}
	}
}

func saveCurve(folder string, points []point, err error) error {
	if folder == "" || err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	drawing := curve("memory of the service, resident, under a mixed load", "MB", points)
	return os.WriteFile(filepath.Join(folder, "memory.svg"), []byte(drawing), 0o600)
}

// mixture is mostly small files and thumbnails, of one session and of many.
func (t target) mixture(f files) [][]byte {
	others := t.sessions(f, 1, soakOthers).requests
	thumbnails := t.thumbnails(f).requests
	requests := make([][]byte, 0, 4*len(others))
	for i, other := range others {
		requests = append(requests, other, t.get(f.small, ""), thumbnails[i%len(thumbnails)], t.get(f.photo3, "?w=600"))
		if i%50 == 0 {
			requests = append(requests, t.get(f.medium, ""), t.get(f.photo3, ""))
		}
	}
	return requests
}
