package metadata

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"hasura-storage/graphql/localhasura/qerr"
)

// Parse reads the JSON of replace_metadata. Version 2, which knows one
// database only, becomes version 3 with the source "default". The error is a
// *qerr.Error of code parse-failed.
func Parse(raw []byte) (*Metadata, error) {
	var old struct {
		Version   int               `json:"version"`
		Tables    []Table           `json:"tables"`
		Functions []json.RawMessage `json:"functions"`
	}
	if err := decode(raw, &old); err != nil {
		return nil, err
	}
	if old.Version != 2 && old.Version != 3 {
		return nil, qerr.Newf(qerr.ParseFailed, "unexpected metadata version: %d; expected 2 or 3", old.Version)
	}
	m := &Metadata{}
	if err := decode(raw, m); err != nil {
		return nil, err
	}
	if old.Version == 2 {
		m.Version = 3
		m.Sources = []Source{{Name: "default", Kind: "postgres", Tables: old.Tables, Functions: old.Functions}}
	}
	return m, nil
}

// decode reads JSON and words the error as a parse failure with the path of
// the member at fault.
func decode(raw []byte, into any) error {
	err := json.NewDecoder(bytes.NewReader(raw)).Decode(into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path := "$"
		if wrong.Field != "" {
			path += "." + wrong.Field
		}
		return qerr.Newf(qerr.ParseFailed, "expected %s, but encountered %s", wrong.Type, wrong.Value).At(path)
	}
	return qerr.New(qerr.ParseFailed, err.Error())
}

// Clone is a deep copy.
func (m *Metadata) Clone() (*Metadata, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	c := &Metadata{}
	return c, json.Unmarshal(raw, c)
}
