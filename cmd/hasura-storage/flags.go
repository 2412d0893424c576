package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hasura-storage/cmd/hasura-storage/service"
)

// commandLine is what the words after the program's name say.
type commandLine struct {
	command string
	args    []string                 // its own; flags of settings are taken out
	getenv  func(name string) string // the flags, and the environment below them
}

// parse takes the flags of settings from wherever they stand: nhost's service
// has them behind its command, other programs before it.
func parse(words []string, getenv func(string) string) (commandLine, error) {
	given, rest, err := takeFlags(words)
	if err != nil {
		return commandLine{}, err
	}
	c := commandLine{command: "serve", args: rest, getenv: func(name string) string {
		if value, ok := given[name]; ok {
			return value
		}
		return getenv(name)
	}}
	if len(rest) > 0 && !isFlag(rest[0]) {
		c.command, c.args = rest[0], rest[1:]
	}
	if slices.ContainsFunc(c.args, isHelp) {
		return commandLine{command: "help"}, nil
	}
	return c, c.surplus()
}

// ownFlags are the switches of the commands that have arguments.
var ownFlags = map[string]string{"metadata": "starter", "ops": "apply"}

// surplus complains of flags, and of arguments where the command has none.
// Flags come first: the word behind one may be its value, and a secret with its
// flag misspelt.
func (c commandLine) surplus() error {
	own, takes := ownFlags[c.command]
	for _, word := range c.args {
		if !isFlag(word) {
			continue
		}
		switch name, value, attached := cutFlag(word); {
		case !takes || name != own:
			return fmt.Errorf("%w: there is no flag %s", errUsage, bare(word))
		case attached && !isTruth(value):
			return fmt.Errorf("%w: the flag %s is true or false", errUsage, bare(word))
		}
	}
	if takes || len(c.args) == 0 { // it looks at its arguments itself
		return nil
	}
	return fmt.Errorf("%w: %s takes no argument such as %q", errUsage, bare(c.command), bare(c.args[0]))
}

// bare is a word for a complaint: without what may be the value of a setting,
// since that may be a secret.
func bare(word string) string {
	if i := strings.IndexAny(word, "=: \t\r\n"); i >= 0 {
		return word[:i]
	}
	return word
}

// cutFlag splits a flag, whose dashes are one or two.
func cutFlag(word string) (name, value string, attached bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
}

// takeFlags returns the values of settings, by variable, and the other words.
func takeFlags(words []string) (given map[string]string, rest []string, err error) {
	given = map[string]string{}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		name, value, attached := cutFlag(word)
		flag, known := service.FlagOf(name)
		if !known || !isFlag(word) {
			rest = append(rest, word)
			continue
		}
		if !attached {
			if value, words, err = valueIn(words, flag, word); err != nil {
				return nil, nil, err
			}
		}
		if before, again := given[flag.Variable]; again && flag.List {
			value = before + "," + value
		}
		given[flag.Variable] = value
	}
	return given, rest, nil
}

// valueIn returns the value of a flag that has none attached, and the words
// behind it. A value that looks like a flag is more likely one, with the value
// before it forgotten.
func valueIn(words []string, flag service.Flag, word string) (value string, behind []string, err error) {
	none := len(words) == 0 || isFlag(words[0])
	switch {
	case flag.Switch && (none || !isTruth(words[0])), flag.Optional && none:
		return "true", words, nil
	case none:
		return "", nil, fmt.Errorf("%w: the flag %s needs a value; one that begins with a dash is written %s=VALUE", errUsage, word, word)
	}
	return words[0], words[1:], nil
}

// isFlag is false for a dash alone: it is a value of HASURA_GRAPHQL_UNAUTHORIZED_ROLE.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

func isHelp(word string) bool { return word == "-h" || word == "-help" || word == "--help" }

func isTruth(word string) bool {
	_, err := strconv.ParseBool(word)
	return err == nil
}
