package metadata

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"hasura-storage/graphql/localhasura/qerr"
)

// Header is a configured header; one of Value and ValueFromEnv is set.
type Header struct {
	Name         string  `json:"name"`
	Value        *string `json:"value,omitempty"`
	ValueFromEnv string  `json:"value_from_env,omitempty"`
}

// Env looks up an environment variable; empty means it is not set.
type Env func(string) string

// ReservedEnvPrefix starts the names that value_from_env may not use, so
// that metadata cannot send Hasura's own secrets away.
const ReservedEnvPrefix = "HASURA_GRAPHQL_"

var template = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

// Expand replaces every {{NAME}} in text by the variable NAME. It fails when
// one of them is not set and names all that are missing.
func Expand(text string, env Env) (string, error) {
	var missing []string
	out := template.ReplaceAllStringFunc(text, func(m string) string {
		name := template.FindStringSubmatch(m)[1]
		value := env(name)
		if value == "" {
			missing = append(missing, name)
		}
		return value
	})
	if missing != nil {
		return "", fmt.Errorf("value for environment variables not found: %s", strings.Join(missing, ", "))
	}
	return out, nil
}

// URL is the address that a trigger names: webhook with its templates
// expanded, or the variable fromEnv.
func URL(webhook, fromEnv string, env Env) (string, error) {
	if fromEnv == "" {
		return Expand(webhook, env)
	}
	if value := env(fromEnv); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("environment variable '%s' not set", fromEnv)
}

// ResolveHeaders looks up the values of configured headers. Their names keep
// the spelling they were configured with until http.Header folds it.
func ResolveHeaders(headers []Header, env Env) (http.Header, *qerr.Error) {
	out := http.Header{}
	for _, h := range headers {
		value, err := h.resolve(env)
		if err != nil {
			return nil, err
		}
		out.Set(h.Name, value)
	}
	return out, nil
}

func (h Header) resolve(env Env) (string, *qerr.Error) {
	if h.Value == nil {
		if value := env(h.ValueFromEnv); value != "" {
			return value, nil
		}
		return "", qerr.Newf(qerr.NotFound, "environment variable '%s' not set", h.ValueFromEnv)
	}
	value, err := Expand(*h.Value, env)
	if err != nil {
		return "", qerr.Newf(qerr.NotFound, "template cannot be resolved: %v", err)
	}
	return value, nil
}

// CheckHeaders refuses headers that take their value from one of Hasura's own
// variables. path leads to the list.
func CheckHeaders(headers []Header, path string) *qerr.Error {
	for i, h := range headers {
		if strings.HasPrefix(h.ValueFromEnv, ReservedEnvPrefix) {
			return qerr.Newf(qerr.ParseFailed, "env variables starting with %q are not allowed in value_from_env: %s",
				ReservedEnvPrefix, h.ValueFromEnv).At(fmt.Sprintf("%s[%d]", path, i))
		}
	}
	return nil
}
