package handlers

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openAPI []byte

// describeItself answers with the REST interface's description.
func describeItself(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(openAPI)
}
