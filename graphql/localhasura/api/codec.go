package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hasura-storage/graphql/localhasura/qerr"
)

// success is the answer of commands that have nothing to tell.
var success = map[string]string{"message": "success"}

// decodeAt reads JSON; the path of an error starts at path.
func decodeAt(raw json.RawMessage, into any, path string) *qerr.Error {
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path += jsonPath(wrong.Field)
		return qerr.Newf(qerr.ParseFailed, "parsing %s failed, expected %s, but encountered %s",
			haskellType(wrong.Type.Kind().String()), haskellKind(wrong.Type.Kind().String()), strings.ToUpper(wrong.Value[:1])+wrong.Value[1:]).At(path)
	}
	return qerr.New(qerr.ParseFailed, err.Error()).At(path)
}

// jsonPath leaves out of Go's path what is no member of the JSON: embedded
// structs, whose names are no JSON keys here.
func jsonPath(field string) string {
	var path strings.Builder
	for step := range strings.SplitSeq(field, ".") {
		switch step {
		case "", "onTable", "Relationship", "EventTrigger", "TriggerOperations", "Permission":
		default:
			path.WriteString("." + step)
		}
	}
	return path.String()
}

// haskellType and haskellKind word Go's kinds as Hasura's parser would.
func haskellType(kind string) string {
	switch kind {
	case "string":
		return "Text"
	case "bool":
		return "Bool"
	case "int", "float64":
		return "Int"
	case "slice":
		return "[]"
	}
	return "Object"
}

func haskellKind(kind string) string {
	switch kind {
	case "string":
		return "String"
	case "bool":
		return "Boolean"
	case "int", "float64":
		return "Number"
	case "slice":
		return "Array"
	}
	return "Object"
}

// args reads the arguments of a command, which must have the keys.
func args(raw json.RawMessage, into any, keys ...string) *qerr.Error {
	var members map[string]json.RawMessage
	if err := decodeAt(raw, &members, "$.args"); err != nil {
		return err
	}
	for _, key := range keys {
		if _, ok := members[key]; !ok {
			return qerr.Newf(qerr.ParseFailed, "key %q not found", key).At("$.args")
		}
	}
	return decodeAt(raw, into, "$.args")
}

// failf is an error about the arguments as a whole.
func failf(code, format string, values ...any) *qerr.Error {
	return qerr.New(code, fmt.Sprintf(format, values...)).At("$.args")
}
