package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// uploadWorkers create and complete uploads at the same time.
const uploadWorkers = 8

// benchUploads measures the whole of an upload by actions: a ticket through
// Hasura, a PUT to the store, completion through Hasura.
func (s *stack) benchUploads(ctx context.Context, d time.Duration) (result, error) {
	r := result{Case: "upload", Bytes: 10 << 10, Workers: uploadWorkers}
	before, err := s.control.counts()
	if err != nil {
		return r, err
	}
	s.service.resetPeak()
	cpu, begin := s.service.cpu(), time.Now()
	o := s.uploadMany(ctx, begin.Add(d))
	if o.Requests == 0 {
		return r, fmt.Errorf("upload: none came through: %s", o.Failure)
	}
	took := time.Since(begin)
	after, err := s.control.counts()
	if err != nil {
		return r, err
	}
	n := float64(o.Requests + o.Failed)
	r.Flat = numbers{
		PerSecond: float64(o.Requests) / took.Seconds(), Least: o.percentile(0), Median: o.percentile(50), P95: o.percentile(95),
		P99: o.percentile(99), CPU: (s.service.cpu() - cpu) / time.Duration(n), Failed: o.Failed, Failure: o.Failure,
	}
	r.Hasura, r.Store = float64(after.Hasura-before.Hasura)/n, float64(after.Store-before.Store)/n
	r.Resting, r.Peak = s.service.memory()
	return r, nil
}

func (s *stack) uploadMany(ctx context.Context, end time.Time) outcome {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: uploadWorkers}, Timeout: answerTime}
	defer client.CloseIdleConnections()
	content := random(10 << 10)
	var mu sync.Mutex
	var sum outcome
	var workers sync.WaitGroup
	for range uploadWorkers {
		workers.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) {
				start := time.Now()
				o := outcome{Requests: 1}
				if err := s.uploadOne(ctx, client, content); err != nil {
					o = outcome{Failed: 1, Failure: err.Error()}
				}
				o.Waits = []time.Duration{time.Since(start)}
				mu.Lock()
				sum.add(o)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	slices.Sort(sum.Waits)
	return sum
}

const (
	createTicket = `mutation($size: bigint!) { t: storageCreateUpload(bucketId: "public", name: "bench.bin", size: $size, mimeType: "application/octet-stream") { uploadId url headers { name value } } }`
	completeIt   = `mutation($id: uuid!) { f: storageCompleteUpload(uploadId: $id) { id } }`
)

func (s *stack) uploadOne(ctx context.Context, client *http.Client, content []byte) error {
	var made struct {
		T struct {
			UploadID string
			URL      string
			Headers  []struct{ Name, Value string }
		}
	}
	if err := s.ask(ctx, client, createTicket, map[string]any{"size": len(content)}, &made); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, made.T.URL, bytes.NewReader(content))
	if err != nil {
		return err
	}
	for _, h := range made.T.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	if _, err := exchange(client, r); err != nil {
		return err
	}
	return s.ask(ctx, client, completeIt, map[string]any{"id": made.T.UploadID}, &struct{}{})
}

// ask sends an operation to Hasura as the stack's owner.
func (s *stack) ask(ctx context.Context, client *http.Client, query string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.hasura+"/v1/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = s.owner.Clone()
	r.Header.Set("Content-Type", "application/json")
	text, err := exchange(client, r)
	if err != nil {
		return err
	}
	answer := struct {
		Data   any
		Errors json.RawMessage
	}{Data: into}
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("hasura: %s", answer.Errors)
	}
	return nil
}

func exchange(client *http.Client, r *http.Request) ([]byte, error) {
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return text, err
}
