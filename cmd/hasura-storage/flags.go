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
	if c.command == "metadata" || c.command == "ops" { // they have arguments, and look at them
		return c, nil
	}
	if slices.ContainsFunc(c.args, isHelp) {
		return commandLine{command: "help"}, nil
	}
	return c, c.surplus()
}

// surplus complains of arguments. Of a flag it tells the name alone, since the
// value may be a secret with its flag misspelt.
func (c commandLine) surplus() error {
	if len(c.args) == 0 {
		return nil
	}
	if i := slices.IndexFunc(c.args, isFlag); i >= 0 {
		name, _, _ := strings.Cut(c.args[i], "=")
		return fmt.Errorf("%w: there is no flag %s", errUsage, name)
	}
	return fmt.Errorf("%w: %s takes no argument such as %q", errUsage, c.command, c.args[0])
}

// takeFlags returns the values of settings, by variable, and the other words.
func takeFlags(words []string) (given map[string]string, rest []string, err error) {
	given = map[string]string{}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		name, value, attached := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
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
	switch {
	case flag.Switch && (len(words) == 0 || !isTruth(words[0])):
		return "true", words, nil
	case len(words) == 0 || isFlag(words[0]):
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
