# Everything needs Go alone, but for test-all and the comparisons of the benchmarks.

SHELL := bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help

# The version comes from git below; asking git again for each build fails where the
# checkout belongs to another user.
export GOFLAGS += -buildvcs=false

# The codecs for WebP and AVIF would load system libraries if they found them;
# this tag leaves only what is compiled in, so that every machine has the same bytes.
TAGS    := nodynamic
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X hasura-storage/cmd/hasura-storage/service.version=$(VERSION)
# The race detector needs a C compiler. Here it looks at what requests share and what
# ships; pictures are arithmetic, which it makes ten times slower. make race looks at all.
RACE    := $(if $(shell command -v cc),-race)
SHARED  := hasura-storage/(actions|handlers|graphql|s3|cmd/hasura-storage)(/|$$)
UNRACED := hasura-storage/(actions/images|graphql/localhasura)(/|$$)
GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.8.0

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

run: ## the whole stack on this machine; Ctrl-C ends it
	go build -tags $(TAGS) -o bin/dev ./cmd/dev
	exec bin/dev

test: ## all tests that need Go alone; names what it skipped
	{ all=$$(go list ./...); raced=$$(grep -E '$(SHARED)' <<< "$$all" | grep -vE '$(UNRACED)'); \
	go test -json -tags $(TAGS) $(RACE) -timeout 15m $$raced || bad=1; \
	go test -json -tags $(TAGS) -timeout 15m $$(grep -vFx "$$raced" <<< "$$all") || bad=1; \
	(cd s3/devs3 && go test -json ./...) || bad=1; \
	exit $${bad:-0}; } | go run ./cmd/testreport

test-all: generated ## everything, with Postgres, Chromium, clamd, nginx, node and libvips; a skip is a failure
	go vet -tags $(TAGS) ./...
	cd s3/devs3 && go vet ./...
	{ S3_TEST_LARGE=1 go test -json -tags $(TAGS) -timeout 25m ./... || bad=1; \
	(cd s3/devs3 && go test -json ./...) || bad=1; \
	exit $${bad:-0}; } | go run ./cmd/testreport -no-skips

race: ## all tests under the race detector
	go test -json -tags $(TAGS) -race -timeout 30m ./... | go run ./cmd/testreport

lint: generated ## formatting, vet, linters, known vulnerabilities
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "run gofmt on the files above" >&2; exit 1; }
	go vet -tags $(TAGS) ./...
	$(GOLANGCI) run --build-tags $(TAGS) ./...
	@if curl -fsS -o /dev/null -m 5 https://vuln.go.dev/index/db.json; then $(VULNCHECK) -tags $(TAGS) ./...; \
	else echo "govulncheck left out: its database cannot be reached"; fi

generate: ## write the generated code anew
	go generate -tags $(TAGS) ./...

generated: ## fail if generated code is not current
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	git ls-files -z '*generated*' 'graphql/schema.graphql' 'graphql/operations.json' | xargs -0r cp --parents -t "$$tmp"; \
	$(MAKE) -s generate; \
	(cd "$$tmp" && find . -type f) | while read -r f; do diff -u "$$tmp/$$f" "$$f"; done

build: ## the service for amd64 and arm64, static, in bin/
	for arch in amd64 arm64; do \
	  CGO_ENABLED=0 GOOS=linux GOARCH=$$arch go build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' \
	    -o bin/hasura-storage-linux-$$arch ./cmd/hasura-storage; done

image: ## the container image hasura-storage, with the Docker that is here
	docker build --build-arg VERSION=$(VERSION) -t hasura-storage .

bench-images: ## pictures: CPU and memory next to plain Go and, if vipsthumbnail is there, libvips
	go build -tags $(TAGS) -o bin/bench-images ./actions/images/bench
	exec bin/bench-images

bench: ## the service beside floors; DURATION, CASES, PROFILE=article and TARGET=URL choose what
	go build -tags $(TAGS) -o bin/bench ./cmd/bench
	exec bin/bench

torture: ## random programs of clients, faults, kills and clock jumps; STEPS=100000, SEED=n repeats one
	TORTURE_STEPS=$(or $(STEPS),100000) TORTURE_SEED=$(or $(SEED),0) \
	  go test -tags $(TAGS) -count 1 -timeout 24h -run '^TestTorture$$' -v ./actions | grep -vE '^ *(=== (RUN|NAME)|--- PASS).*seed='

second-store: ## the contract of the store, and STEPS of torture, on SeaweedFS, which shares no code with ours; the first build takes 8 minutes
	s3/second-server.sh
	TORTURE_STEPS=$(or $(STEPS),2000) s3/second-server.sh \
	  go test -tags $(TAGS) -count 1 -timeout 2h -run '^TestTorture$$' -v ./actions | grep -vE '^ *(=== (RUN|NAME)|--- PASS).*seed='

microbench: ## the benchmarks of all packages
	go test -tags $(TAGS) -run '^$$' -bench . -benchmem ./...

.PHONY: torture second-store help run test test-all race lint generate generated build image bench bench-images microbench
