package service

import (
	"slices"
	"strings"
)

// Flag is a setting on the command line.
type Flag struct {
	Variable string // that it stands in for
	Switch   bool   // without a value it is true
	Optional bool   // the same, but any word behind it is its value
	List     bool   // may be repeated; commas join the values
}

// lists are settings of several values.
var lists = []string{"HASURA_FORWARD_HEADERS", "SIGNING_KEYS", "CORS_ALLOW_ORIGINS"}

// optional are texts here and switches in nhost's hasura-storage.
var optional = []string{"CDN_CACHE_CONTROL"}

// FlagOf knows a flag by its name without dashes in front: that of the variable,
// in lower case and with dashes. nhost's hasura-storage has an exception.
func FlagOf(name string) (Flag, bool) {
	if name == "pprof-bind" {
		name = "bind-pprof"
	}
	for _, s := range settings {
		if name == flagName(s.name) {
			return Flag{
				Variable: s.name, Switch: s.isSwitch(),
				Optional: slices.Contains(optional, s.name), List: slices.Contains(lists, s.name),
			}, true
		}
	}
	for _, s := range elsewhere {
		if name == flagName(s.name) {
			return Flag{Variable: s.name}, true
		}
	}
	return Flag{}, false
}

func flagName(variable string) string {
	return strings.ReplaceAll(strings.ToLower(variable), "_", "-")
}

// isSwitch tells by the fallback, which each switch has and nothing else.
func (s setting) isSwitch() bool { return s.fallback == "true" || s.fallback == "false" }
