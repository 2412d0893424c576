package main

import (
	"fmt"
	"strings"
)

// announce says where everything is, and gives a first mutation to paste.
func (s *stack) announce() {
	hasura := s.env.get("HASURA_ENDPOINT") + "/graphql"
	fmt.Fprintf(s.out, `
  Hasura    %s   (admin secret: %s)
  Storage   %s
  S3        %s   (bucket %s)
  Data      %s
`, hasura, s.secretForReader(), s.env.get("PUBLIC_URL"), s.storeURL(), s.env.get("S3_BUCKET"), s.env.get("DEV_DATA"))
	if s.env.localHasura() {
		fmt.Fprintf(s.out, "  Try it    http://%s/\n", reachable(s.env.get("DEV_HASURA_ADDR")))
	}
	fmt.Fprintf(s.out, `
  A first mutation to paste into another terminal; the README goes on from there.

curl %s \
  -H "x-hasura-admin-secret: %s" -H 'x-hasura-role: user' -H 'x-hasura-user-id: %s' \
  -d '{"query":"mutation { storageCreateUpload(name: \"hello.txt\", size: 5, mimeType: \"text/plain\") { uploadId fileId url } }"}'

`, hasura, s.secretForReader(), people[0].id)
}

// storeURL is the store's address with its scheme, however it was given.
func (s *stack) storeURL() string {
	endpoint := s.env.get("S3_ENDPOINT")
	if strings.Contains(endpoint, "://") {
		return endpoint
	}
	if s.env.get("S3_DISABLE_HTTPS") == "true" {
		return "http://" + endpoint
	}
	return "https://" + endpoint
}

// secretForReader is the admin secret if everybody knows it, and else the name
// of the variable that holds it.
func (s *stack) secretForReader() string {
	const name = "HASURA_GRAPHQL_ADMIN_SECRET"
	if s.env.getenv(name) != "" {
		return "$" + name
	}
	return s.env.get(name)
}
