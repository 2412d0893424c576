#!/bin/sh
# Runs tests against SeaweedFS, an S3 server that shares no code with devs3, so
# that what the tests promise is not only one server's habit.
#
#   s3/second-server.sh                   the contract of package s3
#   s3/second-server.sh go test ./...     any command, with S3_TEST_* set
#
# The first run builds SeaweedFS: about 8 minutes on two cores, 0.5 GB of
# modules. The binary stays in CACHE (default ~/.cache/hasura-storage).
set -eu

version=v0.0.0-20261109003541-7506e5f91cd6
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hasura-storage}
weed=$cache/weed-$version
root=$(cd "$(dirname "$0")/.." && pwd)

build() {
	echo "Building SeaweedFS $version. This takes about 8 minutes." >&2
	tools=$(mktemp -d)
	# A module of its own: SeaweedFS' go.mod has replace lines, which "go install" refuses.
	(
		cd "$tools"
		export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
		go mod init tools
		go get "github.com/seaweedfs/seaweedfs/weed@$version"
		go build -p 2 -trimpath -o "$weed.new" github.com/seaweedfs/seaweedfs/weed
	)
	rm -rf "$tools"
	mv "$weed.new" "$weed"
}

mkdir -p "$cache"
[ -x "$weed" ] || build

data=$(mktemp -d)
# SIGTERM takes it half a minute.
trap 'kill -9 "$server" 2>/dev/null || true; rm -rf "$data"' EXIT
trap 'exit 1' INT TERM

key=second-server-key
secret=second-server-secret
cat >"$data/s3.json" <<JSON
{"identities": [{"name": "tests",
  "credentials": [{"accessKey": "$key", "secretKey": "$secret"}],
  "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
JSON
mkdir "$data/store"

# One volume to a bucket instead of seven, because every test has its bucket.
# Telemetry off, loopback only, ports away from ours.
WEED_MASTER_VOLUME_GROWTH_COPY_1=1 "$weed" -logtostderr=false server -s3 \
	-ip 127.0.0.1 -ip.bind 127.0.0.1 -dir "$data/store" -s3.config "$data/s3.json" \
	-master.port 19333 -volume.port 18080 -filer.port 18888 -s3.port 18333 \
	-master.telemetry=false -master.volumeSizeLimitMB 64 -volume.max 0 >"$data/log" 2>&1 &
server=$!

tries=0
until curl -s -o /dev/null "http://127.0.0.1:18333/"; do
	tries=$((tries + 1))
	if [ $tries -gt 60 ] || ! kill -0 "$server" 2>/dev/null; then
		tail -20 "$data/log" >&2
		exit 1
	fi
	sleep 0.5
done

export S3_TEST_ENDPOINT=http://127.0.0.1:18333 S3_TEST_ACCESS_KEY=$key S3_TEST_SECRET_KEY=$secret S3_TEST_REGION=us-east-1
cd "$root"
if [ $# -eq 0 ]; then
	set -- go test -count=1 -tags second ./s3/ -run 'Another|Large'
fi
"$@"
