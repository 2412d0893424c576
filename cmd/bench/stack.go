package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// stack is everything that runs beside the load.
type stack struct {
	stops   []func()
	base    string // of the service's REST interface, without a final slash
	hasura  string // host:port, past no counter
	control remote
	service *process
	memory  *process // floors
	copying *process
	owner   http.Header // who uploads
}

func (s *stack) close() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

func (s *stack) run(p *process) *process {
	s.stops = append(s.stops, p.stop)
	return p
}

// startStack brings everything up, or nothing.
func startStack(ctx context.Context, set settings) (_ *stack, err error) {
	s := &stack{owner: session(uuid.NewString())}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	dir := set.data
	if dir == "" {
		if dir, err = os.MkdirTemp("", "bench-*"); err != nil {
			return nil, err
		}
		s.stops = append(s.stops, func() { _ = os.RemoveAll(dir) })
	}
	if err := s.startFloors(ctx); err != nil {
		return nil, err
	}
	return s, s.startService(ctx, set, dir)
}

func (s *stack) startFloors(ctx context.Context) error {
	memory, err := startPart(ctx, "floor", "memory")
	if err != nil {
		return err
	}
	s.memory = s.run(memory)
	// The copied bytes come from a process of their own: those of the floor count alone.
	upstream, err := startPart(ctx, "floor", "memory")
	if err != nil {
		return err
	}
	s.run(upstream)
	copying, err := startPart(ctx, "floor", "copy", "http://"+upstream.Addr)
	if err != nil {
		return err
	}
	s.copying = s.run(copying)
	return nil
}

func (s *stack) startService(ctx context.Context, set settings, dir string) error {
	binary, err := serviceBinary(ctx, set, dir)
	if err != nil {
		return err
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	behind, err := startPart(ctx, "backends", dir, addr)
	if err != nil {
		return err
	}
	s.run(behind)
	addrs := strings.Fields(behind.Addr)
	if len(addrs) != 3 {
		return fmt.Errorf("backends: unexpected %q", behind.Addr)
	}
	s.hasura, s.control, s.base = addrs[0], remote{addrs[2]}, "http://"+addr+"/v1"
	service, err := startBinary(ctx, binary, filepath.Join(dir, "service.log"), serviceEnvironment(addr, addrs[0], addrs[1], set))
	if err != nil {
		return err
	}
	s.service = s.run(service)
	return s.untilReady(ctx)
}

func serviceEnvironment(addr, hasura, store string, set settings) []string {
	return append(os.Environ(),
		"BIND="+addr, "PUBLIC_URL=http://"+addr, "HASURA_ENDPOINT=http://"+hasura+"/v1", "HASURA_GRAPHQL_ADMIN_SECRET="+adminSecret,
		"HASURA_STORAGE_SECRET="+hookSecret, "HASURA_GRAPHQL_UNAUTHORIZED_ROLE=public", "S3_ENDPOINT=http://"+store, "S3_BUCKET="+bucketName,
		"S3_ACCESS_KEY="+accessKey, "S3_SECRET_KEY="+secretKey, "S3_ROOT_FOLDER=files", "SIGNING_KEYS="+jwtKey, "BIND_PPROF="+set.pprof,
		"S3_REGION=us-east-1")
}

// serviceBinary builds the service as it ships, unless one is given.
func serviceBinary(ctx context.Context, set settings, dir string) (string, error) {
	if set.binary != "" {
		return filepath.Abs(set.binary)
	}
	binary, err := filepath.Abs(filepath.Join(dir, "hasura-storage"))
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "nodynamic", "-o", binary, "hasura-storage/cmd/hasura-storage")
	build.Stderr = os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return binary, build.Run()
}

func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (s *stack) untilReady(ctx context.Context) error {
	for deadline := time.Now().Add(readyTime); ; {
		answer, err := http.Get(strings.TrimSuffix(s.base, "/v1") + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(answer.Status)
		}
		select {
		case <-s.service.ended:
			return errors.New("the service ended, see service.log")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the service is not ready: %w", err)
		}
	}
}

// session are the headers of a user, as a browser sends them.
func session(user string) http.Header {
	claims := jwt.MapClaims{
		"sub": user, "exp": time.Now().Add(24 * time.Hour).Unix(),
		"https://hasura.io/jwt/claims": map[string]any{
			"x-hasura-allowed-roles": []string{"user"}, "x-hasura-default-role": "user", "x-hasura-user-id": user,
		},
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(jwtKey))
	if err != nil { // only for a key of another kind
		panic(err)
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}
