package localhasura

import (
	"strings"

	"hasura-storage/graphql/localhasura/qerr"
)

// refusedSettings names an environment variable that would change answers in a
// way that the local Hasura does not know.
func refusedSettings(env func(string) string) error {
	for name, harmless := range map[string]string{
		"HASURA_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE":  "false",
		"HASURA_GRAPHQL_EXPERIMENTAL_FEATURES":     "",
		"HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION": "hasura-default",
	} {
		if value := env(name); value != "" && value != harmless {
			return qerr.Unsupported(name + "=" + value)
		}
	}
	return nil
}

// apis are the groups of endpoints that HASURA_GRAPHQL_ENABLED_APIS names.
func apis(env func(string) string) map[string]bool {
	list := env("HASURA_GRAPHQL_ENABLED_APIS")
	if list == "" {
		list = "metadata,graphql,pgdump,config"
	}
	enabled := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		enabled[strings.ToLower(strings.TrimSpace(name))] = true
	}
	return enabled
}
