package main

import (
	"fmt"
	"net"
	"strings"
)

// setting is one environment variable of the stack. The service and the local
// Hasura read the same environment, so one default serves every reader.
type setting struct {
	name, fallback, doc string
}

// settings are the defaults for development. None is a secret, and none may be
// used where strangers can reach the machine.
var settings = []setting{
	{"DEV_HASURA_ADDR", "127.0.0.1:8080", "where the local Hasura listens"},
	{"DEV_S3_ADDR", "127.0.0.1:9000", "where the S3 server listens"},
	{"BIND", "127.0.0.1:8000", "where the storage service listens"},
	{"DEV_DATA", ".data", "folder of the database and the objects; delete it to start anew"},
	{"HASURA_GRAPHQL_ADMIN_SECRET", "dev-admin-secret", "the admin secret of Hasura"},
	{"HASURA_GRAPHQL_JWT_SECRET", defaultJWTSecret, "how Hasura checks tokens, and how dev token signs them"},
	{"HASURA_GRAPHQL_UNAUTHORIZED_ROLE", "public", "the role of requests without a token"},
	{"HASURA_STORAGE_SECRET", "dev-webhook-secret", "what Hasura sends to prove that it is Hasura"},
	{"SIGNING_KEYS", "dev-signing-key-of-at-least-32-bytes", "the keys that sign links to image variants"},
	{"S3_BUCKET", "storage", "the bucket of the store; made if it is absent"},
	{"S3_ACCESS_KEY", "dev-access-key", "the access key of the store"},
	{"S3_SECRET_KEY", "dev-secret-key", "the secret key of the store"},
	{"S3_REGION", "us-east-1", "the region of the store"},
}

// external are variables without a default: naming one puts a real part in the
// place of the local one.
var external = []setting{
	{"HASURA_ENDPOINT", "", "a Hasura to use instead of the local one, such as https://hasura.example.com/v1"},
	{"S3_ENDPOINT", "", "a store to use instead of the local one"},
}

func describeSettings() string {
	var b strings.Builder
	for _, s := range append(append([]setting{}, settings...), external...) {
		fmt.Fprintf(&b, "  %-33s %s\n", s.name, s.doc)
		if s.fallback != "" {
			fmt.Fprintf(&b, "  %-33s default %s\n", "", s.fallback)
		}
	}
	return b.String()
}

// environment answers like getenv and fills the gaps: first with what follows
// from other settings, then with the defaults above.
type environment struct {
	getenv  func(string) string
	derived map[string]string
}

// newEnvironment checks the addresses, since everything else is derived from
// them.
func newEnvironment(getenv func(string) string) (*environment, error) {
	e := &environment{getenv: getenv, derived: map[string]string{}}
	for _, s := range settings {
		e.derived[s.name] = s.fallback
	}
	for _, name := range []string{"DEV_HASURA_ADDR", "DEV_S3_ADDR", "BIND"} {
		if _, _, err := net.SplitHostPort(e.get(name)); err != nil {
			return nil, fmt.Errorf("%s must be host:port such as 127.0.0.1:8000, not %q", name, e.get(name))
		}
	}
	e.derive()
	return e, nil
}

// get is a getenv for the parts of the stack.
func (e *environment) get(name string) string {
	return or(e.getenv(name), e.derived[name])
}

func (e *environment) derive() {
	service := "http://" + reachable(e.get("BIND"))
	e.derived["HASURA_ENDPOINT"] = "http://" + reachable(e.get("DEV_HASURA_ADDR")) + "/v1"
	e.derived["HASURA_STORAGE_URL"] = service
	e.derived["PUBLIC_URL"] = service
	if e.localStore() {
		e.derived["S3_ENDPOINT"] = reachable(e.get("DEV_S3_ADDR"))
		e.derived["S3_DISABLE_HTTPS"] = "true"
	}
}

func (e *environment) localHasura() bool { return e.getenv("HASURA_ENDPOINT") == "" }
func (e *environment) localStore() bool  { return e.getenv("S3_ENDPOINT") == "" }

// reachable turns an address to listen on into one to call: an empty or
// unspecified host means this machine.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
