package store

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"hasura-storage/graphql/localhasura/pgtype"
)

// jsonFunction decodes its arguments; null on any side gives null.
func jsonFunction(fn func(args []any) (driver.Value, error)) func([]driver.Value) (driver.Value, error) {
	return func(args []driver.Value) (driver.Value, error) {
		values := make([]any, len(args))
		for i, a := range args {
			if a == nil {
				return null, nil
			}
			v, err := pgtype.Decode(textOf(a))
			if err != nil {
				return nil, errors.New("22P02: invalid input syntax for type json")
			}
			values[i] = v
		}
		return fn(values)
	}
}

func comparableText(args []any) (driver.Value, error) { return pgtype.Comparable(args[0]), nil }

func jsonText(args []any) (driver.Value, error) { return pgtype.JSONText(args[0]), nil }

func contained(args []any) (driver.Value, error) { return holds(args[1], args[0], true), nil }

func contains(args []any) (driver.Value, error) { return holds(args[0], args[1], true), nil }

// holds is Postgres's @>. At the top an array holds a bare scalar as well.
func holds(a, b any, top bool) bool {
	switch b := b.(type) {
	case map[string]any:
		object, ok := a.(map[string]any)
		for key, want := range b {
			have, present := object[key]
			ok = ok && present && holds(have, want, false)
		}
		return ok
	case []any:
		list, ok := a.([]any)
		for _, want := range b {
			ok = ok && anyHolds(list, want)
		}
		return ok
	}
	if list, ok := a.([]any); ok && top {
		return anyHolds(list, b)
	}
	return equal(a, b)
}

func anyHolds(list []any, want any) bool {
	for _, have := range list {
		if holds(have, want, false) {
			return true
		}
	}
	return false
}

func equal(a, b any) bool {
	return pgtype.Comparable(a) == pgtype.Comparable(b)
}

// hasKeys counts which of the given keys are members of an object, string
// elements of an array, or the string itself. Without a judge the argument is
// one bare key, else a JSON list of them.
func hasKeys(judge func(found, all int) bool) func([]driver.Value) (driver.Value, error) {
	return func(args []driver.Value) (driver.Value, error) {
		if args[0] == nil || args[1] == nil {
			return null, nil
		}
		v, err := pgtype.Decode(textOf(args[0]))
		if err != nil {
			return nil, err
		}
		keys := []string{textOf(args[1])}
		if judge != nil {
			keys = nil
			if err := json.Unmarshal([]byte(textOf(args[1])), &keys); err != nil {
				return nil, err
			}
		}
		found := 0
		for _, key := range keys {
			if hasKey(v, key) {
				found++
			}
		}
		return judge == nil && found > 0 || judge != nil && judge(found, len(keys)), nil
	}
}

func hasKey(v any, key string) bool {
	switch v := v.(type) {
	case map[string]any:
		_, ok := v[key]
		return ok
	case []any:
		for _, item := range v {
			if item == key {
				return true
			}
		}
	case string:
		return v == key
	}
	return false
}

// concat is Postgres's ||: objects merge, everything else becomes a list.
func concat(args []any) (driver.Value, error) {
	a, isA := args[0].(map[string]any)
	b, isB := args[1].(map[string]any)
	if isA && isB {
		maps.Copy(a, b)
		return pgtype.Canonical(a), nil
	}
	return pgtype.Canonical(append(append([]any{}, elements(args[0])...), elements(args[1])...)), nil
}

func elements(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// deleteFunction decodes the first argument only.
func deleteFunction(fn func(v any, arg driver.Value) (any, error)) func([]driver.Value) (driver.Value, error) {
	return func(args []driver.Value) (driver.Value, error) {
		if args[0] == nil || args[1] == nil {
			return null, nil
		}
		v, err := pgtype.Decode(textOf(args[0]))
		if err != nil {
			return nil, err
		}
		out, err := fn(v, args[1])
		if err != nil || out == absent {
			return nil, err
		}
		return pgtype.Canonical(out), nil
	}
}

// absent is an answer that is SQL's null, not JSON's.
var absent any = struct{ absent bool }{true}

func deleteKey(v any, arg driver.Value) (any, error) {
	key := textOf(arg)
	switch v := v.(type) {
	case map[string]any:
		delete(v, key)
		return v, nil
	case []any:
		kept := []any{}
		for _, item := range v {
			if item != key {
				kept = append(kept, item)
			}
		}
		return kept, nil
	}
	return nil, errors.New("22023: cannot delete from scalar")
}

func deleteElem(v any, arg driver.Value) (any, error) {
	list, ok := v.([]any)
	if !ok {
		if _, object := v.(map[string]any); object {
			return nil, errors.New("22023: cannot delete from object using integer index")
		}
		return nil, errors.New("22023: cannot delete from scalar")
	}
	i, ok := position(list, textOf(arg))
	if !ok {
		return list, nil
	}
	return append(append([]any{}, list[:i]...), list[i+1:]...), nil
}

// position reads an index; negative ones count from the end.
func position(list []any, text string) (int, bool) {
	i, err := strconv.Atoi(text)
	if i < 0 {
		i += len(list)
	}
	return i, err == nil && i >= 0 && i < len(list)
}

func steps(arg driver.Value) ([]string, error) {
	var path []string
	err := json.Unmarshal([]byte(textOf(arg)), &path)
	return path, err
}

func deletePath(v any, arg driver.Value) (any, error) {
	path, err := steps(arg)
	if err != nil || len(path) == 0 {
		return v, err
	}
	switch v.(type) {
	case map[string]any, []any:
		return withoutPath(v, path, 1)
	}
	return nil, errors.New("22023: cannot delete path in scalar")
}

// withoutPath deletes what a path leads to; depth counts its steps from 1.
func withoutPath(v any, path []string, depth int) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		inner, ok := v[path[0]]
		if !ok {
			return v, nil
		}
		if len(path) == 1 {
			delete(v, path[0])
			return v, nil
		}
		changed, err := withoutPath(inner, path[1:], depth+1)
		v[path[0]] = changed
		return v, err
	case []any:
		return withoutElement(v, path, depth)
	}
	return v, nil
}

func withoutElement(list []any, path []string, depth int) (any, error) {
	if len(list) == 0 {
		return list, nil
	}
	if _, err := strconv.Atoi(path[0]); err != nil {
		return nil, fmt.Errorf("22P02: path element at position %d is not an integer: %q", depth, path[0])
	}
	i, ok := position(list, path[0])
	if !ok {
		return list, nil
	}
	if len(path) == 1 {
		return append(append([]any{}, list[:i]...), list[i+1:]...), nil
	}
	changed, err := withoutPath(list[i], path[1:], depth+1)
	list[i] = changed
	return list, err
}

// jsonPath follows a path; what is not there is null.
func jsonPath(v any, arg driver.Value) (any, error) {
	path, err := steps(arg)
	if err != nil {
		return nil, err
	}
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[step]
			if !ok {
				return absent, nil
			}
			v = next
		case []any:
			i, ok := position(at, step)
			if !ok {
				return absent, nil
			}
			v = at[i]
		default:
			return absent, nil
		}
	}
	return v, nil
}
