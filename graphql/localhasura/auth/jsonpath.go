package auth

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonPath is a parsed JSON path: strings are object keys, ints list indices.
type jsonPath []any

// parsePath reads "$", "$.a.b", "$.a[0]", "$['a b']" and "$[\"a\"]".
func parsePath(text string) (jsonPath, error) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		rest = "." + text
	}
	path := jsonPath{}
	for rest != "" {
		step, after, err := nextStep(rest)
		if err != nil {
			return nil, fmt.Errorf("%q is no JSON path: %w", text, err)
		}
		path = append(path, step)
		rest = after
	}
	return path, nil
}

func nextStep(text string) (step any, rest string, err error) {
	if text[0] == '.' {
		end := strings.IndexAny(text[1:], ".[") + 1
		if end == 0 {
			end = len(text)
		}
		if end == 1 {
			return nil, "", errors.New("empty key")
		}
		return text[1:end], text[end:], nil
	}
	if text[0] != '[' || len(text) < 3 {
		return nil, "", fmt.Errorf("expected . or [ at %q", text)
	}
	if quote := text[1]; quote == '\'' || quote == '"' {
		end := strings.Index(text[2:], string(quote)+"]")
		if end < 0 {
			return nil, "", errors.New("unclosed quote")
		}
		return text[2 : 2+end], text[2+end+2:], nil
	}
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return nil, "", errors.New("unclosed bracket")
	}
	index, err := strconv.Atoi(text[1:end])
	if err != nil || index < 0 {
		return nil, "", fmt.Errorf("%q is no index", text[1:end])
	}
	return index, text[end+1:], nil
}

// in follows the path; false if it leads nowhere.
func (p jsonPath) in(value any) (any, bool) {
	for _, step := range p {
		switch key := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			next, ok := object[key]
			if !ok {
				return nil, false
			}
			value = next
		case int:
			list, _ := value.([]any)
			if key >= len(list) {
				return nil, false
			}
			value = list[key]
		}
	}
	return value, true
}
